"""`python -m hippodrome.ladder.api --listen HOST:PORT --address-file PATH [--die-with-parent] [--wait S]`: the control API.

It writes its address to the file when it is ready. SIGTERM and SIGINT: calls under way end, exit code 0.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import Final

from hippodrome.engine.errors import FieldError, HippodromeError
from hippodrome.ladder.api.server import serve
from hippodrome.ladder.db import check_schema
from hippodrome.ladder.errors import DatabaseUnavailable
from hippodrome.ladder.settings import Settings

_STEP: Final = 0.1
_PR_SET_PDEATHSIG: Final = 1


def main() -> int:
    """Run until told to stop; the exit code."""
    options = _options()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    try:
        asyncio.run(_run(options))
    except HippodromeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, FieldError) else 3
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m hippodrome.ladder.api", description="Serve the control API.")
    parser.add_argument("--listen", default="127.0.0.1:0", help="HOST:PORT (port 0: any free one) or unix:PATH")
    parser.add_argument("--address-file", type=Path, help="written when the server is ready: where it listens")
    parser.add_argument("--die-with-parent", action="store_true", help="end when the process that started this one ends")
    parser.add_argument("--wait", type=float, default=10.0, help="seconds to wait for a database that is not ready")
    return parser.parse_args()


async def _run(options: argparse.Namespace) -> None:
    if options.die_with_parent:
        die_with_parent()
    settings = Settings.load()
    await wait_for_schema(settings.database_url, options.wait)
    server = await serve(settings, options.listen)
    told = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    if options.address_file:
        _write(options.address_file, server.address)
    logging.getLogger("hippodrome.api").info("control API on %s", server.address)
    await told.wait()
    await server.stop()


async def wait_for_schema(url: str, seconds: float) -> None:
    """Whoever starts all programs of a service at once brings the schema up to date meanwhile. Raises DatabaseUnavailable."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return check_schema(url)
        except DatabaseUnavailable:
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(_STEP)


def die_with_parent() -> None:
    """Ask the kernel for SIGTERM when the parent ends (Linux; elsewhere nothing)."""
    parent = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the parent ended first")


def _write(path: Path, address: str) -> None:
    """A reader sees all of it or nothing."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(address, encoding="ascii")
    temporary.replace(path)


if __name__ == "__main__":
    sys.exit(main())
