"""HOME/run/server.json: what a supervisor runs on a home. Standard library only, for the command line reads it each time."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Final

from hippodrome.engine.errors import FieldError
from hippodrome.workers.processes import wait_until, write_atomically

LOCK_SECONDS: Final = 0.5
"""How long the lock is tried for: whoever asks whether a supervisor runs holds it for an instant."""


@dataclass(frozen=True)
class Server:
    """What runs: `pid` of the supervisor, addresses, `token` (secret) of the local operator, process ids by program."""

    pid: int
    api: str
    web: str
    engines: tuple[str, ...]
    token: str
    pids: dict[str, int]


def server_file(home: Path) -> Path:
    """Where a supervisor tells what it runs; it appears when all is ready. Mode 0600: it holds a token."""
    return home / "run" / "server.json"


def write_server(home: Path, server: Server) -> None:
    """Tell what runs on `home`."""
    write_atomically(server_file(home), json.dumps(asdict(server)) + "\n")


def read_server(home: Path) -> Server | None:
    """What was last told of `home`, None when nothing was."""
    try:
        told = json.loads(server_file(home).read_text())
    except (OSError, ValueError):
        return None
    return Server(**(told | {"engines": tuple(told["engines"])}))


def running_server(home: Path) -> Server | None:
    """What a supervisor runs on `home` now, None when there is none or it is not ready yet. A file left behind by a killed
    supervisor does not count: its lock is gone."""
    try:
        with _lock_file(home).open("r+") as file:
            return None if _lock(file, fcntl.LOCK_SH) else read_server(home)
    except OSError:
        return None


@contextmanager
def held_home(home: Path) -> Iterator[None]:
    """The lock of `home`, whose folders are made. Raises FieldError when another supervisor holds it."""
    for folder in (home, home / "run", home / "log"):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _lock_file(home).open("a") as file:
        if not wait_until(lambda: _lock(file, fcntl.LOCK_EX), LOCK_SECONDS):
            running = read_server(home)
            who = f"process {running.pid}" if running else "it is just starting"
            raise FieldError(
                "home", f"an `up` runs on {home} already ({who})", "stop it, or set HIPPODROME_HOME to another folder"
            )
        server_file(home).unlink(missing_ok=True)
        yield


def _lock_file(home: Path) -> Path:
    return home / "run" / "up.lock"


def _lock(file: IO[Any], kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
