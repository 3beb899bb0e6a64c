"""Playing a series: in this process, or in several."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final

from hippodrome.bot import HippodromeError as BotSideError
from hippodrome.engine.errors import HippodromeError
from hippodrome.workers.botfiles import check_bots
from hippodrome.workers.local import Played, open_table
from hippodrome.workers.local_series import Planned, SeriesSpec, plan

_CONTEXT: Final = multiprocessing.get_context("spawn")
_LAST_WORDS: Final = 2.0


class ProcessDied(HippodromeError):
    """A process that played a match ended in the middle of it."""

    def __init__(self, match: str, status: int | None) -> None:
        what = f"died of signal {-status}" if status is not None and status < 0 else f"ended with exit status {status}"
        fix = "a bot ends its process or crashes Python itself; play it as a program (cmd:python mybot.py)"
        super().__init__(f"{match}: the process that played it {what}; fix: {fix}")


def play_many(series: SeriesSpec, jobs: int = 1) -> Iterator[tuple[Planned, Played]]:
    """Play a series in order, in `jobs` processes (1: this one). Raises FieldError, ProcessDied, or the error of loading a bot.

    Close the iterator to stop early: processes are ended, matches under way dropped.
    """
    series = series.checked()
    check_bots(series.bots)
    if min(jobs, series.games) <= 1:
        with open_table(series.bots, series.clock) as play:
            for planned in plan(series):
                yield planned, play(planned.spec, planned.order)
    else:
        with _Pool(series, min(jobs, series.games)) as pool:
            yield from pool.results()


class _Pool:
    """Processes that each play one match at a time; results come out in the order of the plan."""

    def __init__(self, series: SeriesSpec, jobs: int) -> None:
        self._plan = plan(series)
        self._workers = [_start(series) for _ in range(jobs)]
        self._busy: dict[Connection, Planned] = {}
        self._done: dict[int, tuple[Planned, Played]] = {}

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *error: object) -> None:
        for process, pipe in self._workers:
            pipe.close()
            if pipe in self._busy:
                process.kill()
        for process, _ in self._workers:
            process.join(_LAST_WORDS)
            if process.is_alive():
                process.kill()
                process.join()

    def results(self) -> Iterator[tuple[Planned, Played]]:
        for _, pipe in self._workers:
            self._give(pipe)
        due = 1
        while self._busy or due in self._done:
            if due in self._done:
                yield self._done.pop(due)
                due += 1
                continue
            for ready in wait(list(self._busy)):
                self._collect(ready)

    def _give(self, pipe: Connection) -> None:
        planned = next(self._plan, None)
        if planned is not None:
            pipe.send(planned)
            self._busy[pipe] = planned

    def _collect(self, ready: Any) -> None:
        planned = self._busy.pop(ready)
        try:
            given = ready.recv()
        except EOFError:
            raise ProcessDied(planned.spec.match, self._status(ready)) from None
        if isinstance(given, str):
            raise HippodromeError(given)
        self._done[planned.number] = (planned, given)
        self._give(ready)

    def _status(self, pipe: Connection) -> int | None:
        process = next(process for process, end in self._workers if end is pipe)
        process.join(_LAST_WORDS)
        return process.exitcode


def _start(series: SeriesSpec) -> tuple[BaseProcess, Connection]:
    here, there = _CONTEXT.Pipe()
    process = _CONTEXT.Process(target=_work, args=(there, series), daemon=True)
    process.start()
    there.close()
    return process, here


def _work(pipe: Connection, series: SeriesSpec) -> None:
    """A process of the pool: matches in, what was played out, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with open_table(series.bots, series.clock) as play:
            for planned in _given(pipe):
                pipe.send(play(planned.spec, planned.order))
    except (HippodromeError, BotSideError) as error:
        pipe.send(str(error))


def _given(pipe: Connection) -> Iterator[Planned]:
    while True:
        try:
            planned: Planned = pipe.recv()
        except (EOFError, OSError):
            return
        yield planned
