"""Local matches in which a bot is a program (`cmd:`): an engine node in this process, every bot a process of its own."""

from __future__ import annotations

import asyncio
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from hippodrome.engine.clock import TimeControl
from hippodrome.engine.errors import HippodromeError
from hippodrome.engine.record import Record
from hippodrome.engine.referee import MatchSpec, SeatSpec
from hippodrome.service.config import NodeConfig
from hippodrome.service.launcher import exit_text
from hippodrome.service.node import Missing, Node, serve
from hippodrome.workers.botfiles import BotSpec
from hippodrome.workers.local import Played, Trouble

_LOOK: Final = 0.02
_LEAST_STARTUP: Final = 10.0
_SEATING: Final = 5.0


class ProgramFailed(HippodromeError):
    """A program does not come to play."""


class NodeTable:
    """A node with a process for each bot. Use as a context manager, from the main thread: the programs die with it."""

    def __init__(self, bots: Sequence[BotSpec], clock: TimeControl) -> None:
        self._bots = bots
        self._patience = max(_LEAST_STARTUP, clock.startup / 1e6)
        self._runner = asyncio.Runner()
        self._processes: list[subprocess.Popen[bytes] | None] = [None] * len(bots)
        self._node: Node

    def __enter__(self) -> NodeTable:
        config = NodeConfig(secret=secrets.token_bytes(32), name="local", seat_wait=_SEATING)
        self._node = self._runner.run(serve(config))
        try:
            self.start_up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._runner.run(self._node.close("the series is over"))
        self._runner.close()

    def start_up(self) -> float:
        """Start every program that does not run and wait until all are connected; seconds it took. Raises ProgramFailed."""
        began = time.monotonic()
        self._runner.run(self._start_all())
        return time.monotonic() - began

    def play(self, spec: MatchSpec, order: Sequence[int]) -> Played:
        """Play a match; a program that ended in an earlier one is started again. Raises ProgramFailed or Refusal."""
        self.start_up()
        seats = tuple(SeatSpec(self._bots[place].name, self._version(place)) for place in order)
        record = self._runner.run(self._node.play(replace(spec, seats=seats)))
        if isinstance(record, Missing):
            raise ProgramFailed(f"bots: {', '.join(record.versions)} left before {spec.match}; fix: keep the program connected")
        return Played(record, tuple(_troubles(record)))

    def _version(self, place: int) -> str:
        return f"local/{self._bots[place].name}"

    async def _start_all(self) -> None:
        for place, process in enumerate(self._processes):
            if process is None or process.poll() is not None:
                bot = self._bots[place]
                self._processes[place] = self._node.launcher.launch(
                    command(bot), self._node.address, bot.name, self._version(place)
                )
        until = time.monotonic() + self._patience
        for place in range(len(self._bots)):
            await self._connected(place, until)

    async def _connected(self, place: int, until: float) -> None:
        bot, process = self._bots[place], self._processes[place]
        assert process is not None
        while self._version(place) not in self._node.lobby.versions():
            status = process.poll()
            if status is not None:
                raise ProgramFailed(f"{bot.source}: {exit_text(status)} before it connected; fix: see what it printed above")
            if time.monotonic() > until:
                fix = "dial HIPPODROME_ADDRESS and send hello with HIPPODROME_TICKET"
                raise ProgramFailed(f"{bot.source}: not connected after {self._patience:g} s; fix: {fix}")
            await asyncio.sleep(_LOOK)


def command(bot: BotSpec) -> tuple[str, ...]:
    """The words that start `bot` as a process."""
    return bot.command or (sys.executable, "-m", "hippodrome.bot", bot.source, "--quiet")


def _troubles(record: Record) -> Iterator[Trouble]:
    """The faults of a record; what else a program had to say it has printed itself."""
    for line in record.body:
        if "fault" in line:
            yield Trouble(line["seat"], line["n"], f"{line['fault']}: {line['reason']}")
