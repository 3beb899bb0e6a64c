"""Series of local matches: the plan, the numbers, several processes, programs."""

from __future__ import annotations

import math
import os
import signal
import sys
from pathlib import Path

import pytest

from hippodrome.engine.errors import FieldError, HippodromeError
from hippodrome.engine.record import loads
from hippodrome.engine.referee import Policy
from hippodrome.engine.verify import verify
from hippodrome.games.registry import get_game
from hippodrome.workers.botfiles import read_bots
from hippodrome.workers.local import Played
from hippodrome.workers.local_node import ProgramFailed
from hippodrome.workers.local_pool import ProcessDied, play_many
from hippodrome.workers.local_series import Elo, Planned, Series, SeriesSpec, elo_of, plan, save_record

GAME = get_game("antiquity")
PROGRAM = f"cmd:{sys.executable} -m hippodrome.bot hippodrome.bots.random -q"


def series(*bots: str, games: int = 4, **more: object) -> SeriesSpec:
    return SeriesSpec(GAME.ruleset(len(bots)), read_bots(bots), games, seed="s", **more)  # type: ignore[arg-type]


def moves(played: Played) -> list[str]:
    return [line["move"] for line in played.record.moves]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_block_shares_a_seed_and_gives_every_bot_every_seat(players: int) -> None:
    planned = list(plan(series(*["random"] * players, games=2 * players)))
    for block in (planned[:players], planned[players:]):
        assert len({one.spec.seed for one in block}) == 1
        for seat in range(players):
            assert sorted(one.order[seat] for one in block) == list(range(players))
    assert planned[0].spec.seed != planned[-1].spec.seed
    assert [one.spec.match for one in planned[:2]] == ["local/1", "local/2"]
    names = [one.name for one in read_bots(["random"] * players)]
    assert [sitting.bot for sitting in planned[1].spec.seats] == [names[bot] for bot in planned[1].order]


def test_a_series_counts_wins_points_and_times() -> None:
    results = Series(series("random", "random", games=6))
    for planned, played in play_many(results.spec):
        results.add(planned, played)
    rows = results.rows()
    assert [row.bot for row in rows] == ["random", "random-2"]
    assert sum(row.wins for row in rows) + sum(row.shared for row in rows) / 2 == 6
    assert sum(row.points for row in rows) == pytest.approx(6)
    assert all(row.games == 6 and row.faults == {} and row.slowest_us is not None for row in rows)
    assert results.troubles == []


def test_faults_are_counted_and_troubles_told(tmp_path: Path) -> None:
    path = tmp_path / "falls.py"
    path.write_text("from hippodrome.bot import bot\n@bot\ndef falls(turn):\n    return turn.legal[999]\n", encoding="utf-8")
    results = Series(series(str(path), "random", games=4))
    for planned, played in play_many(results.spec):
        results.add(planned, played)
    falls, other = results.rows()
    assert (falls.faults, falls.wins, falls.score) == ({"crash": 4}, 0, 0.0)
    assert (other.wins, other.elo.value) == (4, None)
    assert other.elo.low is not None
    assert {(bot, number) for bot, number, _ in results.troubles} == {("falls", n) for n in (1, 2, 3, 4)}


def test_several_processes_give_the_same_matches_in_the_same_order() -> None:
    spec = series("random", "random", games=6)
    alone = [(one.number, moves(played)) for one, played in play_many(spec)]
    assert [(one.number, moves(played)) for one, played in play_many(spec, jobs=2)] == alone
    assert [number for number, _ in alone] == [1, 2, 3, 4, 5, 6]


def test_a_series_may_be_left_early() -> None:
    matches = play_many(series("random", "random", games=1000), jobs=2)
    assert next(matches)[0].number == 1
    matches.close()  # type: ignore[attr-defined]


def test_a_bot_that_ends_its_process_is_told_by_the_status(tmp_path: Path) -> None:
    path = tmp_path / "leaves.py"
    path.write_text("import os\nfrom hippodrome.bot import bot\n@bot\ndef leaves(turn):\n    os._exit(7)\n", encoding="utf-8")
    with pytest.raises(ProcessDied, match=r"local/\d: the process that played it ended with exit status 7; fix:"):
        list(play_many(series(str(path), "random", games=4), jobs=2))


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (SeriesSpec(GAME.ruleset(3), read_bots(["random", "random"])), "bots: 2 given for antiquity-3p; fix: name 3 bots"),
        (series("random", "random", games=0), "games: 0 is too few"),
        (series("cmd:no-such-program", "random"), "bot: no program 'no-such-program'; fix:"),
    ],
)
def test_a_wrong_series_is_told_with_the_fix(spec: SeriesSpec, problem: str) -> None:
    with pytest.raises(FieldError) as caught:
        list(play_many(spec))
    assert problem in str(caught.value)


