"""`bot check`: what it finds in bots that are wrong in every way."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hippodrome.bot import UsageError
from hippodrome.engine.clock import TimeControl
from hippodrome.engine.errors import FieldError
from hippodrome.games.registry import get_game
from hippodrome.workers.botfiles import read_bot
from hippodrome.workers.check import CheckReport, check_bot

GAME = get_game("antiquity")
CLOCK = TimeControl.parse("2s+100ms@10s")


def check(text: str, positions: int = 20, players: int = 2) -> CheckReport:
    return check_bot(read_bot(text), GAME, GAME.ruleset(players), positions=positions, clock=CLOCK)


def states(report: CheckReport) -> list[str]:
    return [line.state for line in report.lines]


def write(folder: Path, body: str, head: str = "") -> str:
    path = folder / "mine.py"
    text = f"import random\nfrom hippodrome.bot import bot\n{head}\n@bot\ndef mine(turn):\n    {body}\nmine.run()\n"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("players", [2, 3])
def test_a_good_bot_passes_everything(players: int) -> None:
    report = check("random", players=players)
    assert report.ok
    assert states(report) == ["ok"] * 5
    assert [line.name for line in report.lines] == ["start-up", "handshake", "20 positions", "clock", "same seed twice"]
    assert report.problems == ()


def test_an_illegal_answer_is_shown_with_its_position(tmp_path: Path) -> None:
    report = check(write(tmp_path, "return '8' if turn.number > 5 else turn.rng.choice(turn.legal)"))
    assert not report.ok
    assert states(report) == ["ok", "ok", "FAIL", "ok", "ok"]
    assert report.lines[2].text == "3 illegal_move"
    problem = report.problems[0]
    assert problem.decision > 5
    assert "'8' is not legal" in problem.report
    assert "mine.py, line" in problem.report
    assert problem.picture.startswith("Antiquity: seat 0 to move")
    assert check(write(tmp_path, "return '8' if turn.number > 5 else turn.rng.choice(turn.legal)")).problems == report.problems


def test_a_crash_is_shown_with_its_traceback(tmp_path: Path) -> None:
    report = check(write(tmp_path, "return turn.legal[999 if turn.number > 5 else 0]"))
    assert report.lines[2].text == "3 crash"
    assert "IndexError" in report.problems[0].report


def test_a_file_that_does_not_load_stops_the_check(tmp_path: Path) -> None:
    report = check(write(tmp_path, "return turn.legal[0]", head="import nunpy"))
    assert states(report) == ["FAIL", "not run", "not run", "not run", "not run"]
    assert "No module named 'nunpy'" in report.problems[0].report


def test_a_bot_that_cannot_answer_at_all_fails_the_handshake(tmp_path: Path) -> None:
    report = check(write(tmp_path, "return None"))
    assert states(report) == ["ok", "FAIL", "not run", "not run", "not run"]


def test_a_bot_that_hangs_is_too_late(tmp_path: Path) -> None:
    path = write(tmp_path, "import time; turn.number > 5 and time.sleep(3.5); return turn.legal[0]")
    report = check_bot(read_bot(path), GAME, GAME.ruleset(2), positions=10, clock=TimeControl.parse("300ms+0s"))
    assert states(report)[2:4] == ["FAIL", "FAIL"]
    assert "timeout" in report.lines[2].text
    assert "too late" in report.lines[3].text


def test_a_bot_with_its_own_randomness_is_warned_not_failed(tmp_path: Path) -> None:
    report = check(write(tmp_path, "return random.choice(turn.legal)"))
    assert report.ok
    assert states(report) == ["ok", "ok", "ok", "ok", "warning"]
    assert "draw from turn.rng" in report.lines[4].text


def test_a_program_is_checked_over_the_wire() -> None:
    report = check(f"cmd:{sys.executable} -m hippodrome.bot hippodrome.bots.random -q")
    assert states(report) == ["ok"] * 5


def test_a_program_that_never_connects_fails_at_start_up() -> None:
    report = check("cmd:false")
    assert states(report)[:2] == ["FAIL", "not run"]
    assert "exit status 1 before it connected" in report.lines[0].text


def test_a_bot_that_is_not_there_is_an_error_of_usage() -> None:
    with pytest.raises(UsageError, match="no file"):
        check("missing.py")
    with pytest.raises(FieldError, match="positions: 0 is too few"):
        check("random", positions=0)
