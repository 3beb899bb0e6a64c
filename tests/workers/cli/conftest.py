"""The command line in this process, an installation with played matches, and its server."""

from __future__ import annotations

import asyncio
import json
import os
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hippodrome.engine.referee import MatchSpec, Receipt, Referee
from hippodrome.games.registry import get_game
from hippodrome.ladder import accounts, bots, lifecycle, refit, tournaments
from hippodrome.ladder.api.server import Server, serve
from hippodrome.ladder.db import Database, open_database, upgrade
from hippodrome.ladder.models import utcnow
from hippodrome.ladder.settings import Settings
from hippodrome.workers.cli import run


@dataclass(frozen=True)
class Said:
    """What a command line gave: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Said]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs a command line in an empty folder, with a home of its own, 80 columns wide."""
    for name in list(os.environ):
        if name.startswith("HIPPODROME_") and not name.startswith("HIPPODROME_TEST_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HIPPODROME_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def said(*words: str) -> Said:
        capsys.readouterr()
        code = run(words)
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return said


def play(spec: MatchSpec, sure: bool = True) -> Referee:
    """A match of random moves; seat 0 sends garbage at its fifth decision unless `sure`."""
    referee, source = Referee(spec, get_game(spec.ruleset.game)), random.Random(spec.seed)
    while (asked := referee.decision) is not None:
        garbage = not sure and asked.seat == 0 and asked.number > 8
        now = asked.number * 1000
        referee.answer("nonsense" if garbage else source.choice(asked.legal).text, Receipt(now, now + 300))
    return referee


def fill(database: Database) -> dict[str, str]:
    """Bots quokka (two versions), wombat and dingo; the finished tournament `spring`, `summer` half played, `autumn` stopped.
    Account -> secret."""
    with database.write() as session:
        secrets = {
            name: accounts.create_account(session, name=name, admin=name == "root")[1] for name in ("root", "ada", "bob")
        }
        ada, bob = (accounts.get_account(session, name) for name in ("ada", "bob"))
        quokka = bots.create_bot(session, account=ada, name="quokka", description="quick")
        bots.create_version(session, quokka, description="quicker")
        for name in ("wombat", "dingo"):
            bots.create_bot(session, account=bob, name=name)
    _plan(database, "spring", "antiquity-2p", "quokka", "wombat", "dingo", blocks=2)
    _play_due(database, keep_open=0)
    _plan(database, "summer", "antiquity-2p", "quokka", "wombat", blocks=2)
    _play_due(database, keep_open=1)
    _plan(database, "autumn", "antiquity-3p", "quokka", "wombat", "dingo")
    with database.write() as session:
        tournaments.cancel(session, "autumn")
        refit.refit(session, "antiquity-2p")
    return secrets


def _plan(database: Database, name: str, ruleset: str, *entries: str, blocks: int = 1) -> None:
    with database.write() as session:
        ada = accounts.get_account(session, "ada")
        tournaments.create_tournament(
            session, name=name, ruleset=ruleset, entries=entries, blocks=blocks, seed=name, account=ada
        )


def _play_due(database: Database, keep_open: int) -> None:
    with database.read() as session:
        todo = lifecycle.due(session, utcnow(), 1000)
    for number, match in enumerate(todo[: len(todo) - keep_open]):
        with database.write() as session:
            claimed = lifecycle.claim(session, match, "test", utcnow(), 60)
            assert isinstance(claimed, lifecycle.Claim)
            record = play(claimed.spec, sure=number != 3).record
            assert record is not None
            assert lifecycle.finish(session, match, claimed.fence, record) == "stored"


@dataclass(frozen=True)
class Installation:
    """A filled database and the secrets of its accounts."""

    url: str
    secrets: dict[str, str]


@pytest.fixture(scope="session")
def _filled(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    url = f"sqlite:///{tmp_path_factory.mktemp('filled') / 'hippodrome.db'}"
    upgrade(url)
    database = open_database(url)
    try:
        return Installation(url, fill(database))
    finally:
        database.close()


@pytest.fixture
def installation(cli: Cli, _filled: Installation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Installation:
    """A copy of the filled installation, which the command line then uses."""
    copy = tmp_path / "filled.db"
    copy.write_bytes(Path(_filled.url.removeprefix("sqlite:///")).read_bytes())
    url = f"sqlite:///{copy}"
    monkeypatch.setenv("HIPPODROME_DATABASE_URL", url)
    return Installation(url, _filled.secrets)


class ServerThread:
    """A control API in a thread of its own."""

    def __init__(self, settings: Settings) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server: Server = asyncio.run_coroutine_threadsafe(serve(settings), self._loop).result(60)
        self.address = self._server.address

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._server.stop(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture
def server(installation: Installation, tmp_path: Path) -> Iterator[str]:
    """The address of a control API on the installation."""
    running = ServerThread(
        Settings.load({"HIPPODROME_HOME": str(tmp_path / "home"), "HIPPODROME_DATABASE_URL": installation.url})
    )
    yield running.address
    running.stop()


@pytest.fixture(params=["database", "server"])
def source(request: pytest.FixtureRequest, installation: Installation, monkeypatch: pytest.MonkeyPatch) -> str:
    """The command line on the installation's database, and on its server with an administrator's token."""
    if request.param == "server":
        monkeypatch.setenv("HIPPODROME_SERVER", request.getfixturevalue("server"))
        monkeypatch.setenv("HIPPODROME_TOKEN", installation.secrets["root"])
    return str(request.param)
