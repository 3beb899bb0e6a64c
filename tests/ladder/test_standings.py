"""Standings: points, tie-breaks, crosstable. Drawn as crosstables, then asserted."""

from __future__ import annotations

import random

import pytest

from hippodrome.engine.game import Outcome
from hippodrome.ladder.standings import Played, Row, standings


def duels(*rows: str) -> list[Played]:
    """Matches from a crosstable: row i, column j is the result of i against j ('1', '0', '=' or '.'), above the diagonal."""
    played = []
    for i, row in enumerate(rows):
        for j, cell in enumerate(row.split()):
            if j > i and cell in "10=":
                played.append(Played((i, j), {"1": (1, 2), "0": (2, 1), "=": (1, 1)}[cell]))
    return played


def order(rows: list[Row]) -> list[tuple[int, int]]:
    return [(row.place, row.entry) for row in rows]


def test_points_are_wins_and_half_ties() -> None:
    rows = standings(3, duels("- 1 =", "- - 1", "- - -"))
    assert [(row.entry, row.points) for row in rows] == [(0, 1.5), (1, 1.0), (2, 0.5)]
    assert rows[0].against == (0.0, 1.0, 0.5)
    assert rows[0].meetings == (0, 1, 1)


def test_level_on_points_the_direct_encounter_decides() -> None:
    # 0 and 1 have 2 points each; 1 beat 0.
    rows = standings(4, duels("- 0 1 1", "- - 1 0", "- - - 1", "- - - -"))
    assert order(rows)[:2] == [(1, 1), (2, 0)]
    assert rows[0].direct == 1.0


def test_then_sonneborn_berger_decides() -> None:
    # 0 and 1 tied their match and have 2.5 points each; the opponents that 1 has beaten have more points.
    played = duels("- = 1 1 0", "- - 1 0 1", "- - - 1 1", "- - - - 0", "- - - - -")
    rows = {row.entry: row for row in standings(5, played)}
    assert rows[0].points == rows[1].points == 2.5
    assert rows[0].direct == rows[1].direct == 0.5
    # opponents' points: entry 2 has 2, entry 3 has 1, entry 4 has 2
    assert rows[0].berger == 0.5 * 2.5 + 2 + 1
    assert rows[1].berger == 0.5 * 2.5 + 2 + 2
    assert rows[1].place == 1
    assert rows[0].place == 2


def test_all_level_share_the_place_and_the_next_place_is_counted_on() -> None:
    rows = standings(4, duels("- 1 0 1", "- - 1 1", "- - - 1", "- - - -"))
    assert order(rows) == [(1, 0), (1, 1), (1, 2), (4, 3)]


def test_a_table_of_four_shares_one_point_per_opponent_beaten() -> None:
    rows = {row.entry: row for row in standings(4, [Played((3, 1, 0, 2), (1, 2, 2, 4))])}
    assert rows[3].points == 1.0
    assert rows[1].points == rows[0].points == pytest.approx(0.5)
    assert rows[2].points == 0.0
    assert rows[3].meetings == (1, 1, 1, 0)
    assert sum(row.points for row in rows.values()) == pytest.approx(2.0)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_points_of_a_match_are_the_engines_mean_pair_score(seats: int) -> None:
    chance = random.Random(seats)
    for _ in range(50):
        places = tuple(chance.randrange(1, seats + 1) for _ in range(seats))
        rows = {row.entry: row for row in standings(seats, [Played(tuple(range(seats)), places)])}
        outcome = Outcome(places, (0,) * seats, "")
        assert [rows[seat].points for seat in range(seats)] == pytest.approx([outcome.value(seat) for seat in range(seats)])


def test_faults_are_counted_for_the_seat_that_failed() -> None:
    rows = {row.entry: row for row in standings(2, [Played((1, 0), (1, 2), (1,)), Played((0, 1), (1, 2))])}
    assert (rows[0].faults, rows[1].faults) == (1, 0)
    assert rows[0].matches == rows[1].matches == 2


def test_before_the_first_result_all_share_the_first_place() -> None:
    assert order(standings(3, [])) == [(1, 0), (1, 1), (1, 2)]
