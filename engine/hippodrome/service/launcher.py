"""Starts bots as programs of this machine, for local play. They are not sandboxed: they are the user's own.

A launched bot finds HIPPODROME_ADDRESS and HIPPODROME_TICKET in its environment. It lives in a process group of its own,
which is ended with the node; the end of the process before its answer is the fault `crash`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Final

from hippodrome.engine import tickets
from hippodrome.engine.errors import FieldError
from hippodrome.engine.tickets import Ticket
from hippodrome.service.lobby import Lobby

TICKET_SECONDS: Final = 86_400
_WATCH: Final = 0.02
"""Seconds between two looks at a process."""
_DIES_WITH_PARENT: Final = (
    "import ctypes, os, signal, sys\n"
    "if sys.platform == 'linux': ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)\n"
    "if os.getppid() != int(sys.argv[1]): sys.exit('the node is gone')\n"
    "os.execvp(sys.argv[2], sys.argv[2:])\n"
)
"""Runs between the node and the program. Not as preexec_fn: forking a process with live gRPC threads is not safe."""


class Launcher:
    """The processes of a node. Call it from the thread of the event loop only: Linux ends them with that thread."""

    def __init__(self, secret: bytes, lobby: Lobby) -> None:
        self._secret, self._lobby = secret, lobby
        self._watchers: dict[asyncio.Task[None], subprocess.Popen[bytes]] = {}

    def launch(
        self, command: Sequence[str], address: str, bot: str, version: str, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Start `command` as the bot version `version`, a name no other launched process has. Raises FieldError."""
        if not command:
            raise FieldError("command", "empty", "name the program, for example cmd:./mybot")
        ticket = tickets.issue(self._secret, Ticket(bot, version, int(time.time()) + TICKET_SECONDS))
        stub = [sys.executable, "-I", "-S", "-c", _DIES_WITH_PARENT, str(os.getpid()), *command]
        settings = {"HIPPODROME_ADDRESS": address, "HIPPODROME_TICKET": ticket}
        process = subprocess.Popen(stub, env={**os.environ, **(env or {}), **settings}, start_new_session=True)
        self._lobby.crashed.pop(version, None)
        task = asyncio.get_running_loop().create_task(self._watch(process, version))
        self._watchers[task] = process
        task.add_done_callback(self._watchers.pop)
        return process

    async def close(self) -> None:
        """End all processes, politely first."""
        for task, process in list(self._watchers.items()):
            task.cancel()
            await _end(process)

    async def _watch(self, process: subprocess.Popen[bytes], version: str) -> None:
        while (status := process.poll()) is None:
            await asyncio.sleep(_WATCH)
        self._lobby.process_ended(version, exit_text(status))


def exit_text(status: int) -> str:
    """How a process ended, in words."""
    if status >= 0:
        return f"the bot's process ended with exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = str(-status)
    return f"the bot's process was ended by signal {name}"


async def _end(process: subprocess.Popen[bytes]) -> None:
    for number, patience in ((signal.SIGTERM, 1.0), (signal.SIGKILL, 5.0)):
        if process.poll() is None:
            os.killpg(process.pid, number)
            until = time.monotonic() + patience
            while process.poll() is None and time.monotonic() < until:
                await asyncio.sleep(_WATCH)
