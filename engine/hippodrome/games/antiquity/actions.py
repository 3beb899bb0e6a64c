"""The actions a) to d) of a Monument turn and the purchase of a fourth one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hippodrome.engine.game import Move
from hippodrome.games.antiquity import moves, power
from hippodrome.games.antiquity.components import (
    ALL_SERIES,
    BOX,
    CARD_BIT,
    CARD_BYTE,
    COLOURS,
    FIRST_SHIFT,
    PLACE_SHIFT,
    POWER_SYMBOL,
    SECOND_SHIFT,
    SERIES,
    SERIES_BITS,
    SHIFT,
    SYMBOL_CARDS,
    SYMBOL_OF,
)
from hippodrome.games.antiquity.moves import OWN, AntiquityMove
from hippodrome.games.antiquity.phases import (
    BUILDING,
    BUYING,
    IMPROVING,
    SCORING,
    TURN,
)

if TYPE_CHECKING:
    from hippodrome.games.antiquity.state import AntiquityState

_SHIPS, _HELMETS, _SCROLLS = SYMBOL_CARDS
_SERIES: Final = len(SERIES)
_COLOURS: Final = len(COLOURS)


def may_draw(s: AntiquityState, m: AntiquityMove) -> bool:
    """§1a, ruling 1.5.3: for one action, while the deck has a card."""
    return s.actions > 0 and s.drawn < s.size


def draw_top(s: AntiquityState, m: AntiquityMove) -> None:
    """§1a: there is no limit to a hand."""
    s.gain(s.to_move, s.deck[s.drawn])
    s.drawn += 1


def may_take(s: AntiquityState, m: AntiquityMove) -> bool:
    """§1a: for one action, while the card lies there; gaps are not filled before the turn ends."""
    return s.actions > 0 and m.card in s.face_up


def take_face_up(s: AntiquityState, m: AntiquityMove) -> None:
    """§1a: the card goes to the hand, before everybody's eyes."""
    s.face_up.remove(m.card)
    s.gain(s.to_move, m.card)
    s.known[s.to_move] |= CARD_BIT[m.card]


def buildable(s: AntiquityState, stock: int, own: int) -> int:
    """§1b, ruling 1.5.6, ruling 1.5.23: the series that a colour with the monuments `own` may build from `stock`: two
    cards of one that nobody has built, three of one that one other colour has built; never a third builder, even if a
    pile has shrunk."""
    return (stock >> FIRST_SHIFT & ~s.once | stock >> SECOND_SHIFT & s.once & ~s.twice & ~own) & ALL_SERIES


def may_build(s: AntiquityState, m: AntiquityMove) -> bool:
    colour = serves(s, m)
    if colour < 0 or s.actions == 0:
        return False
    return buildable(s, s.stock[s.to_move], s.built >> PLACE_SHIFT[colour]) >> m.monument & 1 == 1


def start_building(s: AntiquityState, m: AntiquityMove) -> None:
    """§1b: the available card is turned for the first builder and removed for the second."""
    bit = 1 << m.monument
    start(s, m, BUILDING, BOX.min_second if s.once & bit else BOX.min_first)
    s.twice |= s.once & bit
    s.once |= bit
    s.built |= bit << PLACE_SHIFT[s.colour]


def may_improve(s: AntiquityState, m: AntiquityMove) -> bool:
    """§1c: for one action, a monument of the colour's display of which the hand has a card."""
    colour = serves(s, m)
    if colour < 0 or s.actions == 0:
        return False
    return s.stock[s.to_move] & s.built >> PLACE_SHIFT[colour] & 1 << m.monument != 0


def start_improving(s: AntiquityState, m: AntiquityMove) -> None:
    """§1c: one card or more onto an own monument; the order below stays."""
    start(s, m, IMPROVING, 1)


def pile_moves(s: AntiquityState) -> list[Move]:
    """The cards that may come next, and the ways to stop."""
    found: list[Move] = list(moves.ADDS[s.monument][s.hands[s.to_move] >> SHIFT[s.monument] & SERIES_BITS])
    if s.need == 0:
        found.append(moves.DONE_MOVE)
        if s.phase == IMPROVING and power.may_reorder(s):
            found.append(moves.REORDER_MOVE)
    return found


def may_add(s: AntiquityState, m: AntiquityMove) -> bool:
    return m.monument == s.monument and s.hands[s.to_move] & CARD_BIT[m.card] != 0


def lay_card(s: AntiquityState, m: AntiquityMove) -> None:
    """§1b, ruling 1.5.14: the card goes on top of the pile, for good."""
    card = m.card
    s.lose(s.to_move, card)
    place = s.colour * _SERIES + s.monument
    pile = s.piles[place] = s.piles[place] + CARD_BYTE[card]
    if len(pile) == 2:
        s.tall |= 1 << place
    s.shown[SYMBOL_OF[card] * _COLOURS + s.colour] += 1
    if s.need:
        s.need -= 1


