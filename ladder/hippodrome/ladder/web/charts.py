"""Small drawings made of numbers: the whisker of a rating, and the bands of rows that cannot be told apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Final, Generic, Protocol, TypeVar

from markupsafe import Markup

WIDTH: Final = 120
HEIGHT: Final = 16
MARGIN: Final = 4


class Measured(Protocol):
    """A rating and half of its 95 % interval, in Elo."""

    @property
    def rating(self) -> float: ...

    @property
    def interval(self) -> float: ...

    @property
    def rank(self) -> int | None: ...


Row = TypeVar("Row", bound=Measured)


@dataclass(frozen=True, slots=True)
class Band(Generic[Row]):
    """Ranked rows, best first, none of which can be told from the first; or the unranked rows."""

    rows: tuple[Row, ...]
    ranked: bool

    @property
    def title(self) -> str:
        """What stands above the rows."""
        if not self.ranked:
            return "Provisional: not ranked yet"
        ranks = [row.rank or 0 for row in self.rows]
        if len(ranks) == 1:
            return f"Rank {ranks[0]}: told apart from the others"
        span = f"Ranks {ranks[0]} to {ranks[-1]}" if ranks[0] != ranks[-1] else f"Rank {ranks[0]}"
        return f"{span}: cannot be told apart yet"


def bands(rows: Sequence[Row]) -> list[Band[Row]]:
    """Rows in bands. A row opens a new band when the first of the band is surely better: further above it than the 95 %
    interval of the difference (ratings note 1.1, the covariance being negligible)."""
    groups: list[list[Row]] = []
    for row in (row for row in rows if row.rank is not None):
        if groups and groups[-1][0].rating - row.rating <= hypot(groups[-1][0].interval, row.interval):
            groups[-1].append(row)
        else:
            groups.append([row])
    unranked = tuple(row for row in rows if row.rank is None)
    found = [Band(tuple(group), True) for group in groups]
    return [*found, Band(unranked, False)] if unranked else found


@dataclass(frozen=True, slots=True)
class Scale:
    """The Elo axis of a column of whiskers, from `low` to `high`."""

    low: float
    high: float

    @staticmethod
    def over(rows: Iterable[Measured]) -> Scale:
        """The scale that holds every interval."""
        ends = [end for row in rows for end in (row.rating - row.interval, row.rating + row.interval)]
        return Scale(min(ends, default=0.0), max(ends, default=0.0))

    def x(self, rating: float) -> float:
        """The place of `rating` in the drawing."""
        share = (rating - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)


def whisker(row: Measured, scale: Scale) -> Markup:
    """The interval as a line with ends, the rating as a dot. A decoration: the numbers stand beside it."""
    left, dot, right = (scale.x(row.rating + sign * row.interval) for sign in (-1, 0, 1))
    middle = HEIGHT // 2
    return Markup(
        '<svg class="whisker" viewBox="0 0 {w} {h}" width="{w}" height="{h}" aria-hidden="true">'
        '<path d="M{left} {m}H{right}M{left} 4v8M{right} 4v8"/><circle cx="{dot}" cy="{m}" r="3"/></svg>'
    ).format(w=WIDTH, h=HEIGHT, m=middle, left=left, right=right, dot=dot)
