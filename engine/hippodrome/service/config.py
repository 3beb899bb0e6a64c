"""The settings of an engine node."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hippodrome.engine.errors import FieldError

_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,39}")


@dataclass(frozen=True, slots=True)
class NodeConfig:
    """`listen` is host:port (port 0: any free one) or unix:PATH. All spans are in seconds."""

    secret: bytes
    """The secret of the installation: tickets and the internal key come from it."""
    listen: str = "127.0.0.1:0"
    name: str = "node-1"
    slots: int = 64
    """Matches that run at once."""
    public_address: str = ""
    """What bots dial when it differs from `listen`."""
    seat_wait: float = 5.0
    """How long a match waits for its bots and a slot."""
    settle: float = 15.0
    """How long after its start a node takes no bot for gone: they all have to come back after a restart."""
    grace: float = 30.0
    """How long a broken stream may be away."""
    hello_wait: float = 10.0
    """How long a new stream may take to say hello."""
    credit_cap: float = 0.1
    """The most that is taken off an answer's time for the network."""
    heartbeat: float = 0.5
    """Between two progress messages of a match."""
    closing_wait: float = 2.0
    """How long a closing node lets its last messages go out."""

    def checked(self) -> NodeConfig:
        """Itself. Raises FieldError."""
        if len(self.secret) < 16:
            raise FieldError("secret", f"only {len(self.secret)} bytes", "give at least 16 random bytes")
        if not _NAME.fullmatch(self.name):
            raise FieldError("name", f"{self.name!r} is no node name", "use a-z, 0-9 and dashes, a letter first")
        if self.slots < 1:
            raise FieldError("slots", f"{self.slots} leaves no room for a match", "give at least 1")
        host, _, port = self.listen.rpartition(":")
        if not (host and (host == "unix" or port.isdigit())):
            raise FieldError("listen", f"{self.listen!r} cannot be read", "write host:port, such as 127.0.0.1:0, or unix:PATH")
        return self


def read_secret(path: Path) -> bytes:
    """The secret of the installation kept in a file as hex digits. Raises FieldError."""
    try:
        return bytes.fromhex(path.read_text(encoding="ascii"))
    except OSError as error:
        raise FieldError("secret-file", f"{path}: {error.strerror}", "name the file `secret` in the home folder") from None
    except ValueError:
        raise FieldError("secret-file", f"{path} holds no hex digits", "name the file `secret` in the home folder") from None
