"""`python -m hippodrome.ladder.web --listen 127.0.0.1:8080 --address-file PATH`: serve the pages and the read API."""

from __future__ import annotations

import argparse
import ctypes
import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import uvicorn

from hippodrome.engine.errors import FieldError, HippodromeError
from hippodrome.ladder.db import check_schema
from hippodrome.ladder.settings import Settings
from hippodrome.ladder.web.app import create_app

PR_SET_PDEATHSIG: Final = 1
GRACE_SECONDS: Final = 2
"""How long open answers, such as streams of events, may go on after SIGTERM."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or Ctrl-C. Exit codes: 0; 2 bad input; 3 no database; 130 Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m hippodrome.ladder.web", description=main.__doc__)
    parser.add_argument(
        "--listen", default="127.0.0.1:8080", metavar="HOST:PORT", help="port 0: a free one (default %(default)s)"
    )
    parser.add_argument("--address-file", type=Path, help="where to write the address once it is listened on")
    parser.add_argument("--die-with-parent", action="store_true", help="end when the process that started this one ends")
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    try:
        settings = Settings.load()
        with listen(given.listen) as listener:
            check_schema(settings.database_url)
            if given.die_with_parent:
                die_with_parent()
            return _serve(settings, listener, given.address_file)
    except HippodromeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, FieldError) else 3


def listen(address: str) -> socket.socket:
    """A socket bound to `HOST:PORT`, an IPv6 host in brackets. Raises FieldError."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise FieldError("--listen", f"{address[:80]!r} is not of the form HOST:PORT", "write for example 127.0.0.1:8080")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, int(port)), family=family)
    except OSError as error:
        fix = "end what listens there or choose another port; 0 takes a free one"
        raise FieldError("--listen", f"{address} cannot be used ({error.strerror})", fix) from None


def die_with_parent() -> None:
    """Ask the kernel for SIGTERM when the parent ends (Linux only; elsewhere the supervisor ends its children itself)."""
    parent = os.getppid()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        raise SystemExit(0)


def _serve(settings: Settings, listener: socket.socket, address_file: Path | None) -> int:
    config = uvicorn.Config(
        create_app(settings),
        log_config=None,
        access_log=False,
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    # uvicorn raises the signal that ended it once more after its shutdown: an ordered end is no failure
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        _Server(config, address_file, listener).run([listener])
    except KeyboardInterrupt:
        return 130
    return 0


class _Server(uvicorn.Server):
    """Tells its address once it answers."""

    def __init__(self, config: uvicorn.Config, address_file: Path | None, listener: socket.socket) -> None:
        super().__init__(config)
        self._address_file, self._listener = address_file, listener

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        host, port = self._listener.getsockname()[:2]
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        logging.getLogger("hippodrome.web").info("pages at http://%s", address)
        if self._address_file:
            write_whole(self._address_file, address + "\n")


def write_whole(path: Path, text: str) -> None:
    """Write `path` so that a reader finds all of it or nothing."""
    part = path.with_name(f".{path.name}-{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


if __name__ == "__main__":
    sys.exit(main())
