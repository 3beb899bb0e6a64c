"""From a view back to a position: what is seen stays, what is not seen is drawn evenly."""

from __future__ import annotations

from math import comb
from typing import Any, Final

from hippodrome.engine.chance import Chance, Stream
from hippodrome.engine.game import TABLE, Ruleset, View
from hippodrome.games.antiquity import power
from hippodrome.games.antiquity.components import (
    CARD_BIT,
    CARD_OF,
    COLOURS,
    POWERS,
    SERIES,
    SERIES_BITS,
    SHIFT,
    SYMBOL_CARDS,
    SYMBOL_OF,
    SYMBOL_WORDS,
    bits,
)
from hippodrome.games.antiquity.phases import (
    BUILDING,
    BUYING,
    BUYING_SECOND,
    IMPROVING,
    PHASE_NAMES,
    SCORING,
    SCORING_SECOND,
    SWAPPING,
    TURN,
)
from hippodrome.games.antiquity.state import AntiquityState
from hippodrome.games.antiquity.turn import goes_on

_WEIGHT: Final = 1 << 52


def sample(ruleset: Ruleset, view: View, chance: Chance) -> AntiquityState:
    """A position that agrees with `view`. Known cards stay in their hands; the unseen cards fill the other places of the
    hands and the deck, every arrangement in which the seat to move could still be choosing being as likely."""
    s = _seen(ruleset, view)
    if "seat" not in view:
        for seat, hand in enumerate(view["hands"]):
            _hold(s, seat, bits(hand["cards"]))
        s.deck = bytes(CARD_OF[name] for name in view["deck"])
    else:
        _draw_unseen(s, view, chance.stream("sample"))
    return s


def _seen(ruleset: Ruleset, view: View) -> AntiquityState:
    """Everything but hands and deck."""
    s = AntiquityState(ruleset)
    s.to_move = view.get("to_move", TABLE)
    s.phase = PHASE_NAMES.index(view["phase"])
    s.actions, s.fresh, s.bought = view["actions"], view["fresh"], view["bought"]
    s.used = sum(1 << POWERS.index(name) for name in view["used_powers"])
    for colour, seen in enumerate(view["colours"]):
        s.points[colour], s.historians[colour] = seen["points"], seen["historians"]
        for pile in seen["piles"]:
            _stand(s, colour, SERIES.index(pile["monument"]), bytes(CARD_OF[name] for name in pile["cards"]))
    for row in view["monuments"]:
        s.spaces[SERIES.index(row["monument"])] = row["space"]
    s.stories = [bytes([COLOURS.index(t["colour"]), *(CARD_OF[name] for name in t["cards"])]) for t in view["stories"]]
    s.face_up = [CARD_OF[name] for name in view["face_up"]]
    s.gone = bits(view["discards"])
    s.known = [bits(hand["known"]) for hand in view["hands"]]
    if view["power_cards"]:
        s.holders = [COLOURS.index(card["holder"]) if card["holder"] else -1 for card in view["power_cards"]]
    s.size = view["deck_count"]
    if "pending" in view:
        _resume(s, view["pending"])
    return s


def _stand(s: AntiquityState, colour: int, monument: int, pile: bytes) -> None:
    place, bit = colour * len(SERIES) + monument, 1 << monument
    s.piles[place] = pile
    s.built |= 1 << place
    s.tall |= (len(pile) > 1) << place
    s.twice |= s.once & bit
    s.once |= bit
    for card in pile:
        s.shown[SYMBOL_OF[card] * len(COLOURS) + colour] += 1


def _resume(s: AntiquityState, pending: dict[str, Any]) -> None:
    s.colour = COLOURS.index(pending["colour"]) if pending["colour"] else -1
    s.monument = SERIES.index(pending["monument"]) if pending["monument"] else -1
    s.symbol = SYMBOL_WORDS.index(pending["symbol"]) if pending["symbol"] else -1
    s.need = pending["need"]
    s.picked = bytes(CARD_OF[name] for name in pending["picked"])


def _hold(s: AntiquityState, seat: int, hand: int) -> None:
    s.hands[seat] = s.stock[seat] = 0
    while hand:
        low = hand & -hand
        hand ^= low
        s.gain(seat, low.bit_length() - 1)


