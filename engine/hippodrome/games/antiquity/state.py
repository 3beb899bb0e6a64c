"""The position: one mutable class, its copy written out by hand, and what stays the same during a match (`Setting`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Final

from hippodrome.engine.game import Game, Move, Outcome, Ruleset, State, View
from hippodrome.games.antiquity import explain, rules, scoring, view
from hippodrome.games.antiquity.components import (
    BOX,
    CARD_BIT,
    CARDS,
    COLOURS,
    MONUMENT_OF,
    SERIES,
    SERIES_BITS,
    SHIFT,
    STOCK,
)
from hippodrome.games.antiquity.datafile import VALUES
from hippodrome.games.antiquity.moves import OWN, AntiquityMove
from hippodrome.games.antiquity.phases import OVER, TURN

_PLACES: Final = len(COLOURS) * len(SERIES)
_PILE_END: Final = b"\xff"
_DIGIT_ONE: Final = ord("1")
_PASSIVE: Final = {"end": 0, "done": 1, "draw": 2}
_TAKING, _REST = 3, 4


@dataclass(frozen=True, slots=True)
class Setting:
    """What a ruleset fixes. `sides[seat]` pairs the `side` of that seat's moves with the colour they serve."""

    ruleset: Ruleset
    text: str
    players: int
    power: bool
    variant: bool
    colours: int
    seat_of: tuple[int, ...]
    sides: tuple[tuple[tuple[int, int], ...], ...]
    historians: int
    series: tuple[int, ...]
    cards: tuple[int, ...]


@cache
def setting_of(ruleset: Ruleset) -> Setting:
    """§Setup, §Two-player, ruling 1.5.5, ruling 1.5.8: the cards, colours and historians in play for `ruleset`."""
    players = ruleset.players
    unused = SERIES.index(str(ruleset["unused"])) if players == 2 else -1
    cards = tuple(c for c in CARDS if MONUMENT_OF[c] != unused and not (players == 3 and _marked(c)))
    seat_of = (0, 0, 1, 1) if players == 2 else tuple(range(players))
    sides = (((0, 0), (1, 1)), ((2, 2), (3, 3))) if players == 2 else tuple(((OWN, c),) for c in range(players))
    return Setting(
        ruleset, str(ruleset), players, bool(ruleset["power"]), bool(ruleset["power_variant"]), len(seat_of), seat_of, sides,
        BOX.historians[players], tuple(sorted({MONUMENT_OF[c] for c in cards})), cards,
    )  # fmt: skip


def _marked(card: int) -> bool:
    """Whether the card shows the crossed-out III."""
    return card % VALUES + 1 in BOX.monuments[MONUMENT_OF[card]].removed


