"""Child processes that never outlive us: start, watch, stop.

Linux ties a child to its parent with the parent-death signal. It is set by a few lines of Python that then become the
program itself (10 ms), because `Popen(preexec_fn=...)` would run Python code between fork and exec. The kernel watches the
*thread* that started the child, so a child must be started by a thread that lasts as long as the child may.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from hippodrome.engine.errors import FieldError

_TIED: Final = """
import ctypes, os, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, int(sys.argv[2]), 0, 0, 0)
if os.getppid() != int(sys.argv[1]):
    sys.exit("the parent ended first")
os.execv(sys.argv[3], sys.argv[3:])
"""
_PORTS: Final = range(20_000, 32_000)
"""Below the ports that the kernel gives to outgoing connections, so a port chosen once stays ours across a restart."""


def start_tied(
    argv: Sequence[str], log: Path, env: Mapping[str, str], death_signal: signal.Signals = signal.SIGKILL
) -> subprocess.Popen[bytes]:
    """Start `argv` in a session of its own, output appended to `log`; it gets `death_signal` when this thread ends."""
    command = [sys.executable, "-I", "-S", "-c", _TIED, str(os.getpid()), str(int(death_signal)), *argv]
    with log.open("ab") as output:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=dict(env), start_new_session=True
        )


def python_module(module: str, *arguments: str) -> tuple[str, ...]:
    """The command line of `python -m module arguments`."""
    return (sys.executable, "-m", module, *arguments)


def end(processes: Sequence[subprocess.Popen[bytes]], grace: float) -> None:
    """Wait up to `grace` seconds for processes that were told to end, then kill what is left and everything they started."""
    deadline = time.monotonic() + grace
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))
        kill_group(process)
        process.wait()


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and what it has started in its session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def wait_until(done: Callable[[], bool], seconds: float, step: float = 0.02) -> bool:
    """Poll `done` until it holds (True) or `seconds` have passed (False)."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(step)
    return True


def choose_address(field: str, listen: str, last: str = "") -> str:
    """`listen` (HOST:PORT) with port 0 replaced by a free port, that of `last` if it can be: who knew it finds it again.

    Raises FieldError when it cannot be listened on.
    """
    host, _, port = listen.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65_535:
        raise FieldError(field, f"{listen!r} is no address", "write HOST:PORT, for example 127.0.0.1:0 for any free port")
    if int(port):
        _must_be_free(field, host, int(port))
        return listen
    old_host, _, old_port = last.strip().rpartition(":")
    if old_host == host and old_port.isdigit() and is_free(host, int(old_port)):
        return last.strip()
    return next(f"{host}:{p}" for p in random.sample(_PORTS, len(_PORTS)) if is_free(host, p))


def is_free(host: str, port: int) -> bool:
    """Whether a server could listen there now."""
    try:
        _probe(host, port)
    except OSError:
        return False
    return True


def _must_be_free(field: str, host: str, port: int) -> None:
    try:
        _probe(host, port)
    except OSError as error:
        problem = f"cannot listen on {host}:{port} ({error.strerror or error})"
        raise FieldError(field, problem, f"choose another port, or {host}:0 for any free one") from None


def _probe(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host.strip("[]"), port))


def write_atomically(path: Path, text: str) -> None:
    """Write `text` so that a reader sees all of it or nothing; mode 0600."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    temporary.replace(path)
