"""§Power: the power cards. Their place among the phases is in `rules.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hippodrome.engine.game import Move
from hippodrome.games.antiquity.components import BOX, COLOURS, HERO, NAUTE, POWER_SYMBOL, POWERS, SCRIBE
from hippodrome.games.antiquity.moves import (
    ACQUIRE_MOVE,
    GIVE_MOVE,
    HERO_DRAW_MOVE,
    HERO_TAKE_MOVE,
    OWN,
    PLACE_MOVE,
    SWAP_MOVE,
    TAKE_MOVE,
    AntiquityMove,
    moves_of,
)
from hippodrome.games.antiquity.phases import GIVING, REORDERING, SWAPPING, TURN

if TYPE_CHECKING:
    from hippodrome.games.antiquity.state import AntiquityState


def majority(s: AntiquityState, symbol: int) -> int:
    """ruling 1.5.17: the colour that displays strictly more cards of `symbol` than every other colour, or -1."""
    row = s.shown[symbol * len(COLOURS) : (symbol + 1) * len(COLOURS)]
    most = max(row)
    return row.index(most) if row.count(most) == 1 else -1


def may_acquire(s: AntiquityState, power: int, colour: int) -> bool:
    """§Power, ruling 1.5.18: the colour has the majority of the card's symbol and does not hold the card already."""
    return s.setting.power and s.holders[power] != colour and majority(s, POWER_SYMBOL[power]) == colour


def acquirable(s: AntiquityState, side: int, colour: int) -> list[Move]:
    """The acquisitions open to `colour`."""
    return [ACQUIRE_MOVE[side][power] for power in range(len(POWERS)) if may_acquire(s, power, colour)]


def acquire(s: AntiquityState, m: AntiquityMove) -> None:
    """§Power: the card comes from the bank or from its holder, who cannot object; it brings 2 VP at once."""
    colour = s.to_move if m.side == OWN else m.side
    s.holders[m.power] = colour
    s.points[colour] += BOX.acquire_points


def usable(s: AntiquityState, power: int) -> bool:
    """ruling 1.5.19: a colour of the seat holds the card, perhaps since this turn, and it is unused in this turn."""
    holder = s.holders[power]
    return holder >= 0 and s.setting.seat_of[holder] == s.to_move and not s.used >> power & 1


def may_swap(s: AntiquityState, m: AntiquityMove | None = None) -> bool:
    """§Power: the naute exchanges a hand card for a face-up one, so both must exist."""
    return usable(s, NAUTE) and s.hands[s.to_move] > 0 and len(s.face_up) > 0


def may_hero(s: AntiquityState) -> bool:
    """ruling 1.5.20: the hero is paid with a VP that the holding colour must have."""
    return usable(s, HERO) and s.points[s.holders[HERO]] > 0


def may_hero_draw(s: AntiquityState, m: AntiquityMove) -> bool:
    """ruling 1.5.20, ruling 1.5.3: the hero's card may come from the deck, while there is one."""
    return may_hero(s) and s.drawn < s.size


def may_hero_take(s: AntiquityState, m: AntiquityMove) -> bool:
    """ruling 1.5.20: or the hero's card comes from the display."""
    return may_hero(s) and m.card in s.face_up


def free_powers(s: AntiquityState) -> list[Move]:
    """The moves that cost no action: the naute's exchange and the hero's card."""
    moves: list[Move] = [SWAP_MOVE] if may_swap(s) else []
    if may_hero(s):
        moves += [HERO_DRAW_MOVE] if s.drawn < s.size else []
        moves += [HERO_TAKE_MOVE[card] for card in s.face_up]
    return moves


def use_naute(s: AntiquityState, m: AntiquityMove) -> None:
    """§Power: once in a Monument turn, without an action."""
    s.used |= 1 << NAUTE
    s.fresh = False
    s.phase = GIVING


def gives(s: AntiquityState) -> list[Move]:
    return moves_of(GIVE_MOVE, s.hands[s.to_move])


def may_give(s: AntiquityState, m: AntiquityMove) -> bool:
    return s.hands[s.to_move] >> m.card & 1 == 1


def give_card(s: AntiquityState, m: AntiquityMove) -> None:
    """§Power: the card given is laid down openly; it joins the face-up ones when the other has been taken."""
    s.lose(s.to_move, m.card)
    s.picked = bytes([m.card])
    s.phase = SWAPPING


def swaps(s: AntiquityState) -> list[Move]:
    return [TAKE_MOVE[card] for card in s.face_up]


def may_swap_for(s: AntiquityState, m: AntiquityMove) -> bool:
    return m.card in s.face_up


def put_given(s: AntiquityState, m: AntiquityMove) -> None:
    """§Power: the exchange leaves as many face-up cards as before."""
    s.face_up.append(s.picked[0])
    s.picked, s.phase = b"", TURN


def pay_hero(s: AntiquityState, m: AntiquityMove) -> None:
    """§Power: once in a Monument turn, 1 VP instead of an action."""
    s.points[s.holders[HERO]] -= 1
    s.used |= 1 << HERO
    s.fresh = False


def may_reorder(s: AntiquityState, m: AntiquityMove | None = None) -> bool:
    """ruling 1.5.21: only the colour that improves, if it holds the scribe, and after it has added a card."""
    return s.need == 0 and s.holders[SCRIBE] == s.colour and not s.used >> SCRIBE & 1


def use_scribe(s: AntiquityState, m: AntiquityMove) -> None:
    """§Power: the pile is taken up to be laid down again from the bottom."""
    s.used |= 1 << SCRIBE
    s.phase = REORDERING


def unplaced(s: AntiquityState) -> list[int]:
    """The cards of the pile that have no new place yet, in the order of cards."""
    return sorted(set(s.piles[s.colour * 12 + s.monument]) - set(s.picked))


def places(s: AntiquityState) -> list[Move]:
    return [PLACE_MOVE[card] for card in unplaced(s)]


def may_place(s: AntiquityState, m: AntiquityMove) -> bool:
    """ruling 1.5.21: only cards of that pile, old and new alike."""
    return m.card in s.piles[s.colour * 12 + s.monument] and m.card not in s.picked


def place_card(s: AntiquityState, m: AntiquityMove) -> None:
    """§Power: cards are placed one by one, each on top of those before."""
    s.picked += bytes([m.card])