def may_stop(s: AntiquityState, m: AntiquityMove) -> bool:
    """§1b: once the minimum is laid."""
    return s.need == 0


def more_to_lay(s: AntiquityState) -> bool:
    """Whether there is still a choice about the pile: another card of the series, or its order."""
    more = s.stock[s.to_move] >> s.monument & 1 == 1
    return more or s.need > 0 or (s.phase == IMPROVING and power.may_reorder(s))


def stop_if_bare(s: AntiquityState, m: AntiquityMove) -> None:
    if not more_to_lay(s):
        back(s)


def close_pile(s: AntiquityState, m: AntiquityMove) -> None:
    back(s)


def finish_order(s: AntiquityState, m: AntiquityMove) -> None:
    """With the last card placed the pile has its new order."""
    place = s.colour * _SERIES + s.monument
    if len(s.picked) == len(s.piles[place]):
        s.piles[place] = s.picked
        back(s)


def pairs(hand: int) -> int:
    """§1d, §1: the symbols of which the hand has two cards, as bits; to score or to buy takes two with the same one."""
    found = 1 if (hand & _SHIPS).bit_count() > 1 else 0
    if (hand & _HELMETS).bit_count() > 1:
        found |= 2
    if (hand & _SCROLLS).bit_count() > 1:
        found |= 4
    return found


def may_score(s: AntiquityState, m: AntiquityMove) -> bool:
    return s.actions > 0 and serves(s, m) >= 0 and pairs(s.hands[s.to_move]) >> m.symbol & 1 == 1


def start_scoring(s: AntiquityState, m: AntiquityMove) -> None:
    start(s, m, SCORING, 0)


def may_buy(s: AntiquityState, m: AntiquityMove) -> bool:
    """ruling 1.5.2: once in a Monument turn, at any moment of it, with any two cards of the symbol."""
    return not s.bought and pairs(s.hands[s.to_move]) >> m.symbol & 1 == 1


def start_buying(s: AntiquityState, m: AntiquityMove) -> None:
    s.phase, s.symbol, s.fresh = BUYING, m.symbol, False


def first_choices(s: AntiquityState) -> int:
    """Cards of the symbol with a higher one in the hand: every pair is listed once, lower card first."""
    cards = s.hands[s.to_move] & SYMBOL_CARDS[s.symbol]
    return cards ^ 1 << cards.bit_length() - 1


def second_choices(s: AntiquityState) -> int:
    """Cards of the symbol above the first one."""
    return s.hands[s.to_move] & SYMBOL_CARDS[s.symbol] & -CARD_BIT[s.picked[0]]


def first_discards(s: AntiquityState) -> list[Move]:
    return moves.moves_of(moves.DISCARD_MOVE, first_choices(s))


def second_discards(s: AntiquityState) -> list[Move]:
    return moves.moves_of(moves.DISCARD_MOVE, second_choices(s))


def may_discard_first(s: AntiquityState, m: AntiquityMove) -> bool:
    return first_choices(s) & CARD_BIT[m.card] != 0


def may_discard_second(s: AntiquityState, m: AntiquityMove) -> bool:
    return second_choices(s) & CARD_BIT[m.card] != 0


def remove_card(s: AntiquityState, m: AntiquityMove) -> None:
    """§1d, §1: cards used to score or to buy leave the game."""
    s.lose(s.to_move, m.card)
    s.gone |= CARD_BIT[m.card]


def note_first(s: AntiquityState, m: AntiquityMove) -> None:
    s.picked = CARD_BYTE[m.card]
    s.phase += 1


def score_points(s: AntiquityState, m: AntiquityMove) -> None:
    """§1d, ruling 1.5.6, ruling 1.5.22: 1 VP for each card of the symbol on the colour's display, no other display
    counts; in the variant a power card held counts as one more."""
    s.points[s.colour] += s.shown[s.symbol * _COLOURS + s.colour]
    if s.setting.variant and s.holders[POWER_SYMBOL.index(s.symbol)] == s.colour:
        s.points[s.colour] += 1
    back(s)


def grant_action(s: AntiquityState, m: AntiquityMove) -> None:
    """§1: the two cards pay for one more action."""
    s.actions += 1
    s.bought = True
    back(s)


def serves(s: AntiquityState, m: AntiquityMove) -> int:
    """§Two-player, ruling 1.5.6: the colour that the move serves, or -1 when the seat may not serve it so. Any own colour,
    each move."""
    for side, colour in s.setting.sides[s.to_move]:
        if side == m.side:
            return colour
    return -1


def start(s: AntiquityState, m: AntiquityMove, phase: int, need: int) -> None:
    """Begin a choice of several moves."""
    s.phase, s.need, s.symbol, s.monument = phase, need, m.symbol, m.monument
    s.colour = s.to_move if m.side == OWN else m.side


def back(s: AntiquityState) -> None:
    """The choice is complete."""
    s.phase, s.need, s.symbol, s.monument, s.colour, s.picked = TURN, 0, -1, -1, -1, b""
