"""The settings of an installation, all from the environment. Standard library and platformdirs only, so it loads fast."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import platformdirs

from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import did_you_mean

SECRET_BYTES: Final = 32
KNOWN: Final = {
    "HIPPODROME_HOME": "folder of all data; default: the XDG data folder",
    "HIPPODROME_DATABASE_URL": "default: sqlite file hippodrome.db in the home",
    "HIPPODROME_BROKER_URL": "redis://host:port/0 or redis+socket://path; default: a broker of our own",
    "HIPPODROME_LEASE": "seconds after which a match of a silent worker is tried again; default 15",
    "HIPPODROME_SECRET": "key of the installation, 64 hex digits; default: file `secret` in the home",
    "HIPPODROME_ENGINES": "addresses of engine nodes, host:port or unix:path, separated by commas",
    "HIPPODROME_SERVER": "address of the control API, host:port",
    "HIPPODROME_TOKEN": "the secret of a token: who is calling",
    "HIPPODROME_BOT": "the bot that a live bot plays as",
    "HIPPODROME_ADDRESS": "where a launched bot plays",
    "HIPPODROME_TICKET": "the ticket of a launched bot",
}
"""Every variable of ours and what it is for; HIPPODROME_TEST_... are the tests' own."""


@dataclass(frozen=True)
class Settings:
    """`lease_seconds` in seconds; `engine_addresses`, `server_address` and `broker_url` are None when not set."""

    home: Path
    database_url: str
    broker_url: str | None
    lease_seconds: float
    engine_addresses: tuple[str, ...] | None
    server_address: str | None
    given_secret: bytes | None = field(default=None, repr=False)

    @staticmethod
    def load(env: Mapping[str, str] = os.environ) -> Settings:
        """The settings of `env`. Reads and writes no file. Raises FieldError."""
        _check_known(env)
        home = Path(env.get("HIPPODROME_HOME") or platformdirs.user_data_path("hippodrome")).expanduser().absolute()
        return Settings(
            home=home,
            database_url=env.get("HIPPODROME_DATABASE_URL") or f"sqlite:///{home / 'hippodrome.db'}",
            broker_url=_broker(env.get("HIPPODROME_BROKER_URL")),
            lease_seconds=_lease(env.get("HIPPODROME_LEASE")),
            engine_addresses=_addresses("HIPPODROME_ENGINES", env.get("HIPPODROME_ENGINES")),
            server_address=(_addresses("HIPPODROME_SERVER", env.get("HIPPODROME_SERVER")) or (None,))[0],
            given_secret=_secret("HIPPODROME_SECRET", env.get("HIPPODROME_SECRET")),
        )

    @property
    def records_dir(self) -> Path:
        """Where records go that are kept as files."""
        return self.home / "records"

    @property
    def secret(self) -> bytes:
        """The key of the installation, 32 bytes; its file is made (mode 0600) when it is first asked for."""
        return self.given_secret or _secret_file(self.home / "secret")


def _check_known(env: Mapping[str, str]) -> None:
    for name in env:
        if name.startswith("HIPPODROME_") and name not in KNOWN and not name.startswith("HIPPODROME_TEST_"):
            raise FieldError(name, "no such setting", did_you_mean(name, list(KNOWN)), tuple(KNOWN))


def _lease(text: str | None) -> float:
    if not text:
        return 15.0
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.5 <= seconds <= 3600:
        raise FieldError("HIPPODROME_LEASE", f"{text!r} is no number of seconds from 0.5 to 3600", "write for example 15")
    return seconds


def _broker(text: str | None) -> str | None:
    if not text:
        return None
    schemes = ("redis://", "rediss://", "redis+socket://")
    if not text.startswith(schemes):
        scheme = text.partition("://")[0][:30]
        raise FieldError("HIPPODROME_BROKER_URL", f"{scheme!r} is no broker known here", "write redis://host:6379/0", schemes)
    return text


def _addresses(name: str, text: str | None) -> tuple[str, ...] | None:
    if not text:
        return None
    parts = tuple(part.strip() for part in text.split(","))
    for part in parts:
        host, _, port = part.rpartition(":")
        if not (part.startswith("unix:") and len(part) > 5) and not (host and port.isdigit() and 0 < int(port) < 65536):
            raise FieldError(name, f"{part!r} is no address", "write host:port, for example 127.0.0.1:7700")
    return parts


def _secret(name: str, text: str | None) -> bytes | None:
    if not text:
        return None
    try:
        secret = bytes.fromhex(text)
    except ValueError:
        secret = b""
    if len(secret) != SECRET_BYTES:
        raise FieldError(
            name, "it is not 64 hex digits", "make one with: python -c 'import secrets; print(secrets.token_hex(32))'"
        )
    return secret


def _secret_file(path: Path) -> bytes:
    """The secret in `path`. A new file appears whole: it is linked into place, so two processes agree on the first one."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = path.with_name(f".secret-{os.getpid()}-{secrets.token_hex(4)}")
        fresh.touch(mode=0o600, exist_ok=False)
        fresh.write_text(secrets.token_hex(SECRET_BYTES) + "\n", encoding="ascii")
        try:
            os.link(fresh, path)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    found = _secret(str(path), path.read_text(encoding="ascii", errors="replace").strip())
    if found is None:
        raise FieldError(str(path), "the file is empty", "delete it: a new key is made, and tickets in use end")
    return found