def _draw_unseen(s: AntiquityState, view: View, stream: Stream) -> None:
    hands = [bits(hand["cards"]) if seat == view["seat"] else s.known[seat] for seat, hand in enumerate(view["hands"])]
    missing = [hand["count"] - held.bit_count() for hand, held in zip(view["hands"], hands, strict=True)]
    unseen = _unseen(s, hands)
    if s.to_move != TABLE and missing[s.to_move]:
        drawn = _draw_for_mover(s, hands[s.to_move], unseen, missing[s.to_move], stream)
        unseen = [card for card in unseen if not drawn & CARD_BIT[card]]
        hands[s.to_move], missing[s.to_move] = hands[s.to_move] | drawn, 0
    stream.shuffle(unseen)
    for seat, count in enumerate(missing):
        _hold(s, seat, hands[seat] | sum(CARD_BIT[unseen.pop()] for _ in range(count)))
    s.deck = bytes(unseen)


def _unseen(s: AntiquityState, hands: list[int]) -> list[int]:
    seen = s.gone
    for held in hands:
        seen |= held
    given = s.picked if s.phase == SWAPPING else b""
    for cards in (s.face_up, given, *s.piles, *(story[1:] for story in s.stories)):
        for card in cards:
            seen |= CARD_BIT[card]
    return [card for card in s.setting.cards if not seen & CARD_BIT[card]]


def _draw_for_mover(s: AntiquityState, held: int, unseen: list[int], count: int, stream: Stream) -> int:
    """Cards for the hand of the seat to move, evenly among those with which it still has a choice.

    In an unfinished choice it must hold some cards of one kind. In the choice of an action a move must be possible; only
    hands of fewer than four cards can fail there (four cards hold a pair), so drawing again until one is takes few tries.
    """
    least, wanted = _required(s, held)
    while True:
        drawn = _with_at_least(unseen, count, least, wanted, stream)
        _hold(s, s.to_move, held | drawn)
        if s.phase != TURN or goes_on(s):
            return drawn


def _required(s: AntiquityState, held: int) -> tuple[int, int]:
    """How many cards of which set the seat to move must hold beyond `held` in its unfinished choice."""
    if s.phase in (BUILDING, IMPROVING):
        free = s.phase == IMPROVING and power.may_reorder(s)
        least, wanted = s.need or (0 if free else 1), SERIES_BITS << SHIFT[s.monument]
    elif s.phase in (SCORING, BUYING):
        least, wanted = 2, SYMBOL_CARDS[s.symbol]
    elif s.phase in (SCORING_SECOND, BUYING_SECOND):
        least, wanted = 1, SYMBOL_CARDS[s.symbol] & -CARD_BIT[s.picked[0]]
    else:
        return 0, 0
    return max(0, least - (held & wanted).bit_count()), wanted


def _with_at_least(unseen: list[int], count: int, least: int, wanted: int, stream: Stream) -> int:
    """`count` of the `unseen` cards, evenly among the choices with at least `least` cards of the set `wanted`."""
    inside = [card for card in unseen if wanted & CARD_BIT[card]]
    outside = [card for card in unseen if not wanted & CARD_BIT[card]]
    part = _split(len(inside), len(outside), count, least, stream) if inside else 0
    return _some(inside, part, stream) | _some(outside, count - part, stream)


def _split(inside: int, outside: int, count: int, least: int, stream: Stream) -> int:
    """How many of `count` cards come from `inside`, each number as likely as its share of the choices (to 1 in 2**52)."""
    ways = [comb(inside, n) * comb(outside, count - n) if n >= least else 0 for n in range(min(inside, count) + 1)]
    total = sum(ways)
    ticket = stream.below(_WEIGHT) * total // _WEIGHT
    for n, share in enumerate(ways):
        ticket -= share
        if ticket < 0:
            return n
    raise AssertionError("the shares add up to the total")


def _some(cards: list[int], count: int, stream: Stream) -> int:
    """A random set of `count` of the cards; brings `cards` into another order."""
    stream.shuffle(cards)
    return sum(CARD_BIT[card] for card in cards[:count])
