"""Ratings: oracles, properties, calibration. Pure."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hippodrome.ladder import bradley_terry as bt
from hippodrome.ladder.ratings import Rated, RatedMatch, elo_step, expected, pair_weight, rank_spans, rate, t_quantile

Log = list[RatedMatch[str]]


def plain_elo(size: int, counts: dict[tuple[int, int], tuple[int, int, int]]) -> list[float]:
    """Elo around 0 without a prior from (i, j) -> (wins of i, ties, losses)."""
    pairs = {(2, i, j): [2 * wins + ties, wins + ties + losses] for (i, j), (wins, ties, losses) in counts.items()}
    return [theta / bt.Q for theta in bt.fit_plain(size, pairs)]


def test_three_engines_of_laskos() -> None:
    """18-9-3 twice and 24-6-0: the numbers that Ordo prints on the 400-point scale."""
    found = plain_elo(3, {(0, 1): (18, 9, 3), (1, 2): (18, 9, 3), (0, 2): (24, 6, 0)})
    assert found == pytest.approx([190.8485, 0.0, -190.8485], abs=1e-4)


def test_meeple_pentathlon() -> None:
    """Wins [[0,4,2],[1,0,2],[3,3,0]]: 147.19 Elo apart, the first and the last level (as OpenSpiel, Ordo and BayesElo give)."""
    found = plain_elo(3, {(0, 1): (4, 0, 1), (0, 2): (2, 0, 3), (1, 2): (2, 0, 3)})
    assert [value - found[1] for value in found] == pytest.approx([147.1907, 0.0, 147.1907], abs=1e-4)


def test_without_a_prior_two_versions_differ_by_the_logit_of_the_score() -> None:
    high, low = plain_elo(2, {(0, 1): (3, 0, 1)})
    assert high - low == pytest.approx(400 * math.log10(3), abs=1e-9)


@given(st.floats(500, 2500), st.floats(500, 2500), st.sampled_from([(1, 2), (2, 1), (1, 1)]), st.floats(1, 60))
def test_a_step_at_a_table_of_two_is_classic_elo(a: float, b: float, places: tuple[int, int], k: float) -> None:
    score = {(1, 2): 1.0, (2, 1): 0.0, (1, 1): 0.5}[places]
    by_hand = k * (score - 1 / (1 + 10 ** ((b - a) / 400)))
    assert elo_step([a, b], places, k) == pytest.approx([by_hand, -by_hand], abs=1e-9)


def test_twenty_games_of_an_integer_ladder() -> None:
    """K 8, start 1600, changes rounded to whole numbers, as a ladder of StarCraft bots has published: ends at 1630 and 1570."""
    places = {"1": (1, 2), "2": (2, 1), "=": (1, 1)}
    first, course = 1600, []
    for result in "12111==2=2111211=111":
        first += round(elo_step([first, 3200 - first], places[result], 8)[0])
        course.append(first)
    assert len(course) == 20
    assert course[:7] == [1604, 1600, 1604, 1608, 1612, 1612, 1612]
    assert course[-1] == 1630


@given(st.lists(st.tuples(st.floats(500, 2500), st.integers(1, 4)), min_size=2, max_size=4))
def test_a_step_sums_to_zero(table: list[tuple[float, int]]) -> None:
    assert math.fsum(elo_step([r for r, _ in table], [p for _, p in table])) == pytest.approx(0.0, abs=1e-9)


@given(st.lists(st.integers(1, 4), min_size=2, max_size=4))
def test_among_equals_the_order_of_steps_is_the_order_of_places(places: list[int]) -> None:
    """Equal places get equal steps: the flaw of some Plackett-Luce systems, which put the third before two shared winners."""
    steps = elo_step([1500.0] * len(places), places)
    for i, mine in enumerate(places):
        for j, other in enumerate(places):
            assert (steps[i] > steps[j]) == (mine < other)
            assert (steps[i] == steps[j]) == (mine == other)


def test_a_shared_victory_at_a_table_of_four() -> None:
    """Four equals, two share the victory: each winner gains the same, the third loses (K 32, weight 3/5 for each pair)."""
    assert elo_step([1500.0] * 4, [1, 1, 3, 4]) == pytest.approx([19.2, 19.2, -9.6, -28.8])


@given(st.floats(500, 2500), st.integers(2, 4))
def test_a_tie_of_equals_changes_nothing(rating: float, seats: int) -> None:
    assert elo_step([rating] * seats, [1] * seats) == [0.0] * seats


def test_pair_weights() -> None:
    assert [pair_weight(n) for n in (2, 3, 4)] == [1.0, 0.75, 0.6]
    assert expected(1700, 1500) == pytest.approx(0.7597, abs=1e-4)


@st.composite
def logs(draw: st.DrawFn, seats: Sequence[int] = (2, 3, 4), bots: int = 5) -> Log:
    names = [f"bot{i}" for i in range(bots)]
    log = []
    for _ in range(draw(st.integers(1, 25))):
        n = draw(st.sampled_from(seats))
        table = draw(st.permutations(names))[:n]
        places = draw(st.lists(st.integers(1, n), min_size=n, max_size=n))
        log.append(RatedMatch(f"1/{draw(st.integers(0, 8))}", tuple(table), tuple(places)))
    return log


@given(logs(), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_the_order_of_the_log_changes_no_bit(log: Log, chance: random.Random) -> None:
    shuffled = log[:]
    chance.shuffle(shuffled)
    assert list(rate(shuffled, {"bot0": 1000.0}).items()) == list(rate(log, {"bot0": 1000.0}).items())


@given(logs(), st.permutations(range(5)))
@settings(max_examples=30)
def test_other_names_give_the_same_numbers_under_the_other_names(log: Log, order: list[int]) -> None:
    rename = {f"bot{i}": f"name{order[i]}" for i in range(5)}
    renamed = rate([RatedMatch(m.block, tuple(rename[s] for s in m.seats), m.places) for m in log])
    for name, row in rate(log).items():
        assert renamed[rename[name]].rating == pytest.approx(row.rating, abs=1e-6)
        assert renamed[rename[name]].interval == pytest.approx(row.interval, abs=1e-6)


@given(logs())
@settings(max_examples=30)
def test_turning_all_results_round_turns_the_ratings_round(log: Log) -> None:
    turned = rate([RatedMatch(m.block, m.seats, tuple(-place for place in m.places)) for m in log])
    for name, row in rate(log).items():
        assert turned[name].rating - 1500 == pytest.approx(1500 - row.rating, abs=1e-6)


@given(logs(), st.floats(-500, 500))
@settings(max_examples=20)
def test_moving_the_anchors_moves_everybody_alike(log: Log, shift: float) -> None:
    here, there = rate(log, {"bot0": 1000.0, "bot1": 1200.0}), rate(log, {"bot0": 1000.0 + shift, "bot1": 1200.0 + shift})
    if not {"bot0", "bot1"} & here.keys():
        return
    for name, row in here.items():
        assert there[name].rating == pytest.approx(row.rating + shift, abs=1e-6)
        assert there[name].interval == row.interval


@given(logs())
@settings(max_examples=20)
def test_all_ties_leave_everybody_at_the_mean(log: Log) -> None:
    for row in rate([RatedMatch(m.block, m.seats, (1,) * len(m.seats)) for m in log]).values():
        assert row.rating == pytest.approx(1500.0, abs=1e-9)
        assert row.score == 0.5


@given(logs())
@settings(max_examples=20)
def test_the_fit_sums_to_zero_and_the_gradient_vanishes(log: Log) -> None:
    rows = rate(log)
    assert math.fsum(row.rating - 1500 for row in rows.values()) == pytest.approx(0.0, abs=1e-6)


def test_an_anchor_gets_exactly_its_number_and_says_so() -> None:
    rows = rate(duels("ab", 10, 3), {"b": 1000.0, "absent": 2000.0})
    assert rows["b"].rating == pytest.approx(1000.0, abs=1e-9)
    assert rows["b"].anchor
    assert not rows["a"].anchor
    assert rows["a"].rating > 1000.0


def test_several_anchors_are_pinned_by_their_mean() -> None:
    rows = rate(duels("ab", 10, 3) + duels("bc", 10, 3), {"a": 1300.0, "c": 900.0})
    assert (rows["a"].rating + rows["c"].rating) / 2 == pytest.approx(1100.0, abs=1e-9)


def test_a_version_that_wins_all_has_a_finite_rating_and_a_wide_interval() -> None:
    rows = rate(duels("ab", 30, 0))
    assert 1500 < rows["a"].rating < 2500
    assert rows["a"].interval > 70
    assert rows["a"].score == 1.0


def test_an_empty_log_gives_no_rows_and_a_table_of_one_says_nothing() -> None:
    assert rate([]) == {}
    assert rate([RatedMatch("1/0", ("a",), (1,))]) == {}


def test_few_blocks_are_provisional_and_stand_last() -> None:
    log = duels("ab", 40, 20) + duels("cd", 2, 0, block="late")
    rows = rate(log)
    assert [name for name, row in rows.items() if row.provisional] == list(rows)[2:]
    assert rows["a"].rank == 1
    assert rows["b"].rank == 2
    assert rows["c"].rank is None
    assert rows["c"].rank_best is None


def test_matches_of_one_block_count_as_one_block() -> None:
    log = [RatedMatch(f"1/{block}", seats, (1, 2)) for block in range(30) for seats in (("a", "b"), ("b", "a"))]
    rows = rate(log)
    assert (rows["a"].matches, rows["a"].blocks) == (60, 30)


def test_the_interval_knows_how_the_results_of_a_block_hang_together() -> None:
    """Blocks that always split show both level; blocks that always repeat their result say half as much as they seem."""
    split = [RatedMatch(f"1/{b}", ("a", "b"), places) for b in range(40) for places in ((1, 2), (2, 1))]
    repeat = [RatedMatch(f"1/{b}", ("a", "b"), ((1, 2), (2, 1))[b % 2]) for b in range(40) for _ in range(2)]
    assert rate(split)["a"].interval < 0.5 * rate(repeat)["a"].interval


def test_ranks_that_cannot_be_told_apart_overlap() -> None:
    assert rank_spans([(1600, 10), (1500, 10), (1495, 10), (1300, 10)]) == [(1, 1, 1), (2, 2, 3), (3, 2, 3), (4, 4, 4)]
    assert rank_spans([(1500, 10), (1500, 10)]) == [(1, 1, 2), (1, 1, 2)]


STUDENT = [(1, 12.7062), (10, 2.2281), (30, 2.0423), (31, 2.0395), (60, 2.0003), (120, 1.9799)]


@pytest.mark.parametrize(("freedom", "value"), STUDENT)
def test_quantiles_of_student(freedom: int, value: float) -> None:
    assert t_quantile(freedom) == pytest.approx(value, abs=1e-4)


def test_a_weak_pool_is_pulled_together_and_a_wide_one_is_not() -> None:
    """Empirical Bayes: the spread of the pool is fitted."""
    chance = random.Random(5)
    equal = rate(simulate([0.0] * 16, 2, 5, chance))
    wide = rate(simulate([float(s) for s in range(-400, 400, 50)], 2, 20, chance))
    assert max(abs(row.rating - 1500) for row in equal.values()) < 90
    assert max(row.rating for row in wide.values()) - min(row.rating for row in wide.values()) > 600


@pytest.mark.parametrize(("seats", "luck"), [(2, 0.0), (2, 0.8), (4, 0.5)])
def test_the_interval_covers_the_truth_in_95_of_100(seats: int, luck: float) -> None:
    """Pools of 20 versions, about 40 blocks each, truth known; `luck` is the share that sticks to (block, seat)."""
    inside = total = 0
    for pool in range(40):
        chance = random.Random(1000 * seats + pool)
        truth = [chance.gauss(0, 150) for _ in range(20)]
        mean = math.fsum(truth) / len(truth)
        rows = rate(simulate(truth, seats, 40, chance, luck))
        for bot, strength in enumerate(truth):
            row = rows[f"{bot:02}"]
            inside += abs(row.rating - 1500 - (strength - mean)) <= row.interval
            total += 1
    assert 0.93 <= inside / total <= 0.97


def test_more_matches_bring_the_ratings_to_the_truth() -> None:
    chance = random.Random(9)
    truth = [chance.gauss(0, 150) for _ in range(12)]
    few, many = rate(simulate(truth, 3, 5, chance)), rate(simulate(truth, 3, 120, chance))
    mean = math.fsum(truth) / len(truth)

    def error(rows: dict[str, Rated]) -> float:
        return math.sqrt(math.fsum((rows[f"{b:02}"].rating - 1500 - (t - mean)) ** 2 for b, t in enumerate(truth)) / len(truth))

    assert error(many) < 25 < error(few)


def duels(names: str, wins: int, losses: int, block: str = "1") -> Log:
    a, b = names
    return [RatedMatch(f"{block}/{i}", (a, b), (1, 2) if i < wins else (2, 1)) for i in range(wins + losses)]


def simulate(truth: Sequence[float], seats: int, blocks: int, chance: random.Random, luck: float = 0.0) -> Log:
    """A log in which each version plays about `blocks` blocks. Every seat draws Gumbel noise, which makes the winner of a
    pair logistic in Elo; a share `luck` of its variance belongs to the seat and stays for all rotations of the block."""
    log: Log = []
    scale = 1 / bt.Q
    for block in range(len(truth) * blocks // seats):
        table = chance.sample(range(len(truth)), seats)
        deal = [_noise(chance) for _ in range(seats)]
        for rotation in range(seats):
            order = table[rotation:] + table[:rotation]
            drawn = [truth[b] + scale * _mixed(deal[s], _noise(chance), luck) for s, b in enumerate(order)]
            places = tuple(1 + sum(other > mine for other in drawn) for mine in drawn)
            log.append(RatedMatch(f"1/{block}", tuple(f"{b:02}" for b in order), places))
    return log


def _noise(chance: random.Random) -> float:
    """A normal draw; `_mixed` turns it into Gumbel noise."""
    return chance.gauss(0, 1)


def _mixed(shared: float, own: float, luck: float) -> float:
    """Two normal draws mixed to one, then given the Gumbel distribution through its quantile."""
    u = NormalDist().cdf(math.sqrt(luck) * shared + math.sqrt(1 - luck) * own)
    return -math.log(-math.log(min(max(u, 1e-12), 1 - 1e-12)))
