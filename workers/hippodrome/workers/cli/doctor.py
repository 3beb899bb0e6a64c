"""The checks of `hippodrome doctor`: each gives ok, problem (with a fix) or skipped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from typing import TYPE_CHECKING, Final

from hippodrome.engine.errors import FieldError, HippodromeError
from hippodrome.workers.cli.report import read

if TYPE_CHECKING:
    from hippodrome.ladder.settings import Settings

OLDEST: Final = (3, 11)
SERVER_PACKAGES: Final = (
    "alembic",
    "celery",
    "fastapi",
    "grpcio-health-checking",
    "grpcio-reflection",
    "jinja2",
    "sqlmodel",
    "uvicorn",
)
BASE_PACKAGES: Final = ("click", "grpcio", "platformdirs", "protobuf", "rich")


@dataclass(frozen=True, slots=True)
class Finding:
    """`state` is `ok`, `problem` or `skipped`; `fix` is empty unless it is a problem."""

    name: str
    state: str
    text: str
    fix: str = ""


def examine() -> list[Finding]:
    """All checks, in order. One that needs settings is skipped when they cannot be read."""
    findings = [_run("python", _python), _run("packages", _packages), _run("games", _games)]
    settings: list[Settings] = []
    findings.append(_run("settings", lambda: _settings(settings)))
    for name, check in _OF_SETTINGS.items():
        found = Finding(name, "skipped", "the settings are wrong") if not settings else _run(name, _bound(check, settings[0]))
        findings.append(found)
    return findings


def _bound(check: Callable[[Settings], str], settings: Settings) -> Callable[[], str]:
    return lambda: check(settings)


class _Skip(Exception):
    """The check does not apply."""


def _run(name: str, check: Callable[[], str]) -> Finding:
    """What `check` found: it returns a text, or raises an error with a fix."""
    try:
        return Finding(name, "ok", check())
    except _Skip as reason:
        return Finding(name, "skipped", str(reason))
    except (HippodromeError, OSError, ImportError) as error:
        trouble = read(error)
        if trouble is None:
            return Finding(name, "problem", str(error), "pip install 'hippodrome[server]'")
        where = f"{trouble.field}: " if trouble.field else ""
        return Finding(name, "problem", f"{where}{trouble.problem}", trouble.fix)


def _python() -> str:
    text = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST:
        raise FieldError("python", f"{text} is too old", f"use {'.'.join(map(str, OLDEST))} or newer")
    return text


def _packages() -> str:
    missing = [name for name in BASE_PACKAGES + SERVER_PACKAGES if not _installed(name)]
    if missing:
        extra = "hippodrome" if set(missing) & set(BASE_PACKAGES) else "hippodrome[server]"
        raise FieldError("packages", f"not installed: {', '.join(missing)}", f"pip install '{extra}'")
    old = [f"{name} {version(name)}, needs {floor}" for name, floor in _floors() if _older(version(name), floor)]
    if old:
        raise FieldError("packages", f"too old: {'; '.join(old)}", "pip install -U 'hippodrome[server]'")
    return f"hippodrome {version('hippodrome')}, grpcio {version('grpcio')}, protobuf {version('protobuf')}"


def _installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _floors() -> Iterator[tuple[str, str]]:
    """The oldest version that this program's own metadata allow of each package."""
    for line in requires("hippodrome") or ():
        name, sep, rest = line.partition(">=")
        name = name.partition("[")[0].strip()
        if sep and name in BASE_PACKAGES + SERVER_PACKAGES:
            yield name, rest.split(";")[0].split(",")[0].strip()


def _older(found: str, floor: str) -> bool:
    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.split(".") if part.isdigit()]

    return numbers(found) < numbers(floor)


def _games() -> str:
    from hippodrome.games.registry import GAMES, get_game

    return ", ".join(f"{game.name} (rules {game.rules_version})" for game in map(get_game, GAMES))


def _settings(found: list[Settings]) -> str:
    from hippodrome.ladder.settings import Settings

    found.append(Settings.load())
    return f"home {found[0].home}"


def _database(settings: Settings) -> str:
    from hippodrome.ladder.db import check_schema, open_database

    check_schema(settings.database_url)
    return f"{open_database(settings.database_url).shown}, schema up to date"


def _broker(settings: Settings) -> str:
    from hippodrome.workers import broker

    if settings.broker_url is None:
        return f"{broker.find_server()}, started by `hippodrome up`"
    return f"{broker.ask(settings.broker_url)} answers"


def _service(settings: Settings) -> str:
    from hippodrome.workers.server import running_server

    running = running_server(settings.home)
    if running is None:
        raise _Skip("none runs on this home; `hippodrome up` starts one")
    return f"api {running.api}, page {running.web}"


def _engines(settings: Settings) -> str:
    from hippodrome.ladder.api.engines import choose, of_home

    if not (settings.engine_addresses or of_home(settings.home)):
        raise _Skip("none is known; `hippodrome up` starts one")
    return f"{choose(settings)} answers"


_OF_SETTINGS: Final[dict[str, Callable[[Settings], str]]] = {
    "database": _database,
    "broker": _broker,
    "service": _service,
    "engines": _engines,
}
"""Name of a check -> the check."""
