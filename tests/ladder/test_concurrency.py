"""Real processes on real databases: nothing is lost, nothing is counted twice, wherever a process dies."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from hippodrome.ladder import accounts, lifecycle, queries, refit, tournaments
from hippodrome.ladder.db import Database
from hippodrome.ladder.models import TABLES

PROGRAM = str(Path(__file__).with_name("worker_program.py"))
PATIENCE = 200


def start(url: str, owner: str, *mode: str) -> subprocess.Popen[str]:
    command = [sys.executable, PROGRAM, url, owner, *mode]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(processes: list[subprocess.Popen[str]]) -> list[int]:
    """What each has stored, after they all ended well."""
    told = [process.communicate(timeout=PATIENCE) for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), [errors for _, errors in told]
    return [int(output) for output, _ in told]


def check(database: Database, matches: int) -> None:
    """Every match has one result and one event, counted once on every page, and all tables agree."""
    with database.read() as session:
        for table in ("match", "result", "rating_event"):
            assert session.execute(select(func.count()).select_from(TABLES[table])).scalar_one() == matches, table
        page = queries.tournament(session, "spring")
        assert page.state == "finished"
        assert sum(standing.points for standing in page.standings) == matches
        assert sum(standing.matches for standing in page.standings) == 2 * matches
        assert refit.audit(session) == []
    with database.write() as session:
        assert refit.refit(session, "antiquity-2p") == matches
        assert refit.audit(session) == []


def test_six_processes_lose_and_double_nothing(club: Any, database_url: str) -> None:
    club.tournament("ada", "bob", "cyd", "dan", blocks=20)
    stored = finish([start(database_url, f"worker{n}", "ratings" if n == 0 else "play") for n in range(6)])
    assert sum(stored) == 240
    assert sum(count > 0 for count in stored) > 1, "several processes took part"
    check(club.database, 240)


def test_processes_killed_between_any_two_statements_leave_all_or_nothing(club: Any, database_url: str) -> None:
    """Eight processes die, each at another statement of its transactions, commits included; then one goes on to the end."""
    club.tournament("ada", "bob", "cyd", "dan", blocks=1)
    chance = random.Random(7)
    for group in range(2):
        points = [chance.randrange(1, 60) for _ in range(4)]
        dying = [start(database_url, f"victim{group}-{n}", "die", str(point)) for n, point in enumerate(points)]
        for process in dying:
            process.communicate(timeout=PATIENCE)
            assert process.returncode in (0, -9)
        with club.database.read() as session:
            assert refit.audit(session) == []
    with club.database.read() as session:
        attempts = session.execute(select(func.count()).select_from(TABLES["attempt"])).scalar_one()
        assert attempts > 0, "they did get to work"
    for match in parked(club):
        with club.database.write() as session:
            lifecycle.unpark(session, match)
    finish([start(database_url, "survivor", "play")])
    check(club.database, 12)


def parked(club: Any) -> list[str]:
    """Matches that met five deaths: an operator lets them go on."""
    with club.database.read() as session:
        return [page.name.removeprefix("matches/") for page in queries.list_matches(session, state="parked").items]


def test_the_last_two_results_at_once_finish_the_tournament(club: Any, database_url: str) -> None:
    club.tournament("ada", "bob")
    assert sum(finish([start(database_url, f"worker{n}", "play") for n in range(2)])) == 2
    check(club.database, 2)


def test_one_name_asked_for_at_once_is_given_once(database: Database, database_url: str, tmp_path: Path) -> None:
    program = tmp_path / "create.py"
    program.write_text(
        "import sys\n"
        "from hippodrome.ladder import accounts\n"
        "from hippodrome.ladder.db import open_database\n"
        "from hippodrome.ladder.errors import AlreadyExists\n"
        "database = open_database(sys.argv[1])\n"
        "try:\n"
        "    with database.write() as session:\n"
        "        accounts.create_account(session, name='ada')\n"
        "    print(1)\n"
        "except AlreadyExists:\n"
        "    print(0)\n"
    )
    command = [sys.executable, str(program), database_url]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert sum(finish(started)) == 1
    with database.read() as session:
        assert [account.name for account in accounts.list_accounts(session)] == ["ada"]


def test_cancelling_in_the_middle_of_play_neither_hangs_nor_loses(club: Any, database_url: str) -> None:
    club.tournament("ada", "bob", "cyd", "dan", blocks=5)
    club.claim(club.due()[-1], lease=3600)  # held back, so that the others cannot finish the tournament before it is cancelled
    started = [start(database_url, f"worker{n}", "play") for n in range(3)]
    deadline = time.monotonic() + PATIENCE
    while done(club) < 5:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    with club.database.write() as session:
        tournaments.cancel(session, "spring")
    before = sum(finish(started))
    assert done(club) == before
    with club.database.write() as session:
        assert refit.audit(session) == []
        tournaments.resume(session, "spring")
    after = finish([start(database_url, "again", "play")])
    assert before + sum(after) == 60
    check(club.database, 60)


def done(club: Any) -> int:
    with club.database.read() as session:
        return tournaments.progress(session, "spring").done


def test_upgrades_at_once_agree(empty_database_url: str) -> None:
    program = "import sys; from hippodrome.ladder import db; db.upgrade(sys.argv[1]); db.check_schema(sys.argv[1]); print(1)"
    command = [sys.executable, "-c", program, empty_database_url]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert finish(started) == [1] * 4
