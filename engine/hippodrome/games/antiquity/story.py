"""The Story turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hippodrome.games.antiquity.actions import serves
from hippodrome.games.antiquity.components import (
    BOX,
    COLOURS,
    LAST_SPACE,
    MONUMENT_OF,
    OTHERS,
    SERIES,
    SYMBOL_OF,
)
from hippodrome.games.antiquity.moves import OWN, AntiquityMove

if TYPE_CHECKING:
    from hippodrome.games.antiquity.state import AntiquityState

_SERIES: Final = len(SERIES)
_COLOURS: Final = len(COLOURS)


def may_write(s: AntiquityState, m: AntiquityMove) -> bool:
    """§2: instead of all actions, with a historian left and at least one page to collect."""
    colour = serves(s, m)
    return colour >= 0 and s.fresh and s.historians[colour] > 0 and s.tall & OTHERS[colour] != 0


def collect_pages(s: AntiquityState, m: AntiquityMove) -> None:
    """§2, §Two-player: the top card of every pile of two or more in all other displays, the own other colour's too."""
    colour = s.to_move if m.side == OWN else m.side
    story = [colour]
    chosen = s.tall & OTHERS[colour]
    while chosen:
        low = chosen & -chosen
        chosen ^= low
        story.append(_collect(s, low.bit_length() - 1, low))
    s.stories.append(bytes(story))


def _collect(s: AntiquityState, place: int, bit: int) -> int:
    pile = s.piles[place]
    card = pile[-1]
    s.piles[place] = pile[:-1]
    if len(pile) == 2:
        s.tall ^= bit
    s.shown[SYMBOL_OF[card] * _COLOURS + place // _SERIES] -= 1
    return card


def place_historian(s: AntiquityState, m: AntiquityMove) -> None:
    """§2: the colour's historian goes to the space of the page count, on top of any that are there (`s.stories` keeps
    the order)."""
    s.historians[s.stories[-1][0]] -= 1


def move_markers(s: AntiquityState, m: AntiquityMove) -> None:
    """§2, ruling 1.5.9: one space to the right for each card; two piles of a series move its marker twice."""
    for card in s.stories[-1][1:]:
        monument = MONUMENT_OF[card]
        if s.spaces[monument] < LAST_SPACE:
            s.spaces[monument] += 1
        else:
            pay_builders(s, monument)


def pay_builders(s: AntiquityState, monument: int) -> None:
    """§2, ruling 1.5.10, ruling 1.5.11: a marker that cannot move pays 2 VP to the builder with the higher card still on
    display (the pages are already taken) and 1 VP to the other; a sole builder holds the higher card."""
    highest = [(max(s.piles[c * _SERIES + monument]), c) for c in range(s.setting.colours) if s.piles[c * _SERIES + monument]]
    for (_, colour), points in zip(sorted(highest, reverse=True), (BOX.overflow_higher, BOX.overflow_other), strict=False):
        s.points[colour] += points
