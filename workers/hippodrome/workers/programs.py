"""What `up` runs: a table of programs, each with its command line, its sign of readiness and its place in the order.

| stage | programs | needs |
|---|---|---|
| 0 | broker, engine | nothing |
| 1 | api, web, reconciler, worker-N | the database brought up to date, the broker |
| 2 | bot-NAME | the api |

Stages start in this order and stop in the other, workers before the bots they play with.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import did_you_mean
from hippodrome.ladder.ids import check_name
from hippodrome.ladder.settings import Settings
from hippodrome.workers import broker
from hippodrome.workers.processes import choose_address, python_module, write_atomically

POOLS: Final = ("threads", "prefork")
"""How a worker plays several matches at once: in threads, or in a process for each."""
MAX_SLOTS: Final = 96
"""Of one worker: an engine node takes 100 calls on a connection."""
_OTHERS: Final = ("HIPPODROME_TOKEN", "HIPPODROME_BOT", "HIPPODROME_SERVER", "HIPPODROME_ADDRESS", "HIPPODROME_TICKET")
"""Settings of somebody who calls or plays; they do not reach the programs of a service."""


def _nothing() -> None: ...


@dataclass(frozen=True)
class Program:
    """`prepare` runs before each start; `ready` tells whether it serves; `grace` in seconds is how long it may take to stop."""

    name: str
    stage: int
    command: tuple[str, ...]
    ready: Callable[[], bool]
    env: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[], None] = _nothing
    stop_signal: signal.Signals = signal.SIGTERM
    death_signal: signal.Signals = signal.SIGKILL
    grace: float = 5.0


@dataclass(frozen=True)
class HouseBot:
    """A built-in bot that `up` runs: the bot `name` is played by `processes` of the shipped `builtin`."""

    name: str
    builtin: str
    processes: int = 1

    @staticmethod
    def parse(text: str) -> HouseBot:
        """`greedy`, or `greedy-2=greedy` for a further bot of the same kind. Raises FieldError."""
        name, _, builtin = text.partition("=")
        known = builtin_bots()
        if (builtin or name) not in known:
            raise FieldError(
                "bots", f"no built-in bot {builtin or name!r}", did_you_mean(builtin or name, tuple(known)), tuple(known)
            )
        return HouseBot(check_name("bots", name), builtin or name)


@dataclass(frozen=True)
class Options:
    """What `up` is asked for. Addresses are HOST:PORT, port 0 means any free one. `bots` are the built-in bots to run."""

    web: str = "127.0.0.1:8080"
    api: str = "127.0.0.1:0"
    engine: str = "127.0.0.1:0"
    workers: int = 1
    slots: int = 12
    pool: str = "threads"
    bots: tuple[HouseBot, ...] = ()

    def checked(self, run: Path | None = None) -> Options:
        """Itself, every port chosen and found free; any free one is the one used before, told in the folder `run`, so that
        live bots find a service that was started again. Raises FieldError."""
        _within("workers", self.workers, 1, 64)
        _within("slots", self.slots, 1, MAX_SLOTS)
        names = [bot.name for bot in self.bots]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise FieldError("bots", f"{twice[0]!r} is named twice", "name each bot once")
        web, api, engine = (choose_address(name, getattr(self, name), _last(run, name)) for name in ("web", "api", "engine"))
        return replace(self, web=web, api=api, engine=engine)


def _last(run: Path | None, name: str) -> str:
    """The address that the program `name` had when it ran last, empty if it is not known."""
    file = run / f"{name}.address" if run else None
    return file.read_text(errors="replace")[:300] if file and file.is_file() else ""


def builtin_bots() -> Mapping[str, str]:
    """Name of a shipped bot -> where its class is: `module` or `module:Class`."""
    from hippodrome.bots import BUILTINS

    return BUILTINS


def _within(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise FieldError(name, f"{value} is out of range", f"give {low} to {high}")


def programs(options: Options, settings: Settings, bot_token: str) -> list[Program]:
    """The programs of a service on `settings.home`. `bot_token` is the secret that the built-in bots show."""
    made = [_api(options, settings), _web(options, settings), _reconciler(options, settings)]
    made += [_worker(number, options, settings) for number in range(1, options.workers + 1)]
    made += [_bot(bot, process, options, bot_token) for bot in options.bots for process in range(bot.processes)]
    return made


def first_programs(options: Options, settings: Settings) -> list[Program]:
    """The programs that need no database; none that is given from outside."""
    made = [] if settings.broker_url else [_broker(settings)]
    return made if settings.engine_addresses else [*made, _engine(options, settings)]


def service_env(options: Options, settings: Settings) -> dict[str, str]:
    """The environment of all programs: everything that could differ is named."""
    kept = {name: value for name, value in os.environ.items() if name not in _OTHERS}
    return kept | {
        "HIPPODROME_HOME": str(settings.home),
        "HIPPODROME_DATABASE_URL": settings.database_url,
        "HIPPODROME_BROKER_URL": settings.broker_url or broker.socket_url(broker.socket_path(settings.home)),
        "HIPPODROME_ENGINES": ",".join(engines(options, settings)),
        "HIPPODROME_LEASE": f"{settings.lease_seconds:g}",
    }


def engines(options: Options, settings: Settings) -> tuple[str, ...]:
    """The addresses of the engine nodes."""
    return settings.engine_addresses or (options.engine,)


def _broker(settings: Settings) -> Program:
    path = broker.socket_path(settings.home)
    return Program(
        "broker",
        0,
        broker.server_command(broker.find_server(), settings.home),
        ready=lambda: broker.answers(path),
        prepare=lambda: broker.prepare_folder(settings.home),
        death_signal=signal.SIGTERM,
    )


def _engine(options: Options, settings: Settings) -> Program:
    secret = _run(settings) / "secret"
    slots = max(64, options.workers * options.slots)
    return _listening(
        "engine", 0, "hippodrome.service", options.engine, settings,
        "--secret-file", str(secret), "--slots", str(slots), "--name", "node-1",
        before=lambda: write_atomically(secret, settings.secret.hex() + "\n"),
    )  # fmt: skip


def _api(options: Options, settings: Settings) -> Program:
    return _listening("api", 1, "hippodrome.ladder.api", options.api, settings)


def _web(options: Options, settings: Settings) -> Program:
    return _listening("web", 1, "hippodrome.ladder.web", options.web, settings)


def _reconciler(options: Options, settings: Settings) -> Program:
    window = 4 * options.workers * options.slots
    return _signing("reconciler", "hippodrome.workers.reconcile", settings, "--window", str(window))


def _worker(number: int, options: Options, settings: Settings) -> Program:
    name = f"worker-{number}"
    arguments = ("--name", name, "--slots", str(options.slots), "--pool", options.pool)
    return _signing(name, "hippodrome.workers.worker", settings, *arguments, stop_signal=signal.SIGQUIT)


def _bot(bot: HouseBot, process: int, options: Options, token: str) -> Program:
    """A shipped bot plays like anybody's: over the network, with a token. It is ready when it runs: matches wait for bots."""
    env = {"HIPPODROME_SERVER": options.api, "HIPPODROME_BOT": bot.name, "HIPPODROME_TOKEN": token}
    command = python_module("hippodrome.bot", builtin_bots()[bot.builtin], "--quiet")
    name = f"bot-{bot.name}+{process + 1}" if process else f"bot-{bot.name}"
    return Program(name, 2, command, ready=lambda: True, env=env, grace=3.0)


def _listening(
    name: str, stage: int, module: str, listen: str, settings: Settings, *arguments: str, before: Callable[[], None] = _nothing
) -> Program:
    """A server that writes its address to a file when it serves."""
    file = _run(settings) / f"{name}.address"

    def prepare() -> None:
        file.unlink(missing_ok=True)
        before()

    command = python_module(module, "--listen", listen, "--address-file", str(file), *arguments)
    return Program(name, stage, command, ready=file.exists, prepare=prepare)


def _signing(
    name: str, module: str, settings: Settings, *arguments: str, stop_signal: signal.Signals = signal.SIGTERM
) -> Program:
    """A program of ours without an address, that writes a file when it is ready."""
    file = _run(settings) / f"{name}.ready"
    command = python_module(module, "--ready-file", str(file), *arguments)
    return Program(name, 1, command, ready=file.exists, prepare=lambda: file.unlink(missing_ok=True), stop_signal=stop_signal)


def _run(settings: Settings) -> Path:
    return settings.home / "run"
