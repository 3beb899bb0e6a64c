"""A service of real processes without its pages: broker, engine node, workers, reconciler and bots, under the supervisor."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from hippodrome.engine.tickets import Ticket, issue
from hippodrome.ladder import refit, tournaments
from hippodrome.ladder.accounts import get_account
from hippodrome.ladder.db import Database, open_database
from hippodrome.ladder.models import TABLES
from hippodrome.ladder.settings import Settings
from hippodrome.workers.house import OPERATOR
from hippodrome.workers.processes import python_module, start_tied, wait_until
from hippodrome.workers.programs import HouseBot, Options, Program, builtin_bots, programs
from hippodrome.workers.server import read_server
from hippodrome.workers.supervise import Table, service

PATIENCE = 60.0
"""Seconds after which a thing that should have happened has not; a busy machine needs a fraction of it."""


def ticketed_bot(name: str, builtin: str, options: Options, settings: Settings) -> Program:
    """A built-in bot that is sent straight to the engine node, so that no control API is needed."""
    ticket = issue(settings.secret, Ticket(name, f"bots/{name}/versions/1", int(time.time()) + 3600))
    env = {"HIPPODROME_ADDRESS": options.engine, "HIPPODROME_TICKET": ticket}
    return Program(f"bot-{name}", 2, python_module("hippodrome.bot", builtin_bots()[builtin]), lambda: True, env)


def bare_table(absent: tuple[str, ...]) -> Table:
    """The programs of `up` without api, web and the bots that need them; the bots get tickets, but `absent` ones stay away."""

    def table(options: Options, settings: Settings, _token: str) -> list[Program]:
        kept = [p for p in programs(replace(options, bots=()), settings, "") if p.name not in ("api", "web")]
        here = [bot for bot in options.bots if bot.name not in absent]
        return kept + [ticketed_bot(bot.name, bot.builtin, options, settings) for bot in here]

    return table


@dataclass
class Rig:
    """A running service and what a test does with it."""

    settings: Settings
    options: Options
    database: Database

    def pid(self, name: str) -> int:
        """The process id of a program, once it runs."""
        found: list[int] = []

        def known() -> bool:
            server = read_server(self.settings.home)
            pid = server.pids.get(name) if server else None
            found[:] = [pid] if pid and alive(pid) else []
            return bool(found)

        assert wait_until(known, PATIENCE), f"{name} does not run"
        return found[0]

    def kill(self, name: str, number: int = signal.SIGKILL) -> int:
        """Send a signal to a program; its process id."""
        pid = self.pid(name)
        os.kill(pid, number)
        return pid

    def start_bot(self, name: str, builtin: str = "random") -> subprocess.Popen[bytes]:
        """A bot that was absent comes; whoever starts it ends it."""
        server = read_server(self.settings.home)
        assert server
        program = ticketed_bot(name, builtin, Options(engine=server.engines[0]), self.settings)
        return start_tied(program.command, self.settings.home / "log" / f"late-{name}.log", os.environ | dict(program.env))

    def plan(self, blocks: int, **more: Any) -> str:
        """A tournament of the two random bots."""
        asked: dict[str, Any] = {"ruleset": "antiquity-2p", "entries": ("random", "random-2"), "blocks": blocks} | more
        with self.database.write() as session:
            return tournaments.create_tournament(session, account=get_account(session, OPERATOR), **asked).name

    def progress(self, name: str) -> tournaments.Progress:
        with self.database.read() as session:
            return tournaments.progress(session, name)

    def wait_done(self, name: str, matches: int) -> None:
        """Until at least `matches` matches of the tournament have a result."""
        assert wait_until(lambda: self.progress(name).done >= matches, PATIENCE, 0.05), self.progress(name)

    def rows(self, table: str) -> list[Any]:
        with self.database.read() as session:
            return list(session.execute(TABLES[table].select()))

    def check_finished(self, name: str, matches: int) -> None:
        """Every match has exactly one result, none blames a bot, and the ratings are what the results give."""
        self.wait_done(name, matches)
        assert self.progress(name) == tournaments.Progress(pending=0, leased=0, done=matches, parked=0, cancelled=0)
        results = self.rows("result")
        assert len(results) == len({row.match_id for row in results}) == matches
        assert {row.ending for row in results} == {"rules"}
        assert sorted(row.match_id for row in self.rows("rating_event")) == sorted(row.match_id for row in results)
        completed = [row.match_id for row in self.rows("attempt") if row.outcome == "completed"]
        assert sorted(completed) == sorted(row.match_id for row in results)
        assert wait_until(lambda: not self._refit_due(), PATIENCE)
        with self.database.read() as session:
            assert refit.audit(session) == []

    def _refit_due(self) -> bool:
        with self.database.read() as session:
            return bool(refit.refit_due(session))


def alive(pid: int) -> bool:
    """Whether the process runs; one that is dead but not reaped does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def processes_of(home: Path) -> list[str]:
    """The command lines of all processes that have to do with a home."""
    found = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
            mine = str(home) in " ".join(words) or process.environ().get("HIPPODROME_HOME") == str(home)
            if mine and process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(words))
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def show_logs(home: Path) -> None:
    """What the programs said last, for whoever reads the failure."""
    for log in sorted((home / "log").glob("*.log")):
        print(f"--- {log.name}", *log.read_text(errors="replace").splitlines()[-25:], sep="\n")


@pytest.fixture
def home() -> Iterator[Path]:
    """A short folder: a unix socket lies in it."""
    folder = Path(tempfile.mkdtemp(prefix="hd-"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def processes_left(home: Path) -> Callable[[], list[str]]:
    """The command lines of the processes that still have to do with the home."""
    return lambda: processes_of(home)


RunRig = Callable[..., AbstractContextManager[Rig]]


@pytest.fixture
def run_rig(home: Path, monkeypatch: pytest.MonkeyPatch) -> RunRig:
    """`run_rig(database_url, bots=.., lease=.., slots=..)`: a service while the block runs, nothing is left after it."""
    for name in list(os.environ):
        if name.startswith("HIPPODROME_") and not name.startswith("HIPPODROME_TEST_"):
            monkeypatch.delenv(name)

    @contextmanager
    def run(
        database_url: str = "",
        bots: tuple[str, ...] = ("random", "random-2=random"),
        lease: float = 2.0,
        absent: tuple[str, ...] = (),
        **options: Any,
    ) -> Iterator[Rig]:
        env = {"HIPPODROME_HOME": str(home), "HIPPODROME_DATABASE_URL": database_url, "HIPPODROME_LEASE": f"{lease:g}"}
        settings = Settings.load(env)
        asked = Options(web="127.0.0.1:0", bots=tuple(HouseBot.parse(text) for text in bots), **options)
        with service(asked, settings, bare_table(absent)):
            rig = Rig(settings, asked, open_database(settings.database_url))
            try:
                yield rig
            except BaseException:
                show_logs(home)
                raise
            finally:
                rig.database.close()
        assert wait_until(lambda: not processes_of(home), 10), processes_of(home)

    return run
