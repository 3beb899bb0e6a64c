"""Where the command line gets its data: a server over gRPC, or the database itself. Light to import: what a source needs is
loaded when it is opened.

`open_source` takes, in this order: the server that is named, the service that runs on this home, the database.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from hippodrome.engine.errors import FieldError, HippodromeError
from hippodrome.ladder.pages import AccountPage, BotPage, LadderPage, MatchPage, TokenPage, TournamentPage, VersionPage
from hippodrome.ladder.paging import Page
from hippodrome.ladder.settings import Settings
from hippodrome.workers.server import running_server

if TYPE_CHECKING:
    from hippodrome.workers.source_database import DatabaseSource
    from hippodrome.workers.source_remote import RemoteSource

T = TypeVar("T")


class NotAllowed(FieldError):
    """The token is missing or wrong, or its account may not do this."""


class Unreachable(HippodromeError):
    """A server cannot be reached, or something it needs is not there now."""


@dataclass(frozen=True, slots=True)
class NewTournament:
    """What a tournament is asked for; empty texts take the default: a drawn name and seed, 60s+100ms, forfeit, round-robin."""

    ruleset: str
    entries: tuple[str, ...]
    name: str = ""
    blocks: int = 1
    clock: str = ""
    policy: str = ""
    pairing: str = ""
    seed: str = ""
    rated: bool = True


class Source(Protocol):
    """Raises NotFound, AlreadyExists, WrongState, NotAllowed, FieldError, Unreachable, DatabaseUnavailable: the same from
    every source. Lists are whole (`limit` cuts matches), by name or newest first."""

    def ladders(self) -> list[str]: ...
    def ladder(self, name: str) -> LadderPage: ...
    def bots(self) -> list[BotPage]: ...
    def bot(self, name: str) -> BotPage: ...
    def create_bot(self, name: str, *, description: str = "") -> BotPage: ...
    def create_version(self, bot: str, *, description: str = "") -> VersionPage: ...
    def tournaments(self) -> list[TournamentPage]: ...
    def tournament(self, name: str) -> TournamentPage: ...
    def create_tournament(self, new: NewTournament) -> TournamentPage: ...
    def cancel_tournament(self, name: str) -> TournamentPage: ...
    def resume_tournament(self, name: str) -> TournamentPage: ...

    def watch_tournament(self, name: str) -> Iterator[TournamentPage]:
        """The tournament now, then whenever it has changed, until it is over."""
        ...

    def matches(self, *, tournament: str = "", bot: str = "", limit: int = 50) -> list[MatchPage]: ...
    def match(self, name: str) -> MatchPage: ...

    def record(self, match: str) -> str:
        """The record of a published match in its text form."""
        ...

    def accounts(self) -> list[AccountPage]: ...

    def create_account(self, name: str, *, admin: bool = False) -> tuple[AccountPage, str]:
        """The account and the secret of its first token."""
        ...

    def create_token(self, account: str, *, label: str = "") -> tuple[TokenPage, str]:
        """The token and its secret."""
        ...

    def revoke_token(self, name: str) -> TokenPage: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Place:
    """A server and the secret to show it; `token` may be empty."""

    server: str
    token: str


def find_server(server: str | None, token: str | None, settings: Settings) -> Place | None:
    """The server that is named (by argument or HIPPODROME_SERVER), else the service that runs on this home; None if there is
    none. The token of the local operator goes only to the service of this home. Raises FieldError."""
    given = _secret(token or os.environ.get("HIPPODROME_TOKEN", ""))
    named = _address(server) if server else settings.server_address
    if named:
        return Place(named, given)
    running = running_server(settings.home)
    return Place(running.api, given or running.token) if running else None


def open_source(server: str | None = None, token: str | None = None) -> Source:
    """The source of data. Raises FieldError, DatabaseUnavailable."""
    settings = Settings.load()
    place = find_server(server, token, settings)
    return open_remote(place) if place else open_database_source(settings)


def open_administration(server: str | None = None, token: str | None = None) -> Source:
    """For accounts and tokens: the database of this installation, unless a server is named."""
    settings = Settings.load()
    if server or settings.server_address:
        return open_source(server, token)
    return open_database_source(settings)


def open_remote(place: Place) -> RemoteSource:
    """A server as source."""
    from hippodrome.workers.source_remote import RemoteSource

    return RemoteSource(place)


def open_database_source(settings: Settings) -> DatabaseSource:
    """The database as source. Raises DatabaseUnavailable unless its schema is this program's."""
    from hippodrome.workers.source_database import DatabaseSource

    return DatabaseSource(settings.database_url)


def every_page(ask: Callable[[str], Page[T]]) -> Iterator[T]:
    """The items of all pages."""
    token = ""
    while True:
        page = ask(token)
        yield from page.items
        token = page.next_page_token
        if not token:
            return


def _secret(text: str) -> str:
    """`text` as it may stand in a header. Raises FieldError, which does not repeat it."""
    secret = text.strip()
    if not (secret.isascii() and secret.isprintable() and " " not in secret):
        problem, fix = "it holds characters that no token has", "copy the secret again: one word, hippo_..."
        raise FieldError("HIPPODROME_TOKEN", problem, fix)
    return secret


def _address(text: str) -> str:
    """`text` checked as an address. Raises FieldError."""
    host, _, port = text.rpartition(":")
    if not (text.startswith("unix:") and len(text) > 5) and not (host and port.isdigit() and 0 < int(port) < 65_536):
        raise FieldError("--server", f"{text[:80]!r} is no address", "write HOST:PORT, for example 127.0.0.1:7700")
    return text
