"""What a seat may see, built from allowed fields. The keys are the fields of AntiquityView, which explains them.

What lies open changes seldom, so its parts are kept by the values they are made of: equal positions share one list.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from hippodrome.engine.game import TABLE, View
from hippodrome.games.antiquity.components import CARD_NAMES, COLOURS, POWERS, SERIES, SYMBOL_WORDS, names
from hippodrome.games.antiquity.phases import OVER, PHASE_NAMES, TURN
from hippodrome.games.antiquity.scoring import score_sheet

if TYPE_CHECKING:
    from hippodrome.games.antiquity.state import AntiquityState

_SERIES: Final = len(SERIES)
_NOTHING: Final[list[dict[str, str]]] = []


_keep = lru_cache(maxsize=512)
"""For parts of a view: room for some hundred matches at once."""


def view(s: AntiquityState, seat: int) -> View:
    """The view of `seat`, or of the whole table. Hands, draws and the deck are hidden, everything else is public."""
    setting = s.setting
    seen: View = {
        "phase": PHASE_NAMES[s.phase],
        "actions": s.actions,
        "fresh": s.fresh,
        "bought": s.bought,
        "used_powers": _used_powers(s.used),
        "colours": _colours(setting.seat_of, tuple(s.points), tuple(s.historians), tuple(s.piles), s.built),
        "monuments": _monuments(setting.series, tuple(s.spaces), s.once, s.twice),
        "stories": _stories(tuple(s.stories)),
        "face_up": _cards(bytes(s.face_up)),
        "deck_count": s.size - s.drawn,
        "discards": _names(s.gone),
        "hands": [_hand(s, owner, seat in (owner, TABLE)) for owner in range(setting.players)],
        "power_cards": _power_cards(tuple(s.holders)) if setting.power else _NOTHING,
    }
    if seat != TABLE:
        seen["seat"] = seat
    else:
        seen["deck"] = [CARD_NAMES[card] for card in s.deck[s.drawn :]]
    if s.phase == OVER:
        seen["scores"] = _scores(s)
        return seen
    seen["to_move"] = s.to_move
    if s.phase != TURN:
        seen["pending"] = _pending(s)
    return seen


@_keep
def _colours(
    seat_of: Sequence[int], points: Sequence[int], historians: Sequence[int], piles: Sequence[bytes], built: int
) -> list[dict[str, Any]]:
    return [
        {
            "colour": COLOURS[colour],
            "seat": seat,
            "points": points[colour],
            "historians": historians[colour],
            "piles": _piles(piles[colour * _SERIES : (colour + 1) * _SERIES], built >> colour * _SERIES),
        }
        for colour, seat in enumerate(seat_of)
    ]


def _piles(piles: Sequence[bytes], built: int) -> list[dict[str, Any]]:
    return [
        {"monument": SERIES[m], "cards": [CARD_NAMES[card] for card in pile]} for m, pile in enumerate(piles) if built >> m & 1
    ]


@_keep
def _monuments(series: Sequence[int], spaces: Sequence[int], once: int, twice: int) -> list[dict[str, Any]]:
    return [{"monument": SERIES[m], "space": spaces[m], "available": 2 - (once >> m & 1) - (twice >> m & 1)} for m in series]


def public_stories(s: AntiquityState) -> list[dict[str, Any]]:
    """ruling 1.5.13: the cards of a story are set aside open."""
    return _stories(tuple(s.stories))


@_keep
def _stories(stories: Sequence[bytes]) -> list[dict[str, Any]]:
    return [{"colour": COLOURS[story[0]], "cards": [CARD_NAMES[card] for card in story[1:]]} for story in stories]


@_keep
def _cards(cards: bytes) -> list[str]:
    return [CARD_NAMES[card] for card in cards]


_names = _keep(names)


@_keep
def _used_powers(used: int) -> list[str]:
    return [name for i, name in enumerate(POWERS) if used >> i & 1]


def _hand(s: AntiquityState, owner: int, open_: bool) -> dict[str, Any]:
    hand = s.hands[owner]
    seen = {"seat": owner, "count": hand.bit_count(), "known": _names(s.known[owner])}
    if open_:
        seen["cards"] = _names(hand)
    return seen


@_keep
def _power_cards(holders: Sequence[int]) -> list[dict[str, str]]:
    return [
        {"card": name, "holder": COLOURS[holder] if holder >= 0 else ""} for name, holder in zip(POWERS, holders, strict=True)
    ]


def _pending(s: AntiquityState) -> dict[str, Any]:
    return {
        "colour": COLOURS[s.colour] if s.colour >= 0 else "",
        "monument": SERIES[s.monument] if s.monument >= 0 else "",
        "symbol": SYMBOL_WORDS[s.symbol] if s.symbol >= 0 else "",
        "need": s.need,
        "picked": [CARD_NAMES[card] for card in s.picked],
    }


def _scores(s: AntiquityState) -> list[dict[str, Any]]:
    return [
        {
            "colour": COLOURS[colour],
            "track": score.track,
            "monuments": score.monuments,
            "stories": score.stories,
            "bonus": score.bonus,
            "unused": score.unused,
            "powers": score.powers,
            "total": score.total,
        }
        for colour, score in enumerate(score_sheet(s))
    ]
