"""An installation with results: tournaments planned, played with the referee and finished by the real use cases."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import httpx
import pytest
from fastapi import FastAPI
from sqlmodel import Session

from hippodrome.engine.clock import TimeControl
from hippodrome.engine.record import Record
from hippodrome.engine.referee import MatchSpec, Receipt, Referee
from hippodrome.games.registry import get_game
from hippodrome.ladder import accounts, bots, lifecycle, queries, refit, tournaments
from hippodrome.ladder.db import Database, open_database, upgrade
from hippodrome.ladder.models import utcnow
from hippodrome.ladder.settings import Settings
from hippodrome.ladder.web import create_app

CLOCK = TimeControl(bank=60_000_000, increment=100_000)
SETTLED = "antiquity-2p.unused=petra"
"""The ladder with enough matches for ranks."""
NAMES = ("random", "greedy", "quokka", "wombat", "numbat")


def play(spec: MatchSpec, luck: random.Random, failing: str = "", at: int = 3) -> Record:
    """A whole match of random moves; the bot called `failing` gives an illegal answer at its decision `at`."""
    referee, now, asked = Referee(spec, get_game(spec.ruleset.game)), 0, 0
    while (decision := referee.decision) is not None:
        took = luck.randrange(200, 90_000)
        text = luck.choice(decision.legal).text
        if spec.seats[decision.seat].bot == failing:
            asked += 1
            text = "take the money <b>and run</b>" if asked == at else text
        referee.answer(text, Receipt(now, now + took))
        now += took
    assert referee.record is not None
    return referee.record


@dataclass
class Town:
    """A database with results. `running` names a tournament under way with a running, a parked and pending matches."""

    SETTLED: ClassVar[str] = SETTLED
    settings: Settings
    database: Database
    done: list[str] = field(default_factory=list)
    faulty: list[str] = field(default_factory=list)
    running_match: str = ""
    kept_back: str = ""
    """A match that is done while one of its block is running."""
    parked_match: str = ""
    pending_match: str = ""
    luck: random.Random = field(default_factory=lambda: random.Random(7))

    def plan(self, name: str, ruleset: str, entries: tuple[str, ...], blocks: int = 1, rated: bool = True) -> list[str]:
        """The ids of the matches of a new tournament, in schedule order."""
        with self.database.write() as session:
            house = accounts.ensure_account(session, name="house")
            tournaments.create_tournament(
                session, name=name, ruleset=ruleset, entries=entries, blocks=blocks, clock=CLOCK, rated=rated,
                account=house, seed=name
            )  # fmt: skip
        return self.open_matches(name)

    def open_matches(self, name: str) -> list[str]:
        """The ids of the matches of a tournament that are not done, in schedule order."""
        with self.database.read() as session:
            found = queries.list_matches(session, tournament=name, page_size=1000).items
        return [match.name.removeprefix("matches/") for match in reversed(found) if match.state != "done"]

    def claim(self, session: Session, match: str) -> lifecycle.Claim:
        """A claim of the match."""
        claim = lifecycle.claim(session, match, "test", utcnow(), 600.0)
        assert isinstance(claim, lifecycle.Claim), claim
        return claim

    def finish(self, session: Session, match: str, failing: str = "", at: int = 3) -> None:
        """Play the match and store its result."""
        claim = self.claim(session, match)
        record = play(claim.spec, self.luck, failing, at)
        assert lifecycle.finish(session, match, claim.fence, record) == "stored"
        self.done.append(match)
        if failing in [seat.bot for seat in claim.spec.seats]:
            self.faulty.append(match)

    def hold(self, name: str, ruleset: str, entries: tuple[str, ...], failing: str = "", rated: bool = True) -> None:
        """A finished tournament."""
        for match in self.plan(name, ruleset, entries, rated=rated):
            with self.database.write() as session:
                self.finish(session, match, failing)

    def fill(self) -> Town:
        """Two accounts, five bots, three finished tournaments, one running and one cancelled."""
        with self.database.write() as session:
            house, ada = accounts.ensure_account(session, name="house"), accounts.ensure_account(session, name="ada")
            for name in NAMES:
                owner = house if name in ("random", "greedy") else ada
                bots.create_bot(session, account=owner, name=name, description=f"The bot {name} & <i>friends</i>")
            bots.create_version(session, bots.get_bot(session, "quokka"), description="plays <b>better</b>")
        self.hold("spring", "antiquity-2p", NAMES, failing="wombat")
        self.hold("trio", "antiquity-3p", NAMES[:3])
        self.hold("four", "antiquity-4p.power=true", NAMES[:4], failing="quokka", rated=False)
        self._settle()
        self._start()
        self.plan("stopped", "antiquity-2p", NAMES[:2])
        with self.database.write() as session:
            tournaments.cancel(session, "stopped")
            for ladder in ("antiquity-2p", "antiquity-3p", SETTLED):
                refit.refit(session, ladder)
        return self

    def _settle(self) -> None:
        """Enough short matches for ranks: numbat fails at once in most of its own, so it comes out far behind."""
        entries = ("greedy", "quokka", "numbat")
        planned = self.plan("marathon", SETTLED, entries, blocks=21)
        with self.database.write() as session:
            for match in planned:
                seats = [seat.bot_version.split("/")[1] for seat in queries.match(session, match).seats]
                strong, weak = sorted(seats, key=entries.index)
                fair = {strong, weak} == {"greedy", "quokka"}
                self.finish(session, match, failing=weak if self.luck.random() < (0.5 if fair else 0.8) else strong, at=1)

    def _start(self) -> None:
        first, self.running_match, self.parked_match, self.pending_match, *_ = self.plan("summer", "antiquity-2p", NAMES)
        with self.database.write() as session:
            self.finish(session, first)
            self.kept_back = self.done.pop()
            claim = self.claim(session, self.running_match)
            assert lifecycle.heartbeat(session, self.running_match, claim.fence, 17, utcnow())
            claim = self.claim(session, self.pending_match)
            lifecycle.wait(session, self.pending_match, claim.fence, [claim.spec.seats[0].version], utcnow())
        for _ in range(lifecycle.STRIKES):
            with self.database.write() as session:
                claim = self.claim(session, self.parked_match)
                lifecycle.void(session, self.parked_match, claim.fence, "the engine was killed", counts_attempt=True)

    @contextmanager
    def served(self, *more: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
        """The base address and the process of a server of its own on a free port, ended afterwards."""
        file = self.settings.home / f"web-{time.monotonic_ns()}.address"
        command = [sys.executable, "-m", "hippodrome.ladder.web", "--listen", "127.0.0.1:0", "--address-file", str(file), *more]
        env = {
            "PATH": "/usr/bin:/bin",
            "HIPPODROME_HOME": str(self.settings.home),
            "HIPPODROME_DATABASE_URL": self.settings.database_url,
        }
        log = (self.settings.home / "web.log").open("a+")
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log, text=True)
        try:
            until = time.monotonic() + 60
            while not file.exists():
                assert process.poll() is None, (self.settings.home / "web.log").read_text()
                assert time.monotonic() < until, "no address after 60 s"
                time.sleep(0.02)
            yield f"http://{file.read_text().strip()}", process
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(30)
            log.close()

    def pages(self) -> list[str]:
        """One or more of every kind of page that is there."""
        done = self.done[0]
        return [
            "/", "/ladders", "/ladders/antiquity-2p", f"/ladders/{SETTLED}", "/bots", "/bots/quokka", "/bots/greedy",
            "/tournaments", "/tournaments/spring", "/tournaments/summer", "/tournaments/stopped", "/tournaments/four",
            "/matches", "/matches?bot=quokka&opponent=greedy", "/matches?tournament=trio", f"/matches/{done}",
            f"/matches/{done}?ply=0", f"/matches/{done}?ply=3", f"/matches/{self.faulty[0]}", f"/matches/{self.running_match}",
            f"/matches/{self.kept_back}",
            f"/matches/{self.parked_match}", f"/matches/{self.pending_match}", "/games", "/games/antiquity", "/api",
        ]  # fmt: skip

    def kinds(self) -> list[str]:
        """One of every kind of page, and of a match in every state."""
        twice = ("/ladders/antiquity-2p", "/bots/greedy", "/tournaments/stopped", "/matches", "/matches?tournament=trio")
        return [path for path in self.pages() if path not in twice and not path.endswith("?ply=0")]

    def answers(self) -> list[str]:
        """One or more of every kind of answer of the read API."""
        done = self.done[0]
        return [
            "/home", "/ladders", "/ladders/antiquity-2p", f"/ladders/{SETTLED}", "/bots", "/bots/quokka",
            "/bots/quokka/head-to-head",
            "/tournaments", "/tournaments/spring", "/tournaments/summer", "/matches", "/matches?bot=quokka&opponent=greedy",
            f"/matches/{done}", f"/matches/{self.running_match}", f"/matches/{done}/moves", f"/matches/{done}/board",
            f"/matches/{done}/board?ply=2", f"/matches/{done}/record", "/games", "/games/antiquity",
        ]  # fmt: skip


def settings_for(url: str, home: Path) -> Settings:
    """Settings of an installation at `home` with its database at `url`."""
    return Settings.load({"HIPPODROME_HOME": str(home), "HIPPODROME_DATABASE_URL": url})


def open_town(url: str, home: Path) -> Town:
    """A filled town in the empty database at `url`."""
    upgrade(url)
    return Town(settings_for(url, home), open_database(url)).fill()


@pytest.fixture(scope="session")
def sqlite_town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    """A filled installation on SQLite; tests only read it."""
    home = tmp_path_factory.mktemp("home")
    filled = open_town(f"sqlite:///{home / 'hippodrome.db'}", home)
    yield filled
    filled.database.close()


@pytest.fixture(scope="session")
def postgres_town(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    """A filled installation on PostgreSQL; tests only read it."""
    with request.getfixturevalue("postgres").database() as url:
        filled = open_town(url, tmp_path_factory.mktemp("home"))
        yield filled
        filled.database.close()


@pytest.fixture
def fresh_town(tmp_path: Path) -> Iterator[Town]:
    """An installation of one test, with a running tournament `live` of two matches."""
    url = f"sqlite:///{tmp_path / 'hippodrome.db'}"
    upgrade(url)
    fresh = Town(settings_for(url, tmp_path), open_database(url))
    with fresh.database.write() as session:
        house = accounts.ensure_account(session, name="house")
        for name in NAMES[:2]:
            bots.create_bot(session, account=house, name=name)
    fresh.plan("live", "antiquity-2p", NAMES[:2])
    yield fresh
    fresh.database.close()


@pytest.fixture(params=["sqlite_town", "postgres_town"])
def town(request: pytest.FixtureRequest) -> Town:
    """A filled installation, on SQLite and on PostgreSQL."""
    found: Town = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def app(town: Town) -> FastAPI:
    """The application over the town."""
    return create_app(town.settings)


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """Asks the application in this process; an error of the application is an answer 500, as it is for a browser."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://test") as asking:
        yield asking


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the browser; without one its tests are skipped on a developer's machine and fail in CI."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None and os.environ.get("CI"):
        pytest.fail("no chromium; fix: apt-get install chromium", pytrace=False)
    if found is None:
        pytest.skip("no chromium; install it to run the browser tests")
    return found