class AntiquityState(State):
    """A position. Lists by seat, colour, monument or place (see `components`); sets are bit sets.

    `hands`, `known`: cards by seat; `known` are those taken face up, which everybody remembers. `stock`: by seat, see
    `components.STOCK`. `deck`: all cards that lay in the deck, top first, of which the first `drawn` of `size` are gone.
    `piles`: by place, cards from the bottom up. `shown`: cards on display at symbol * 4 + colour. `built`, `tall`: places
    with a pile, with a pile of two or more; `once`, `twice`: series with a builder, with two. `spaces`: marker by monument.
    `stories`: colour and cards, oldest first. `gone`: removed cards. `holders`: colour by power card, -1 for the bank.
    `used`: power cards used in this turn. The unfinished choice: `colour`, `monument`, `symbol` (-1 for none), `need`
    cards to be added yet, `picked` cards so far.
    """

    __slots__ = (
        "actions", "bought", "built", "colour", "deck", "drawn", "face_up", "fresh", "gone", "hands", "historians",
        "holders", "known", "monument", "need", "once", "phase", "picked", "piles", "points", "ruleset", "setting",
        "shown", "size", "spaces", "stock", "stories", "symbol", "tall", "to_move", "twice", "used",
    )  # fmt: skip
    game: ClassVar[Game]

    def __init__(self, ruleset: Ruleset) -> None:
        """§Setup: markers on the leftmost space, counters on 0. The cards are not dealt yet; seat 0 to move."""
        setting = setting_of(ruleset)
        self.ruleset, self.setting = ruleset, setting
        self.to_move, self.phase, self.actions = 0, TURN, BOX.actions
        self.fresh, self.bought, self.used = True, False, 0
        self.hands, self.known, self.stock = [0] * setting.players, [0] * setting.players, [0] * setting.players
        self.deck, self.drawn, self.size = b"", 0, 0
        self.face_up: list[int] = []
        self.piles = [b""] * _PLACES
        self.shown = [0] * 12
        self.built = self.tall = self.once = self.twice = 0
        self.spaces = [BOX.start_space] * len(SERIES)
        self.points = [BOX.start_points] * setting.colours
        self.historians = [setting.historians] * setting.colours
        self.stories: list[bytes] = []
        self.gone = 0
        self.holders = [-1] * 3
        self.colour = self.monument = self.symbol = -1
        self.need, self.picked = 0, b""

    def gain(self, seat: int, card: int) -> None:
        """Put `card` into the hand of `seat`."""
        hand = self.hands[seat] = self.hands[seat] | CARD_BIT[card]
        monument = MONUMENT_OF[card]
        self.stock[seat] |= STOCK[monument][(hand >> SHIFT[monument] & SERIES_BITS).bit_count()]

    def lose(self, seat: int, card: int) -> None:
        """Take `card` out of the hand of `seat`."""
        bit = CARD_BIT[card]
        hand = self.hands[seat] = self.hands[seat] ^ bit
        self.known[seat] &= ~bit
        monument = MONUMENT_OF[card]
        left = (hand >> SHIFT[monument] & SERIES_BITS).bit_count()
        self.stock[seat] ^= STOCK[monument][left + 1] ^ STOCK[monument][left]

    def legal_moves(self) -> list[Move]:
        return rules.OFFERS[self.phase](self)

    def is_legal(self, move: Move) -> bool:
        assert isinstance(move, AntiquityMove)
        return rules.LEGAL[self.phase][move.kind](self, move)

    def explain(self, move: Move) -> tuple[str, str]:
        assert isinstance(move, AntiquityMove)
        return explain.reason(self, move)

    def apply(self, move: Move) -> None:
        for step in rules.STEPS[self.phase][move.kind]:  # type: ignore[attr-defined]
            step(self, move)  # type: ignore[arg-type]

    def outcome(self) -> Outcome | None:
        return scoring.outcome(self) if self.phase == OVER else None

    def view(self, seat: int) -> View:
        return view.view(self, seat)

    def copy(self) -> AntiquityState:
        twin = object.__new__(type(self))
        twin.ruleset, twin.setting = self.ruleset, self.setting
        twin.to_move, twin.phase, twin.actions = self.to_move, self.phase, self.actions
        twin.fresh, twin.bought, twin.used = self.fresh, self.bought, self.used
        twin.hands, twin.known, twin.stock = self.hands[:], self.known[:], self.stock[:]
        twin.deck, twin.drawn, twin.size = self.deck, self.drawn, self.size
        twin.face_up, twin.piles, twin.shown = self.face_up[:], self.piles[:], self.shown[:]
        twin.built, twin.tall, twin.once, twin.twice = self.built, self.tall, self.once, self.twice
        twin.spaces, twin.points, twin.historians = self.spaces[:], self.points[:], self.historians[:]
        twin.stories, twin.gone, twin.holders = self.stories[:], self.gone, self.holders[:]
        twin.colour, twin.monument, twin.symbol = self.colour, self.monument, self.symbol
        twin.need, twin.picked = self.need, self.picked
        return twin

    def key(self) -> str:
        """Fields separated by `/`: hexadecimal cards (108 = 0x6c and above never occur; ff separates), lists by `,`."""
        hands = ",".join([f"{hand:x}.{known:x}" for hand, known in zip(self.hands, self.known, strict=True)])
        lists = bytes([*self.spaces, *self.historians]).hex()
        holders = bytes([holder + _DIGIT_ONE for holder in self.holders]).decode()
        points = ",".join(map(str, self.points))
        return (
            f"{self.setting.text}/{self.phase}.{self.to_move}.{self.actions}.{+self.fresh}{+self.bought}.{self.used}/"
            f"{self.colour}.{self.monument}.{self.symbol}.{self.need}.{self.picked.hex()}/{hands}/"
            f"{self.deck[self.drawn :].hex()}/{bytes(self.face_up).hex()}/{_PILE_END.join(self.piles).hex()}/"
            f"{self.built:x}/{lists}/{points}/{_PILE_END.join(self.stories).hex()}/{self.gone:x}/{holders}"
        )

    def neutral_move(self) -> Move:
        """`end` or `done` where legal; else draw from the deck; else the first card to take; else the first legal move.

        A seat that plays so collects cards, shows nothing and ends its turns.
        """
        moves = self.legal_moves()
        return min(moves, key=lambda move: _PASSIVE.get(move.text, _TAKING if move.text.startswith("take ") else _REST))
