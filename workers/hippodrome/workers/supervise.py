"""The supervisor `up`: starts a whole service on one machine, keeps it running, leaves nothing behind.

One supervisor for each home, held by a lock on HOME/run/up.lock. HOME/run/server.json tells what runs, HOME/log/NAME.log
what each program says. A program that dies is started again after a growing pause, on the same address. Killing the
supervisor takes its children along (see `processes`).
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from hippodrome.engine.errors import HippodromeError
from hippodrome.ladder.settings import Settings
from hippodrome.workers import broker
from hippodrome.workers.processes import end, kill_group, start_tied
from hippodrome.workers.programs import POOLS, HouseBot, Options, Program, engines, first_programs, programs, service_env
from hippodrome.workers.server import Server, held_home, server_file, write_server

log = logging.getLogger(__name__)
READY_SECONDS: Final = 60.0
STARTING_STEP: Final = 0.02
WATCHING_STEP: Final = 0.1
NEEDED: Final = ("broker", "api")
"""What must serve before the next stage starts: workers want the broker, bots the api."""
PAUSES: Final = (0.0, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Seconds before a program is started again, by the number of times it died lately; the last is the longest."""
LONGEST_LOG: Final = 10_000_000
"""Bytes; a longer log is set aside when its program starts."""
STEADY_SECONDS: Final = 10.0
"""A program that ran for so long has its deaths forgotten."""


class StartFailed(HippodromeError):
    """A program of the service does not come up."""


class Child:
    """One program and its process."""

    def __init__(self, program: Program, home: Path, env: dict[str, str]) -> None:
        self.program, self.log = program, home / "log" / f"{program.name}.log"
        self._env = env | dict(program.env)
        self.process: subprocess.Popen[bytes] | None = None
        self.ready = False
        self.deaths = 0
        self._started = 0.0
        self._next_start = 0.0

    def start(self) -> None:
        """Start the process, by the thread that watches it."""
        self.program.prepare()
        if self.log.exists() and self.log.stat().st_size > LONGEST_LOG:
            self.log.replace(self.log.with_suffix(".log.1"))
        self.ready, self._started = False, time.monotonic()
        self.process = start_tied(self.program.command, self.log, self._env, self.program.death_signal)

    def watch(self) -> bool:
        """See how it is and start it again when its pause is over; whether anything changed."""
        if self.process is None:
            due = time.monotonic() >= self._next_start
            if due:
                self.start()
            return due
        if self.process.poll() is not None:
            self._note_death(self.process)
            return True
        return self._note_ready()

    def last_words(self) -> str:
        """The last line of its log."""
        lines = self.log.read_text(errors="replace").strip().splitlines() if self.log.exists() else []
        return lines[-1][:300] if lines else "it said nothing"

    def _note_death(self, process: subprocess.Popen[bytes]) -> None:
        steady = time.monotonic() - self._started > STEADY_SECONDS
        self.deaths = 1 if steady else self.deaths + 1
        pause = PAUSES[min(self.deaths, len(PAUSES)) - 1]
        log.warning("%s ended with status %s, starts again in %.1f s", self.program.name, process.returncode, pause)
        kill_group(process)
        self.process, self.ready, self._next_start = None, False, time.monotonic() + pause

    def _note_ready(self) -> bool:
        if self.ready or not self.program.ready():
            return False
        log.info("%s is ready after %.2f s", self.program.name, time.monotonic() - self._started)
        self.ready = True
        return True


Table = Callable[[Options, Settings, str], list[Program]]


class Supervisor:
    """`run` does it all in the calling thread; `stop` may come from any thread or a signal handler. `table` gives the
    programs that follow broker and engine."""

    def __init__(self, options: Options, settings: Settings, table: Table = programs) -> None:
        self._options, self._settings, self._table = options, settings, table
        self._children: list[Child] = []
        self._ended = threading.Event()

    def stop(self) -> None:
        """Let `run` stop all programs and return."""
        self._ended.set()

    def run(self, ready: Callable[[Server], None] = lambda _: None) -> None:
        """Start, tell `ready`, watch until `stop`, stop all in order. Raises FieldError, StartFailed, DatabaseUnavailable."""
        with held_home(self._settings.home):
            try:
                options = self._options.checked(self._settings.home / "run")
                self._start(options, ready)
            finally:
                self._stop_all()

    def _start(self, options: Options, ready: Callable[[Server], None]) -> None:
        env = service_env(options, self._settings)
        if self._settings.broker_url:
            broker.ask(self._settings.broker_url)
        self._launch(first_programs(options, self._settings), env)
        operator, bots = _prepare_database(self._settings, options)
        later = self._table(options, self._settings, bots)
        for stage in (1, 2):
            self._await(lambda child: child.program.name in NEEDED)
            self._launch([program for program in later if program.stage == stage], env)
        self._await(lambda _: True)
        if not self._ended.is_set():
            ready(self._tell(options, operator))
        self._watch(options, operator)

    def _launch(self, table: Sequence[Program], env: dict[str, str]) -> None:
        for program in table:
            child = Child(program, self._settings.home, env)
            self._children.append(child)
            child.start()

    def _await(self, wanted: Callable[[Child], bool]) -> None:
        """Watch until all `wanted` children are ready. Raises StartFailed."""
        deadline = time.monotonic() + READY_SECONDS
        while not self._ended.wait(STARTING_STEP):
            for child in self._children:
                child.watch()
            waiting = [child for child in self._children if wanted(child) and not child.ready]
            if not waiting:
                return
            failed = [child for child in waiting if child.deaths >= len(PAUSES) or time.monotonic() > deadline]
            if failed:
                raise _start_failed(failed[0])

    def _watch(self, options: Options, operator: str) -> None:
        """Keep all running until `stop`."""
        while not self._ended.wait(WATCHING_STEP):
            changes = [child.watch() for child in self._children]
            if any(changes):
                self._tell(options, operator)

    def _tell(self, options: Options, operator: str) -> Server:
        pids = {child.program.name: child.process.pid for child in self._children if child.process}
        web = f"http://{options.web}"
        server = Server(os.getpid(), options.api, web, engines(options, self._settings), operator, pids)
        write_server(self._settings.home, server)
        return server

    def _stop_all(self) -> None:
        """Workers first, for they give their matches back; then the bots, the servers, the engine and the broker."""
        for names in (("reconciler", "worker"), ("bot", "api", "web"), ("engine",), ("broker",)):
            children = [child for child in self._children if child.program.name.partition("-")[0] in names]
            for child in children:
                if child.process:
                    child.process.send_signal(child.program.stop_signal)
            live = [child.process for child in children if child.process]
            end(live, max((child.program.grace for child in children), default=0.0))
        server_file(self._settings.home).unlink(missing_ok=True)
        broker.remove_short_folder(self._settings.home)


