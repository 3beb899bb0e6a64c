"""The options --server and --token, and what they connect a command to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

import click

from hippodrome.engine.errors import FieldError
from hippodrome.ladder.settings import Settings
from hippodrome.workers.sources import Place, Source, find_server, open_administration, open_source

F = TypeVar("F", bound=Callable[..., Any])


@dataclass
class Connect:
    """Opens the source of data when it is first asked for; it is closed with the command."""

    server: str | None
    token: str | None
    _source: Source | None = field(default=None, init=False)

    def __call__(self) -> Source:
        """The source. Raises FieldError, DatabaseUnavailable, Unreachable."""
        return self._keep(open_source)

    def administration(self) -> Source:
        """The source for accounts and tokens: the database of this installation, unless a server is named."""
        return self._keep(open_administration)

    def is_remote(self) -> bool:
        """Whether a server is asked, not the database."""
        return find_server(self.server, self.token, Settings.load()) is not None

    def place(self) -> Place:
        """The server to play at, with a token for it. Raises FieldError when there is none."""
        found = find_server(self.server, self.token, Settings.load())
        if found is None:
            raise FieldError(
                "--server", "no server is named and no service runs on this home", "give --server, or start one: hippodrome up"
            )
        if not found.token:
            raise FieldError(
                "--token", f"{found.server} wants to know who is calling", "set HIPPODROME_TOKEN to the secret of a token"
            )
        return found

    def _keep(self, opened: Callable[[str | None, str | None], Source]) -> Source:
        if self._source is None:
            self._source = opened(self.server, self.token)
            click.get_current_context().call_on_close(self._source.close)
        return self._source


def source_options(command: F) -> F:
    """Gives the command --server and --token, and the parameter `connect`: a Connect."""

    @wraps(command)
    def wrapped(*, server: str | None, token: str | None, **rest: Any) -> Any:
        return command(connect=Connect(server, token), **rest)

    with_token = click.option("--token", help="Secret of a token. Better: HIPPODROME_TOKEN.")(wrapped)
    server_help = "Address of a server, HOST:PORT, or HIPPODROME_SERVER. Default: the service or the database of this home."
    return click.option("--server", help=server_help)(with_token)  # type: ignore[return-value]
