"""Every move of the game, built once. `MOVES` maps the text of a move to it; the other tables select from those objects.

With two players a move that serves a colour names it (`build petra red`); with more the colour is the seat's own and no
word is written. `side` holds the named colour, or OWN.
"""

from __future__ import annotations

import difflib
from typing import Final

from hippodrome.engine.errors import InvalidMove
from hippodrome.engine.game import Move
from hippodrome.games.antiquity.components import CARD_NAMES, CARDS, COLOURS, MONUMENT_OF, POWERS, SERIES, SYMBOL_WORDS
from hippodrome.games.antiquity.datafile import VALUES

STORY, DRAW, TAKE, BUILD, IMPROVE, ADD, DONE, SCORE, DISCARD, BUY, END = range(11)
ACQUIRE, SWAP, GIVE, HERO_DRAW, HERO_TAKE, REORDER, PLACE = range(11, 18)
KINDS: Final = range(18)
OWN: Final = 4
SIDES: Final = range(5)


class AntiquityMove(Move):
    """A move: its kind and what it names; a field that means nothing for the kind is -1, `side` is OWN."""

    __slots__ = ("card", "kind", "monument", "power", "side", "symbol")

    def __init__(
        self, text: str, kind: int, *, side: int = OWN, card: int = -1, monument: int = -1, symbol: int = -1, power: int = -1
    ) -> None:
        super().__init__(text)
        self.kind, self.side, self.card, self.monument = kind, side, card, monument
        self.symbol, self.power = symbol, power


Moves = tuple[AntiquityMove, ...]


class Chosen(dict[int, Moves]):
    """By bit set: those of `moves` whose bit is in the set. Each tuple is made when first asked for and kept (there are
    at most 2 ** len(moves))."""

    def __init__(self, moves: Moves) -> None:
        super().__init__()
        self._moves = moves

    def __missing__(self, chosen: int) -> Moves:
        found = self[chosen] = tuple(move for i, move in enumerate(self._moves) if chosen >> i & 1)
        return found


def _sided(verb: str, side: int) -> str:
    return verb if side == OWN else f"{verb} {COLOURS[side]}"


def _of_cards(verb: str, kind: int) -> Moves:
    return tuple(AntiquityMove(f"{verb} {CARD_NAMES[c]}", kind, card=c, monument=MONUMENT_OF[c]) for c in CARDS)


def _of_series(verb: str, kind: int) -> tuple[Moves, ...]:
    return tuple(
        tuple(AntiquityMove(_sided(f"{verb} {name}", side), kind, side=side, monument=m) for m, name in enumerate(SERIES))
        for side in SIDES
    )


STORY_MOVE: Final = tuple(AntiquityMove(_sided("story", side), STORY, side=side) for side in SIDES)
DRAW_MOVE: Final = AntiquityMove("draw", DRAW)
TAKE_MOVE: Final = _of_cards("take", TAKE)
BUILD_MOVE: Final = _of_series("build", BUILD)
IMPROVE_MOVE: Final = _of_series("improve", IMPROVE)
ADD_MOVE: Final = _of_cards("add", ADD)
DONE_MOVE: Final = AntiquityMove("done", DONE)
SCORE_MOVE: Final = tuple(
    tuple(AntiquityMove(_sided(f"score {word}", side), SCORE, side=side, symbol=i) for i, word in enumerate(SYMBOL_WORDS))
    for side in SIDES
)
DISCARD_MOVE: Final = _of_cards("discard", DISCARD)
BUY_MOVE: Final = tuple(AntiquityMove(f"buy {word}", BUY, symbol=i) for i, word in enumerate(SYMBOL_WORDS))
END_MOVE: Final = AntiquityMove("end", END)
ACQUIRE_MOVE: Final = tuple(
    tuple(AntiquityMove(_sided(f"acquire {name}", side), ACQUIRE, side=side, power=i) for i, name in enumerate(POWERS))
    for side in SIDES
)
SWAP_MOVE: Final = AntiquityMove("swap", SWAP)
GIVE_MOVE: Final = _of_cards("give", GIVE)
HERO_DRAW_MOVE: Final = AntiquityMove("hero draw", HERO_DRAW)
HERO_TAKE_MOVE: Final = _of_cards("hero take", HERO_TAKE)
REORDER_MOVE: Final = AntiquityMove("reorder", REORDER)
PLACE_MOVE: Final = _of_cards("place", PLACE)

ALL_MOVES: Final[Moves] = (
    *STORY_MOVE,
    DRAW_MOVE,
    *TAKE_MOVE,
    *(move for table in (BUILD_MOVE, IMPROVE_MOVE) for row in table for move in row),
    *ADD_MOVE,
    DONE_MOVE,
    *(move for row in SCORE_MOVE for move in row),
    *DISCARD_MOVE,
    *BUY_MOVE,
    END_MOVE,
    *(move for row in ACQUIRE_MOVE for move in row),
    SWAP_MOVE,
    *GIVE_MOVE,
    HERO_DRAW_MOVE,
    *HERO_TAKE_MOVE,
    REORDER_MOVE,
    *PLACE_MOVE,
)
MOVES: Final = {move.text: move for move in ALL_MOVES}
"""Text -> move, all of them."""

BUILDS: Final = tuple(map(Chosen, BUILD_MOVE))
IMPROVES: Final = tuple(map(Chosen, IMPROVE_MOVE))
SCORES: Final = tuple(map(Chosen, SCORE_MOVE))
BUYS: Final = Chosen(BUY_MOVE)
ADDS: Final = tuple(Chosen(ADD_MOVE[i : i + VALUES]) for i in range(0, len(ADD_MOVE), VALUES))
"""By monument and set of its nine cards (the lowest bit is its 1)."""

FORMS: Final = (
    "story, draw, take CARD, build MONUMENT, improve MONUMENT, add CARD, done, score SYMBOL, buy SYMBOL, discard CARD, end, "
    "acquire POWER, swap, give CARD, hero draw, hero take CARD, reorder, place CARD; with two players story, build, improve, "
    "score and acquire end in the colour"
)


def parse(text: str) -> AntiquityMove:
    """The move called `text`. Raises InvalidMove with the nearest move, or the forms of the notation."""
    move = MOVES.get(text)
    if move is None:
        near = difflib.get_close_matches(text[:80], MOVES, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise InvalidMove(text, f"is no move of antiquity; fix: {hint}use one of the forms {FORMS}")
    return move


def moves_of(table: Moves, cards: int) -> list[Move]:
    """The moves of `table` (by card) for a set of cards, in the order of cards."""
    found: list[Move] = []
    while cards:
        low = cards & -cards
        found.append(table[low.bit_length() - 1])
        cards ^= low
    return found