def _start_failed(child: Child) -> StartFailed:
    name, words = child.program.name, child.last_words()
    return StartFailed(f"{name}: does not start: {words}; fix: read {child.log}")


def _prepare_database(settings: Settings, options: Options) -> tuple[str, str]:
    """Bring the schema up to date; fresh secrets of the local operator and of the built-in bots' account."""
    from hippodrome.ladder.db import open_database, upgrade
    from hippodrome.workers.house import prepare_house

    upgrade(settings.database_url)
    database = open_database(settings.database_url)
    try:
        with database.write() as session:
            return prepare_house(session, [bot.name for bot in options.bots], f"{socket.gethostname()}:{settings.home}")
    finally:
        database.close()


@contextmanager
def service(options: Options, settings: Settings, table: Table = programs) -> Iterator[Server]:
    """A service that runs, in a thread of its own, while the block does. Raises as `Supervisor.run`."""
    supervisor, ready, outcome = Supervisor(options, settings, table), threading.Event(), _Outcome()
    thread = threading.Thread(target=outcome.of, args=(supervisor, ready), name="supervisor")
    with _signals(_leave, signal.SIGTERM):
        thread.start()
        try:
            ready.wait()
            yield outcome.server()
        finally:
            supervisor.stop()
            thread.join()


class _Outcome:
    """What a supervisor in another thread came to: a server, or the error that ended it."""

    def __init__(self) -> None:
        self._server: Server | None = None
        self._error: BaseException | None = None

    def of(self, supervisor: Supervisor, ready: threading.Event) -> None:
        def told(server: Server) -> None:
            self._server = server
            ready.set()

        try:
            supervisor.run(told)
        except BaseException as error:
            self._error = error
        finally:
            ready.set()

    def server(self) -> Server:
        if self._error:
            raise self._error
        if self._server is None:
            raise StartFailed("up: stopped before it was ready; fix: start it again")
        return self._server


def up(options: Options, settings: Settings, ready: Callable[[Server], None]) -> None:
    """Run a service in the main thread until SIGTERM or SIGINT. Raises as `Supervisor.run`."""
    supervisor = Supervisor(options, settings)
    with _signals(lambda *_: supervisor.stop(), signal.SIGTERM, signal.SIGINT):
        supervisor.run(ready)


@contextmanager
def _signals(handler: Callable[[int, object], None], *numbers: signal.Signals) -> Iterator[None]:
    """`handler` takes the signals while the block runs, if this is the thread that may say so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _leave(number: int, _frame: object) -> None:
    """Unwind, so that the service is stopped in order."""
    raise SystemExit(128 + number)


def main(arguments: Sequence[str] | None = None) -> None:
    """`python -m hippodrome.workers.supervise`: a service on the home of the environment, until SIGTERM or SIGINT."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        up(read_arguments(arguments), Settings.load(), lambda server: print(f"ready: {server.web}", flush=True))
    except HippodromeError as error:
        raise SystemExit(f"error: {error}") from None


def read_arguments(arguments: Sequence[str] | None = None) -> Options:
    """The options of the command line. Raises FieldError for a bot that is not known."""
    parser = argparse.ArgumentParser(prog="python -m hippodrome.workers.supervise", description="Run a whole service.")
    default = Options()
    for name in ("web", "api", "engine"):
        parser.add_argument(f"--{name}", default=getattr(default, name), help="HOST:PORT (default %(default)s)")
    parser.add_argument("--workers", type=int, default=default.workers, help="worker processes (default %(default)s)")
    parser.add_argument("--slots", type=int, default=default.slots, help="matches at once of each (default %(default)s)")
    parser.add_argument("--pool", choices=POOLS, default=default.pool, help="(default %(default)s)")
    parser.add_argument("--bot", action="append", default=[], metavar="NAME[=BUILTIN]", help="a built-in bot to run; repeat it")
    read = vars(parser.parse_args(arguments))
    return Options(**read | {"bots": tuple(HouseBot.parse(text) for text in read.pop("bot"))})


if __name__ == "__main__":
    main()
