"""The shipped bots are as strong as they say, and never fail. Seeds are fixed and no bot looks at the clock while there is
plenty, so each series is the same in every run."""

from __future__ import annotations

import pytest

from hippodrome.bots import BUILTINS
from hippodrome.engine.clock import TimeControl
from hippodrome.engine.game import Ruleset
from hippodrome.games.registry import GAMES, get_game, read_ruleset
from hippodrome.workers.botfiles import read_bots
from hippodrome.workers.local_pool import play_many
from hippodrome.workers.local_series import Row, Series, SeriesSpec

PLENTY = TimeControl.parse("3600s+1s@60s")
TWO_PLAYERS = [f"{name}-2p" for name in GAMES]
EVERY_TABLE = [f"{name}-{players}p" for name in GAMES for players in get_game(name).players]


def rows(ruleset: Ruleset, bots: list[str], games: int, seed: str) -> list[Row]:
    spec = SeriesSpec(ruleset, read_bots(bots), games, PLENTY, seed=seed)
    series = Series(spec)
    for planned, played in play_many(spec):
        series.add(planned, played)
    return series.rows()


@pytest.mark.parametrize("ruleset", TWO_PLAYERS)
def test_greedy_beats_random_nine_times_in_ten(ruleset: str) -> None:
    greedy, random = rows(read_ruleset(ruleset), ["greedy", "random"], 40, "greedy against random")
    assert greedy.score >= 0.9, greedy
    assert not greedy.faults
    assert not random.faults


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("ruleset", TWO_PLAYERS)
def test_mcts_beats_greedy(ruleset: str) -> None:
    mcts, greedy = rows(read_ruleset(ruleset), ["mcts", "greedy"], 12, "mcts against greedy")
    assert mcts.score > 0.5, mcts
    assert not mcts.faults
    assert not greedy.faults


@pytest.mark.parametrize("ruleset", EVERY_TABLE)
def test_every_reference_bot_plays_at_every_table_without_a_fault(ruleset: str) -> None:
    checked = read_ruleset(ruleset)
    names = [name for name in BUILTINS if name != "mcts"] * 2
    for first in (0, 1):
        for row in rows(checked, names[first : first + checked.players], 1, "every table"):
            assert not row.faults, row
