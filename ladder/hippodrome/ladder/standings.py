"""Standings and crosstables: pure functions from results to rows.

| order | rule | function |
|---|---|---|
| 1 | points: the mean pair scores of all matches, summed | `_add` |
| 2 | direct encounter: points against those level on points | `direct_encounter` |
| 3 | Sonneborn-Berger: points against each entry times that entry's points | `sonneborn_berger` |
| 4 | shared place; never a coin | `standings` |

Pair scores are counted exactly, in whole 12ths (2, 3 and 4 seats divide them), so ties are ties.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

UNIT: Final = 12
"""One point in the whole numbers counted with: halves of a pair score, divided by 1, 2 or 3 opponents."""


@dataclass(frozen=True, slots=True)
class Played:
    """A match with a result: entry indexes by seat, places by seat (1 is best), seats that failed."""

    entries: tuple[int, ...]
    places: tuple[int, ...]
    failed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """The row of entry `entry`. `against` and `meetings` are in entry order; `direct` and `berger` are the tie-breaks."""

    entry: int
    place: int
    points: float
    matches: int
    faults: int
    against: tuple[float, ...]
    meetings: tuple[int, ...]
    direct: float
    berger: float


def standings(entries: int, played: Iterable[Played]) -> list[Row]:
    """All entries, best first; equal ones share a place and stand in entry order."""
    against = [[0] * entries for _ in range(entries)]
    meetings = [[0] * entries for _ in range(entries)]
    matches, faults = [0] * entries, [0] * entries
    for match in played:
        _add(match, against, meetings)
        for entry in match.entries:
            matches[entry] += 1
        for seat in match.failed:
            faults[match.entries[seat]] += 1
    points = [sum(row) for row in against]
    direct = direct_encounter(points, against)
    berger = sonneborn_berger(points, against)
    keys = [(-points[e], -direct[e], -berger[e]) for e in range(entries)]
    return [
        Row(
            entry=e,
            place=1 + sum(key < keys[e] for key in keys),
            points=points[e] / UNIT,
            matches=matches[e],
            faults=faults[e],
            against=tuple(score / UNIT for score in against[e]),
            meetings=tuple(meetings[e]),
            direct=direct[e] / UNIT,
            berger=berger[e] / UNIT**2,
        )
        for e in sorted(range(entries), key=lambda e: (keys[e], e))
    ]


def direct_encounter(points: Sequence[int], against: Sequence[Sequence[int]]) -> list[int]:
    """Points of each entry against those level with it on points."""
    return [sum(score for o, score in enumerate(row) if points[o] == points[e]) for e, row in enumerate(against)]


def sonneborn_berger(points: Sequence[int], against: Sequence[Sequence[int]]) -> list[int]:
    """Points against each entry times that entry's points, summed."""
    return [sum(score * points[o] for o, score in enumerate(row)) for row in against]


def pair_score(mine: int, other: int) -> int:
    """Half-points of a place against another: 2, 1 or 0."""
    return 2 if mine < other else int(mine == other)


def _add(match: Played, against: list[list[int]], meetings: list[list[int]]) -> None:
    """Each of the n-1 opponents gives 1/(n-1) of a point."""
    seats = list(zip(match.entries, match.places, strict=True))
    share = UNIT // 2 // max(1, len(seats) - 1)
    for i, (entry, place) in enumerate(seats):
        for j, (opponent, other) in enumerate(seats):
            if i != j:
                against[entry][opponent] += pair_score(place, other) * share
                meetings[entry][opponent] += 1
