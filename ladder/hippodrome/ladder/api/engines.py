"""Which engine node a bot is sent to."""

from __future__ import annotations

import json
import random
import socket
from pathlib import Path
from typing import Final

from hippodrome.ladder.api.errors import EngineUnavailable
from hippodrome.ladder.settings import Settings

_PROBE_SECONDS: Final = 0.5
_FIX: Final = "start the service with `hippodrome up`, or set HIPPODROME_ENGINES to the addresses of engine nodes"


def choose(settings: Settings, spread: bool = False) -> str:
    """An engine node that takes connections: any of them with `spread`, else the first. Bots that do not follow invitations
    meet only where they are, so they are all sent to the same node.

    The nodes are those of HIPPODROME_ENGINES, else those of the service that runs on this home. Raises EngineUnavailable.
    """
    known = settings.engine_addresses or of_home(settings.home)
    for address in random.sample(known, len(known)) if spread else known:
        if answers(address):
            return address
    problem = f"no engine node answers at {', '.join(known)}" if known else "no engine node is known"
    raise EngineUnavailable("engine", problem, _FIX)


def of_home(home: Path) -> tuple[str, ...]:
    """The engine nodes that the service running on this home has noted in `run/server.json`."""
    try:
        engines = json.loads((home / "run" / "server.json").read_text(encoding="utf-8"))["engines"]
    except (OSError, ValueError, KeyError, TypeError):
        return ()
    return tuple(str(address) for address in engines)


def answers(address: str) -> bool:
    """Whether something takes connections at `host:port` or `unix:path`."""
    family, target = _target(address)
    with socket.socket(family) as probe:
        probe.settimeout(_PROBE_SECONDS)
        try:
            probe.connect(target)
        except OSError:
            return False
    return True


def _target(address: str) -> tuple[socket.AddressFamily, str | tuple[str, int]]:
    if address.startswith("unix:"):
        return socket.AF_UNIX, address.removeprefix("unix:")
    host, _, port = address.rpartition(":")
    return (socket.AF_INET6 if ":" in host else socket.AF_INET), (host.strip("[]"), int(port))
