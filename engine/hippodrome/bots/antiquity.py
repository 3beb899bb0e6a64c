"""What a position of antiquity is worth to a seat, for `greedy`. Numbers are victory points, tuned by play.

Only public knowledge and the seat's own hand count: the hands of others and the deck do not change the worth.
"""

from __future__ import annotations

import math
from typing import Final

from hippodrome.engine.game import State
from hippodrome.games.antiquity import AntiquityState
from hippodrome.games.antiquity.components import BOX, SERIES, SERIES_BITS, SHIFT, SYMBOL_CARDS
from hippodrome.games.antiquity.phases import OVER, TURN
from hippodrome.games.antiquity.scoring import builders, power_points, story_bonus, story_points

_COLOUR_BITS: Final = (1 << len(SERIES)) - 1
_RIVALS: Final = 0.6
"""How much the best other seat's points weigh against the seat's own."""
_LOWER: Final = 0.8
"""With two colours the lower one decides; the share of the higher one is what it lends to later turns."""
_ACTION: Final = 0.9
_HELD_FIRST: Final = (0.0, 0.5, 2.2, 2.8, 3.2, 3.5, 3.7, 3.9, 4.0, 4.1)
_HELD_SECOND: Final = (0.0, 0.2, 0.7, 1.8, 2.2, 2.5, 2.7, 2.9, 3.0, 3.1)
_HELD_OWN: Final = (0.0, 0.9, 1.6, 2.2, 2.7, 3.1, 3.4, 3.6, 3.7, 3.8)
_HELD_DEAD: Final = 0.05
"""Worth of n cards of a series in hand: of one nobody has built, one with a single builder, an own one, a closed one."""
_LAID: Final = 0.55
_GROWTH: Final = 1.6
"""Spaces that a marker may still move when the deck is full."""
_STORY_LATER: Final = 6.0
"""What a historian is worth at the start: the story it may write later."""
_PAIR: Final = 0.3


def worth(state: State, seat: int) -> float:
    """Points of `seat` ahead of its best rival, as they may stand at the end."""
    assert isinstance(state, AntiquityState)
    mine, rivals = _seats(state, seat)
    ahead = mine - _RIVALS * max(rivals)
    if state.phase == OVER or state.to_move != seat:
        return ahead + _hand(state, seat)
    return ahead + _hand(state, seat) + _ACTION * state.actions


def settled(state: State, seat: int) -> bool:
    """Whether no compound choice of `seat` is open."""
    assert isinstance(state, AntiquityState)
    return state.phase in (TURN, OVER) or state.to_move != seat


def _left(s: AntiquityState) -> float:
    """How much of the game is left, from 1 to 0, by the deck."""
    return 0.0 if s.phase == OVER else min(1.0, (s.size - s.drawn) / 80)


def _seats(s: AntiquityState, seat: int) -> tuple[float, list[float]]:
    """The standing of `seat` and those of the others."""
    colours = _colours(s)
    if s.setting.players == 2:
        pairs = [sorted(colours[c] for c in range(4) if s.setting.seat_of[c] == who) for who in (0, 1)]
        colours = [_LOWER * low + (1 - _LOWER) * high for low, high in pairs]
    return colours[seat], [points for who, points in enumerate(colours) if who != seat]


def _colours(s: AntiquityState) -> list[float]:
    """By colour: points scored, pages, monuments as they may grow, historians left."""
    left = _left(s)
    monuments, pages, bonus, share = _monuments(s, left), story_points(s), story_bonus(s), 1 - 0.6 * left
    return [
        s.points[c] + pages[c] + bonus[c] * share + power_points(s, c) + monuments[c] + _historians(s, c, left)
        for c in range(s.setting.colours)
    ]


def _monuments(s: AntiquityState, left: float) -> list[float]:
    """By colour: what the monuments will pay, the markers moved on, and the cards that lie there."""
    points = [0.0] * s.setting.colours
    for monument in s.setting.series:
        if not s.once >> monument & 1:
            continue
        ranked = builders(s, monument)
        step = min(len(BOX.sole), s.spaces[monument] + 1 + _GROWTH * left)
        alone = len(ranked) == 1
        shares = (3 * step * (1 - 0.3 * left),) if alone else (2 * step, step)
        for colour, share in zip(ranked, shares, strict=True):
            pile = s.piles[colour * len(SERIES) + monument]
            points[colour] += share + _LAID * left * len(pile) - 0.01 * (pile[-1] % 9 if pile else 0)
    return points


def _historians(s: AntiquityState, colour: int, left: float) -> float:
    """A historian left over: a story to come, and at last a penalty."""
    turns = (s.size - s.drawn) / (2.2 * s.setting.players)
    owner = s.setting.seat_of[colour]
    waiting = sum(n for c, n in enumerate(s.historians) if s.setting.seat_of[c] == owner)
    hurry = max(0.0, min(1.0, (waiting + 2.5 - turns) / 3)) if s.phase != OVER else 1.0
    return s.historians[colour] * ((1 - hurry) * _STORY_LATER * math.sqrt(left) + hurry * BOX.unused_historian)


def _hand(s: AntiquityState, seat: int) -> float:
    """The cards in hand: monuments to build or improve, pairs to score with."""
    left = _left(s)
    hand = s.hands[seat]
    own = 0
    for colour, owner in enumerate(s.setting.seat_of):
        if owner == seat:
            own |= s.built >> colour * len(SERIES) & _COLOUR_BITS
    total = 0.0
    for monument in s.setting.series:
        count = (hand >> SHIFT[monument] & SERIES_BITS).bit_count()
        if count:
            total += _held(s, monument, count, own)
    return min(1.0, 0.2 + 2 * left) * total + _pairs(s, seat, hand)


def _held(s: AntiquityState, monument: int, count: int, own: int) -> float:
    bit = 1 << monument
    if own & bit:
        return _HELD_OWN[count]
    if s.twice & bit:
        return _HELD_DEAD * count
    return (_HELD_SECOND if s.once & bit else _HELD_FIRST)[count]


def _pairs(s: AntiquityState, seat: int, hand: int) -> float:
    """Pairs of a symbol in hand, by the cards on display that they would score."""
    colours = [c for c, owner in enumerate(s.setting.seat_of) if owner == seat]
    best = (max(s.shown[symbol * 4 + c] for c in colours) for symbol in range(3))
    return _PAIR * sum(shown * min(2.0, (hand & SYMBOL_CARDS[symbol]).bit_count() / 2) for symbol, shown in enumerate(best))
