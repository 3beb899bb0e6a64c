"""A node in this process or in one of its own, raw bots, and matches to play."""

from __future__ import annotations

import asyncio
import importlib.util
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hippodrome.engine import tickets, verify
from hippodrome.engine.clock import TimeControl
from hippodrome.engine.record import Record
from hippodrome.engine.referee import MatchSpec, Policy, SeatSpec
from hippodrome.games.registry import get_game, read_ruleset
from hippodrome.service.config import NodeConfig
from hippodrome.service.node import Node, serve

SECRET = bytes(range(32))
BOT_FILE = Path(__file__).with_name("raw_bot.py")


def _load_raw() -> ModuleType:
    spec = importlib.util.spec_from_file_location("service_raw_bot", BOT_FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RAW = _load_raw()


@pytest.fixture(scope="session")
def raw() -> ModuleType:
    return RAW


class Table:
    """A node, the bots at it, and how to play matches there."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.bots: list[Any] = []
        self._count = 0

    def ticket(self, name: str, expires: float = 600) -> str:
        return make_ticket(name, expires)

    def bot(self, name: str, **options: Any) -> Any:
        """A bot that is not connected yet."""
        bot = RAW.RawBot(self.node.address, make_ticket(name), **options)
        self.bots.append(bot)
        return bot

    async def two(self) -> tuple[Any, Any]:
        return await self.bot("ann", seed=1).connect(), await self.bot("ben", seed=2).connect()

    def spec(
        self, *names: str, clock: str = "60s+1s", policy: str = "forfeit", ruleset: str = "", match: str = ""
    ) -> MatchSpec:
        names = names or ("ann", "ben")
        self._count += 1
        seats = tuple(SeatSpec(name, version(name)) for name in names)
        seed = self._count.to_bytes(32, "big")
        rules = read_ruleset(ruleset or f"antiquity-{len(names)}p")
        return MatchSpec(match or f"matches/m{self._count}", rules, seats, TimeControl.parse(clock), Policy.parse(policy), seed)

    async def play(self, spec: MatchSpec, **options: Any) -> Record:
        """Play and verify by re-execution."""
        record = await asyncio.wait_for(self.node.play(spec, **options), 120)
        assert isinstance(record, Record), record
        verify.verify(record, get_game(spec.ruleset.game))
        return record

    async def all_is_well(self, *names: str) -> None:
        """After whatever happened: nothing is left running, and the next match between the bots is a whole one."""
        assert self.node.matches == {}
        record = await self.play(self.spec(*names))
        assert record.closing["end"] == "rules"
        assert record.closing["faults"] == []

    def session(self, name: str) -> Any:
        return next(s for s in self.node.lobby.sessions.values() if s.version == version(name))


def version(name: str) -> str:
    return f"bots/{name}/versions/1"


def make_ticket(name: str, expires: float = 600) -> str:
    return tickets.issue(SECRET, tickets.Ticket(name, version(name), int(time.time() + expires)))


@pytest.fixture
async def open_table() -> AsyncIterator[Callable[..., Awaitable[Table]]]:
    """Starts nodes in this process; ends them and their bots."""
    tables: list[Table] = []

    async def open_(**settings: Any) -> Table:
        table = Table(await serve(NodeConfig(secret=SECRET, **{"seat_wait": 10, **settings})))
        tables.append(table)
        return table

    yield open_
    for table in tables:
        await table.node.close("the test is over")
        for bot in table.bots:
            if hasattr(bot, "channel"):
                await bot.break_off()


@pytest.fixture
async def table(open_table: Callable[..., Awaitable[Table]]) -> Table:
    return await open_table()


class NodeProcess:
    """A node in a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        secret, self.address_file = folder / "secret", folder / "address"
        secret.write_text(SECRET.hex() + "\n")
        command = [sys.executable, "-m", "hippodrome.service", "--secret-file", str(secret)]
        self.process = subprocess.Popen([*command, "--address-file", str(self.address_file), *options])

    async def address(self) -> str:
        async with asyncio.timeout(30):
            while not self.address_file.exists():
                await asyncio.sleep(0.02)
        return self.address_file.read_text().strip()

    async def ended(self) -> int:
        """The exit status."""
        return await asyncio.wait_for(asyncio.to_thread(self.process.wait), 30)

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)


@pytest.fixture
def node_process(tmp_path: Path) -> Iterator[Callable[..., NodeProcess]]:
    started: list[NodeProcess] = []

    def start(*options: str) -> NodeProcess:
        started.append(NodeProcess(tmp_path, *options))
        return started[-1]

    yield start
    for node in started:
        if node.process.poll() is None:
            node.process.kill()
        node.process.wait()


@pytest.fixture
def bot_process() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts raw bots as programs."""
    started: list[subprocess.Popen[bytes]] = []

    def start(address: str, name: str) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen([sys.executable, str(BOT_FILE), address, make_ticket(name)]))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()
