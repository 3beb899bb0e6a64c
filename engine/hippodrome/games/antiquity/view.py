"""What a seat may see, built from allowed fields. The keys are the fields of AntiquityView, which explains them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hippodrome.engine.game import TABLE, View
from hippodrome.games.antiquity.components import CARD_NAMES, COLOURS, POWERS, SERIES, SYMBOL_WORDS, names
from hippodrome.games.antiquity.phases import OVER, PHASE_NAMES, TURN
from hippodrome.games.antiquity.scoring import score_sheet

if TYPE_CHECKING:
    from hippodrome.games.antiquity.state import AntiquityState

_SERIES: Final = len(SERIES)


def view(s: AntiquityState, seat: int) -> View:
    """The view of `seat`, or of the whole table. Hands, draws and the deck are hidden, everything else is public."""
    seen: View = {
        "phase": PHASE_NAMES[s.phase],
        "actions": s.actions,
        "fresh": s.fresh,
        "bought": s.bought,
        "used_powers": [name for i, name in enumerate(POWERS) if s.used >> i & 1],
        "colours": [_colour(s, colour) for colour in range(s.setting.colours)],
        "monuments": _monuments(s),
        "stories": public_stories(s),
        "face_up": [CARD_NAMES[card] for card in s.face_up],
        "deck_count": s.size - s.drawn,
        "discards": names(s.gone),
        "hands": [_hand(s, owner, seat in (owner, TABLE)) for owner in range(s.setting.players)],
        "power_cards": _power_cards(s) if s.setting.power else [],
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


def _colour(s: AntiquityState, colour: int) -> dict[str, Any]:
    piles = []
    built = s.built >> colour * _SERIES & (1 << _SERIES) - 1
    while built:
        low = built & -built
        built ^= low
        monument = low.bit_length() - 1
        cards = [CARD_NAMES[card] for card in s.piles[colour * _SERIES + monument]]
        piles.append({"monument": SERIES[monument], "cards": cards})
    return {
        "colour": COLOURS[colour],
        "seat": s.setting.seat_of[colour],
        "points": s.points[colour],
        "historians": s.historians[colour],
        "piles": piles,
    }


def _monuments(s: AntiquityState) -> list[dict[str, Any]]:
    once, twice, spaces = s.once, s.twice, s.spaces
    return [
        {"monument": SERIES[m], "space": spaces[m], "available": 2 - (once >> m & 1) - (twice >> m & 1)}
        for m in s.setting.series
    ]


def public_stories(s: AntiquityState) -> list[dict[str, Any]]:
    """ruling 1.5.13: the cards of a story are set aside open."""
    return [{"colour": COLOURS[story[0]], "cards": [CARD_NAMES[card] for card in story[1:]]} for story in s.stories]


def _hand(s: AntiquityState, owner: int, open_: bool) -> dict[str, Any]:
    hand = s.hands[owner]
    seen = {"seat": owner, "count": hand.bit_count(), "known": names(s.known[owner])}
    if open_:
        seen["cards"] = names(hand)
    return seen


def _power_cards(s: AntiquityState) -> list[dict[str, str]]:
    return [
        {"card": name, "holder": COLOURS[holder] if holder >= 0 else ""} for name, holder in zip(POWERS, s.holders, strict=True)
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
