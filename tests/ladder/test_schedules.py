"""Schedules: who meets whom, how often, in which seats. Pure."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hippodrome.engine.errors import FieldError
from hippodrome.ladder.designs import DESIGNS, develop
from hippodrome.ladder.schedules import PAIRINGS, Planned, berger, count, get_pairing, round_robin, tables

BERGER_8 = [
    [(1, 8), (2, 7), (3, 6), (4, 5)],
    [(8, 5), (6, 4), (7, 3), (1, 2)],
    [(2, 8), (3, 1), (4, 7), (5, 6)],
    [(8, 6), (7, 5), (1, 4), (2, 3)],
    [(3, 8), (4, 2), (5, 1), (6, 7)],
    [(8, 7), (1, 6), (2, 5), (3, 4)],
    [(4, 8), (5, 3), (6, 2), (7, 1)],
]
"""The Berger table for 7 or 8 players as FIDE prints it (handbook C.05, annex 1)."""


def test_two_seats_follow_the_printed_berger_table_for_eight() -> None:
    printed = [(a - 1, b - 1) for games in BERGER_8 for a, b in games]
    assert list(berger(8)) == printed


def test_with_seven_the_eighth_of_the_printed_table_rests() -> None:
    printed = [(a - 1, b - 1) for games in BERGER_8 for a, b in games if 8 not in (a, b)]
    assert list(berger(7)) == printed


@pytest.mark.parametrize("entries", range(2, 41))
def test_berger_pairs_all_once_and_alternates_the_seats(entries: int) -> None:
    pairs = list(berger(entries))
    assert sorted(tuple(sorted(pair)) for pair in pairs) == list(combinations(range(entries), 2))
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    assert all(abs(first[entry] - second[entry]) <= 1 for entry in range(entries))


@pytest.mark.parametrize(("seats", "entries"), [(seats, entries) for seats in DESIGNS for entries in DESIGNS[seats]])
def test_every_design_is_balanced(seats: int, entries: int) -> None:
    tables_ = develop(DESIGNS[seats][entries])
    assert all(len(set(table)) == seats and set(table) <= set(range(entries)) for table in tables_)
    meetings = Counter(pair for table in tables_ for pair in combinations(sorted(table), 2))
    assert meetings.keys() == set(combinations(range(entries), 2))
    assert len(set(meetings.values())) == 1
    assert set(Counter(entry for table in tables_ for entry in table).values()) == {len(tables_) * seats // entries}


@pytest.mark.parametrize("seats", [3, 4])
def test_where_the_table_size_fits_a_cycle_is_made_of_rounds_and_costs_v_times_v_minus_one(seats: int) -> None:
    for entries, design in DESIGNS[seats].items():
        if entries % seats == 0:
            assert count(entries, seats, 1) == entries * (entries - 1)
            per_round = entries // seats
            tables_ = develop(design)
            for start in range(0, len(tables_), per_round):
                assert len({entry for table in tables_[start : start + per_round] for entry in table}) == entries


@pytest.mark.parametrize(("entries", "seats"), [(3, 3), (9, 3), (4, 4), (9, 4), (49, 3), (42, 4)])
def test_few_entries_or_no_known_design_play_all_subsets(entries: int, seats: int) -> None:
    assert list(tables(entries, seats)) == list(combinations(range(entries), seats))


@given(entries=st.integers(2, 14), seats=st.integers(2, 4), blocks=st.integers(1, 3))
@settings(max_examples=60)
def test_a_round_robin_is_numbered_blocked_rotated_and_balanced(entries: int, seats: int, blocks: int) -> None:
    if entries < seats:
        return
    planned = list(round_robin(entries, seats, blocks))
    assert planned == list(round_robin(entries, seats, blocks))
    assert len(planned) == count(entries, seats, blocks)
    assert [match.number for match in planned] == list(range(len(planned)))
    by_block: dict[int, list[Planned]] = {}
    for match in planned:
        by_block.setdefault(match.block, []).append(match)
    assert sorted(by_block) == list(range(len(planned) // seats))
    for matches in by_block.values():
        assert [match.rotation for match in matches] == list(range(seats))
        assert {match.seats for match in matches} == {matches[0].seats[r:] + matches[0].seats[:r] for r in range(seats)}
    sat = Counter((entry, seat) for match in planned for seat, entry in enumerate(match.seats))
    assert len(set(sat.values())) == 1, "everybody sits equally often in every seat"
    meetings = Counter(pair for match in planned for pair in combinations(sorted(match.seats), 2))
    assert len(meetings) == entries * (entries - 1) // 2
    assert len(set(meetings.values())) == 1, "everybody meets everybody equally often"


IMPOSSIBLE = [(1, 2, 1, "entries"), (3, 4, 1, "entries"), (2, 2, 0, "blocks")]


@pytest.mark.parametrize(("entries", "seats", "blocks", "field"), IMPOSSIBLE)
def test_an_impossible_schedule_names_its_field(entries: int, seats: int, blocks: int, field: str) -> None:
    with pytest.raises(FieldError) as caught:
        list(round_robin(entries, seats, blocks))
    assert caught.value.field == field


def test_an_unknown_pairing_system_gets_the_nearest_name() -> None:
    assert get_pairing("round-robin") is PAIRINGS["round-robin"]
    with pytest.raises(FieldError, match="did you mean 'round-robin'"):
        get_pairing("round-robbin")
