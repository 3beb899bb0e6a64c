"""Bands and whiskers."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippodrome.ladder.web.charts import MARGIN, WIDTH, Scale, bands, whisker


@dataclass(frozen=True)
class Row:
    """A row of a ladder as far as a drawing needs it."""

    rating: float
    interval: float
    rank: int | None


def ladder(*numbers: tuple[float, float]) -> list[Row]:
    return [Row(rating, interval, rank) for rank, (rating, interval) in enumerate(numbers, 1)]


def test_rows_within_the_interval_of_the_difference_share_a_band() -> None:
    """30 and 40 make 50: 1550 is just within it of 1600, 1549 just outside."""
    assert [len(band.rows) for band in bands(ladder((1600, 30), (1550, 40), (1400, 30)))] == [2, 1]
    assert [len(band.rows) for band in bands(ladder((1600, 30), (1549, 40), (1400, 30)))] == [1, 1, 1]


def test_a_band_is_measured_from_its_first_row() -> None:
    """A chain of close rows does not make one long band."""
    assert [len(band.rows) for band in bands(ladder((1600, 10), (1590, 10), (1580, 10), (1570, 10)))] == [2, 2]


def test_titles_say_what_the_band_means() -> None:
    found = bands([*ladder((1600, 10), (1595, 10), (1500, 10)), Row(1700, 300, None)])
    assert [band.title for band in found] == [
        "Ranks 1 to 2: cannot be told apart yet",
        "Rank 3: told apart from the others",
        "Provisional: not ranked yet",
    ]
    assert bands([]) == []


rows = st.lists(st.tuples(st.floats(0, 4000), st.floats(0, 500)), max_size=30).map(
    lambda found: ladder(*sorted(found, reverse=True))
)


@given(rows)
def test_every_row_is_in_one_band_and_the_order_stays(given: list[Row]) -> None:
    assert [row for band in bands(given) for row in band.rows] == given


@given(rows.filter(bool))
def test_every_whisker_stays_in_its_drawing(given: list[Row]) -> None:
    scale = Scale.over(given)
    for row in given:
        svg = ElementTree.fromstring(whisker(row, scale))
        assert svg.attrib["aria-hidden"] == "true"
        ends = [scale.x(row.rating - row.interval), scale.x(row.rating), scale.x(row.rating + row.interval)]
        assert ends == sorted(ends)
        assert MARGIN - 0.1 <= ends[0] <= ends[2] <= WIDTH - MARGIN + 0.1


@pytest.mark.parametrize("row", [Row(1000, 0, 1), Row(0, 0, None)])
def test_a_single_point_is_in_the_middle(row: Row) -> None:
    assert Scale.over([row]).x(row.rating) == WIDTH / 2