def test_programs_play_the_same_matches_through_a_node_of_this_process() -> None:
    inside = [moves(played) for _, played in play_many(series("random", "random", games=2))]
    outside = list(play_many(series(PROGRAM, "random", games=2)))
    assert [moves(played) for _, played in outside] == inside
    for _, played in outside:
        verify(played.record, GAME)


def test_a_program_that_dies_is_a_crash_and_is_started_again_for_the_next_match(tmp_path: Path) -> None:
    path = tmp_path / "dies.py"
    body = "    if turn.number > 9: os.kill(os.getpid(), 9)\n    return turn.legal[0]\ndies.run()\n"
    path.write_text("import os\nfrom hippodrome.bot import bot\n@bot\ndef dies(turn):\n" + body, encoding="utf-8")
    results = Series(series(f"cmd:{sys.executable} {path} -q", "random", games=2))
    for planned, played in play_many(results.spec):
        results.add(planned, played)
        assert played.record.closing["end"] == "crash"
        assert "SIGKILL" in played.record.closing["reason"]
        assert planned.order[played.record.closing["faults"][0]["seat"]] == 0
    assert results.rows()[0].faults == {"crash": 2}


@pytest.mark.parametrize("program", ["false", "true"])
def test_a_program_that_never_connects_is_told_with_its_status(program: str) -> None:
    with pytest.raises(ProgramFailed, match=r"exit status \d before it connected; fix:"):
        list(play_many(series(f"cmd:{program}", "random")))


def test_no_program_outlives_the_series(tmp_path: Path) -> None:
    note, path = tmp_path / "pid", tmp_path / "notes.py"
    head = f"import os\nfrom hippodrome.bot import bot\nopen({str(note)!r}, 'w').write(str(os.getpid()))\n"
    path.write_text(head + "@bot\ndef notes(turn):\n    return turn.legal[0]\nnotes.run()\n", encoding="utf-8")
    list(play_many(series(f"cmd:{sys.executable} {path} -q", "random", games=1)))
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), signal.SIG_DFL)


def test_elo_is_the_plain_formula_and_its_interval_never_claims_certainty() -> None:
    assert elo_of([0.75] * 8, 0.75).value == pytest.approx(400 * math.log10(3))
    even = elo_of([0.5] * 100, 0.5)
    assert even.value == 0
    assert even.low == pytest.approx(-(even.high or 0))
    assert abs(even.high or 1000) < 25
    won = elo_of([1.0] * 5, 1.0)
    assert won.value is None
    assert won.high is None
    assert won.low is not None
    assert elo_of([], 0.5) == Elo(0, None, None)
    few, many = elo_of([0.4, 0.8] * 2, 0.6), elo_of([0.4, 0.8] * 50, 0.6)
    assert (few.low or 0) < (many.low or 0) < 0.5 * 400 < (few.high or 1000)


def test_records_are_written_one_file_a_match(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "records"
    files = [save_record(folder, planned, played) for planned, played in play_many(series("random", "random", games=2))]
    assert [path.name for path in files] == ["match-0001.jsonl", "match-0002.jsonl"]
    for path in files:
        verify(loads(path.read_text(encoding="ascii")), GAME)
    (tmp_path / "file").write_text("")
    for planned, played in play_many(series("random", "random", games=1)):
        with pytest.raises(FieldError, match=r"out: .*; fix: name a folder that can be written"):
            save_record(tmp_path / "file", planned, played)


def test_the_policy_and_clock_of_a_series_reach_its_matches() -> None:
    spec = series("random", "random", games=1, policy=Policy.parse("retry:2"))
    [(planned, played)] = play_many(spec)
    assert isinstance(planned, Planned)
    assert (played.record.header["policy"], played.record.header["clock"]) == ("retry:2", str(spec.clock))
    assert issubclass(ProcessDied, HippodromeError)
