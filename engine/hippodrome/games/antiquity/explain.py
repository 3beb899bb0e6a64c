"""Why a move is not legal now: section and reason, from what the seat to move may see."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from hippodrome.engine.game import TABLE
from hippodrome.games.antiquity import moves
from hippodrome.games.antiquity.actions import serves
from hippodrome.games.antiquity.components import (
    BOX,
    CARD_BIT,
    CARD_NAMES,
    COLOURS,
    OTHERS,
    PLACE_SHIFT,
    POWER_SYMBOL,
    POWERS,
    SERIES,
    SYMBOL_OF,
    SYMBOL_WORDS,
)
from hippodrome.games.antiquity.moves import AntiquityMove
from hippodrome.games.antiquity.phases import (
    BUILDING,
    BUYING,
    BUYING_SECOND,
    GIVING,
    IMPROVING,
    REORDERING,
    SCORING,
    SCORING_SECOND,
    SWAPPING,
)
from hippodrome.games.antiquity.power import majority

if TYPE_CHECKING:
    from hippodrome.games.antiquity.state import AntiquityState

Reason = tuple[str, str]


def reason(s: AntiquityState, m: AntiquityMove) -> Reason:
    """Section and reason for a move that is not legal now."""
    if s.to_move == TABLE:
        return "§End", "the game is over"
    if s.phase in _OPEN:
        kinds, section, wanted = _OPEN[s.phase]
        if m.kind not in kinds:
            return section, f"first {wanted}"
    elif m.kind in _LATER:
        return _LATER[m.kind]
    return _WHY[m.kind](s, m)


_LAYING: Final = (moves.ADD, moves.DONE, moves.REORDER)
_OPEN: Final[dict[int, tuple[tuple[int, ...], str, str]]] = {
    BUILDING: (_LAYING, "§1b", "finish the pile that is being built: add or done"),
    IMPROVING: (_LAYING, "§1c", "finish the pile that is being improved: add or done"),
    REORDERING: ((moves.PLACE,), "§Power", "place every card of the pile"),
    SCORING: ((moves.DISCARD,), "§1d", "discard the two cards that score"),
    SCORING_SECOND: ((moves.DISCARD,), "§1d", "discard the second card that scores"),
    BUYING: ((moves.DISCARD,), "§1", "discard the two cards that pay for the action"),
    BUYING_SECOND: ((moves.DISCARD,), "§1", "discard the second card that pays for the action"),
    GIVING: ((moves.GIVE,), "§Power", "give the card for the exchange"),
    SWAPPING: ((moves.TAKE,), "§Power", "take the card of the exchange"),
}
"""Phase of an unfinished choice -> kinds of move that go on with it, section, what to do."""

_LATER: Final[dict[int, Reason]] = {
    moves.ADD: ("§1b", "no pile is being built or improved"),
    moves.DONE: ("§1b", "no pile is being built or improved"),
    moves.DISCARD: ("§1d", "nothing is being scored or bought"),
    moves.GIVE: ("§Power", "no exchange has been begun with swap"),
    moves.REORDER: ("§Power", "the scribe works only while a monument is being improved"),
    moves.PLACE: ("§Power", "no pile is being put into a new order"),
}
"""Kinds of move that belong to an unfinished choice, while there is none."""


def _no_action(s: AntiquityState) -> Reason | None:
    return ("§1", "no action is left in this turn") if s.actions == 0 else None


def _wrong_side(s: AntiquityState, m: AntiquityMove) -> Reason | None:
    if serves(s, m) >= 0:
        return None
    if s.setting.players == 2:
        own = " or ".join(COLOURS[colour] for _, colour in s.setting.sides[s.to_move])
        return "§Two-player", f"the move has to name the colour that it serves: {own}"
    return "§Two-player", "a colour is named in the game for two players only"


def _not_in_hand(s: AntiquityState, m: AntiquityMove) -> Reason | None:
    return None if s.hands[s.to_move] & CARD_BIT[m.card] else ("§1", f"{CARD_NAMES[m.card]} is not in the hand")


def _story(s: AntiquityState, m: AntiquityMove) -> Reason:
    if wrong := _wrong_side(s, m):
        return wrong
    colour = serves(s, m)
    if not s.fresh:
        return "§2", "a story is the whole turn, and this turn has begun as a Monument turn"
    if s.historians[colour] == 0:
        return "§2", "no historian is left"
    assert s.tall & OTHERS[colour] == 0
    return "§2", "no other display has a monument of two or more cards"


def _draw(s: AntiquityState, m: AntiquityMove) -> Reason:
    return _no_action(s) or ("ruling 1.5.3", "the deck is empty")


def _take(s: AntiquityState, m: AntiquityMove) -> Reason:
    gone = ("§1a", f"{CARD_NAMES[m.card]} does not lie face up")
    return (_no_action(s) if s.phase != SWAPPING else None) or gone


def _build(s: AntiquityState, m: AntiquityMove) -> Reason:
    return _no_action(s) or _wrong_side(s, m) or _not_buildable(s, m.monument, serves(s, m))


def _not_buildable(s: AntiquityState, monument: int, colour: int) -> Reason:
    bit, name = 1 << monument, SERIES[monument]
    if s.built >> PLACE_SHIFT[colour] & bit:
        return "§1b", f"{name} is built in this display already; improve it"
    if s.twice & bit:
        return "ruling 1.5.23", f"{name} has been built by two others"
    if s.once & bit:
        return "§1b", f"the second builder of {name} needs {BOX.min_second} of its cards in the hand"
    return "§1b", f"the first builder of {name} needs {BOX.min_first} of its cards in the hand"


def _improve(s: AntiquityState, m: AntiquityMove) -> Reason:
    early = _no_action(s) or _wrong_side(s, m)
    if early:
        return early
    if not s.built >> PLACE_SHIFT[serves(s, m)] >> m.monument & 1:
        return "§1c", f"{SERIES[m.monument]} is not built in this display"
    return "§1c", f"no card of {SERIES[m.monument]} is in the hand"


def _section(s: AntiquityState) -> str:
    """The section of the unfinished choice."""
    return _OPEN[s.phase][1]


def _add(s: AntiquityState, m: AntiquityMove) -> Reason:
    if m.monument != s.monument:
        return _section(s), f"only cards of {SERIES[s.monument]} belong on this pile"
    return _not_in_hand(s, m) or (_section(s), "it cannot be added")


def _done(s: AntiquityState, m: AntiquityMove) -> Reason:
    return _section(s), f"at least {s.need} more of its cards must be added"


def _pair(section: str, m: AntiquityMove) -> Reason:
    return section, f"two cards with a {SYMBOL_WORDS[m.symbol]} are needed in the hand"


def _score(s: AntiquityState, m: AntiquityMove) -> Reason:
    return _no_action(s) or _wrong_side(s, m) or _pair("§1d", m)


def _buy(s: AntiquityState, m: AntiquityMove) -> Reason:
    return ("ruling 1.5.2", "one action a turn can be bought, and it has been") if s.bought else _pair("§1", m)


def _discard(s: AntiquityState, m: AntiquityMove) -> Reason:
    if missing := _not_in_hand(s, m):
        return missing
    if SYMBOL_OF[m.card] != s.symbol:
        return _section(s), f"{CARD_NAMES[m.card]} does not show a {SYMBOL_WORDS[s.symbol]}"
    if s.phase in (SCORING, BUYING):
        return _section(s), "of the two cards the lower one in the order of cards is named first; no higher one is in the hand"
    return _section(s), f"the second card comes after {CARD_NAMES[s.picked[0]]} in the order of cards"


def _end(s: AntiquityState, m: AntiquityMove) -> Reason:
    return "ruling 1.5.1", "actions are compulsory while one is legal"


def _acquire(s: AntiquityState, m: AntiquityMove) -> Reason:
    if not s.setting.power:
        return "§Power", "the game is played without power cards"
    early = _no_action(s) or _wrong_side(s, m)
    if early:
        return early
    if s.holders[m.power] == serves(s, m):
        return "ruling 1.5.18", f"the {POWERS[m.power]} is held already"
    symbol = POWER_SYMBOL[m.power]
    assert majority(s, symbol) != serves(s, m)
    return "ruling 1.5.17", f"this display has not more cards with a {SYMBOL_WORDS[symbol]} than every other"


def _unusable(s: AntiquityState, power: int) -> Reason | None:
    holder = s.holders[power]
    if not s.setting.power:
        return "§Power", "the game is played without power cards"
    if holder < 0 or s.setting.seat_of[holder] != s.to_move:
        return "§Power", f"the {POWERS[power]} is not held by this seat"
    return ("ruling 1.5.19", f"the {POWERS[power]} has been used in this turn") if s.used >> power & 1 else None


def _swap(s: AntiquityState, m: AntiquityMove) -> Reason:
    return _unusable(s, 0) or ("§Power", "an exchange needs a card in the hand and one lying face up")


def _hero(s: AntiquityState, m: AntiquityMove) -> Reason:
    if early := _unusable(s, 2):
        return early
    if s.points[s.holders[2]] < 1:
        return "ruling 1.5.20", "the hero is paid with a VP, and the holder has none"
    if m.kind == moves.HERO_DRAW:
        return "ruling 1.5.3", "the deck is empty"
    return "§1a", f"{CARD_NAMES[m.card]} does not lie face up"


def _reorder(s: AntiquityState, m: AntiquityMove) -> Reason:
    if s.phase == BUILDING:
        return "ruling 1.5.21", "the scribe works only while a monument is being improved"
    if s.need:
        return "ruling 1.5.21", "at least one card must be added first"
    if s.holders[1] != s.colour:
        return "ruling 1.5.21", "the colour that improves does not hold the scribe"
    return "ruling 1.5.19", "the scribe has been used in this turn"


def _place(s: AntiquityState, m: AntiquityMove) -> Reason:
    if m.card in s.picked:
        return "ruling 1.5.21", f"{CARD_NAMES[m.card]} has its place already"
    return "ruling 1.5.21", f"{CARD_NAMES[m.card]} is not a card of this pile"


def _give(s: AntiquityState, m: AntiquityMove) -> Reason:
    return "§Power", f"{CARD_NAMES[m.card]} is not in the hand"


_WHY: Final[dict[int, Callable[[AntiquityState, AntiquityMove], Reason]]] = {
    moves.STORY: _story,
    moves.DRAW: _draw,
    moves.TAKE: _take,
    moves.BUILD: _build,
    moves.IMPROVE: _improve,
    moves.ADD: _add,
    moves.DONE: _done,
    moves.SCORE: _score,
    moves.DISCARD: _discard,
    moves.BUY: _buy,
    moves.END: _end,
    moves.ACQUIRE: _acquire,
    moves.SWAP: _swap,
    moves.GIVE: _give,
    moves.HERO_DRAW: _hero,
    moves.HERO_TAKE: _hero,
    moves.REORDER: _reorder,
    moves.PLACE: _place,
}  # fmt: skip
"""Kind of move -> its reason, in a phase where such moves belong."""
