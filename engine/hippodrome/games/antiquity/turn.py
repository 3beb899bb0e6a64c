"""The course of a turn: what it offers, when it ends, and how it passes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hippodrome.engine.game import TABLE, Move
from hippodrome.games.antiquity import moves, power
from hippodrome.games.antiquity.actions import buildable, pairs
from hippodrome.games.antiquity.components import (
    ALL_SERIES,
    BOX,
    OTHERS,
    PLACE_SHIFT,
)
from hippodrome.games.antiquity.moves import AntiquityMove
from hippodrome.games.antiquity.phases import (
    OVER,
    TURN,
)

if TYPE_CHECKING:
    from hippodrome.games.antiquity.state import AntiquityState


def turn_moves(s: AntiquityState) -> list[Move]:
    """§1: a story as the whole turn, or actions; a purchase and the free powers besides; `end` once no action is left."""
    hand = s.hands[s.to_move]
    two = pairs(hand)
    found: list[Move] = []
    if s.actions:
        sides = s.setting.sides[s.to_move]
        if s.fresh:
            found += [moves.STORY_MOVE[side] for side, colour in sides if s.historians[colour] and s.tall & OTHERS[colour]]
        if s.drawn < s.size:
            found.append(moves.DRAW_MOVE)
        for card in s.face_up:
            found.append(moves.TAKE_MOVE[card])
        stock = s.stock[s.to_move]
        for side, colour in sides:
            own = s.built >> PLACE_SHIFT[colour] & ALL_SERIES
            found += moves.BUILDS[side][buildable(s, stock, own)]
            found += moves.IMPROVES[side][stock & own]
            found += moves.SCORES[side][two]
            if s.setting.power:
                found += power.acquirable(s, side, colour)
    else:
        found.append(moves.END_MOVE)
    if not s.bought:
        found += moves.BUYS[two]
    if s.setting.power:
        found += power.free_powers(s)
    return found


def goes_on(s: AntiquityState) -> bool:
    """ruling 1.5.1: a turn lasts while an action is left and legal; then only a purchase or a free power can keep it open.

    Where no action is legal there is no pair of a symbol (it could score) and no card to draw, so nothing could be bought
    and no power used either.
    """
    if s.actions:
        return s.drawn < s.size or len(s.face_up) > 0 or len(turn_moves(s)) > 0
    if not s.bought and pairs(s.hands[s.to_move]):
        return True
    return s.setting.power and (power.may_swap(s) or (power.may_hero(s) and (s.drawn < s.size or len(s.face_up) > 0)))


def settle(s: AntiquityState, m: AntiquityMove) -> None:
    """The turn ends by itself where nothing can be chosen any more."""
    if s.phase == TURN and not goes_on(s):
        end_turn(s, m)


def spend_action(s: AntiquityState, m: AntiquityMove) -> None:
    """§1: each action is one of three, whatever it is; from now on this is a Monument turn."""
    s.actions -= 1
    s.fresh = False


def may_end(s: AntiquityState, m: AntiquityMove) -> bool:
    """No action may be left over."""
    return s.actions == 0


def end_turn(s: AntiquityState, m: AntiquityMove) -> None:
    """§End, ruling 1.5.4: the game is over at once when a gap stays after replenishing; a Story turn never gets here."""
    refill(s)
    if len(s.face_up) < BOX.face_up:
        s.phase, s.to_move, s.actions = OVER, TABLE, 0
    else:
        pass_turn(s, m)


def refill(s: AntiquityState) -> None:
    """§1: gaps are filled from the deck at the end of the turn only."""
    while len(s.face_up) < BOX.face_up and s.drawn < s.size:
        s.face_up.append(s.deck[s.drawn])
        s.drawn += 1


def pass_turn(s: AntiquityState, m: AntiquityMove) -> None:
    """§1, §2: the next seat clockwise begins with all actions; after a story likewise."""
    s.to_move = (s.to_move + 1) % s.setting.players
    s.actions, s.fresh, s.bought, s.used = BOX.actions, True, False, 0
