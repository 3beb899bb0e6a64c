"""Bots of files that play live, each in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from hippodrome.workers.sources import Place

Process = subprocess.Popen[bytes]
LEAVE_SECONDS = 5.0


def start(place: Place, files: Mapping[str, str], *options: str) -> list[Process]:
    """Start the bots of `files` (name on the ladder -> file) at the server `place`, out of reach of the terminal's Ctrl-C."""
    env = os.environ | {"HIPPODROME_SERVER": place.server, "HIPPODROME_TOKEN": place.token}
    command = (sys.executable, "-m", "hippodrome.bot")
    return [
        subprocess.Popen((*command, file, "--bot", name, *options), env=env, start_new_session=True)
        for name, file in files.items()
    ]


def wait(processes: Sequence[Process]) -> list[int]:
    """Their exit codes, when all have ended. SIGINT and SIGTERM are passed on: the bots leave in good order."""

    def pass_on(number: int, frame: FrameType | None) -> Any:
        for process in processes:
            process.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return [process.wait() for process in processes]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def playing(processes: Sequence[Process]) -> Iterator[None]:
    """The bots play while the block does, then leave."""
    try:
        yield
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
            _leave(process)


def _leave(process: Process) -> None:
    try:
        process.wait(LEAVE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
