"""What a worker process holds while it lives: its database, its way to the engine nodes, the attempts under way.

Made when a process first plays a match, never at import: a spawned or forked child makes its own.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from hippodrome.engine.tickets import internal_key
from hippodrome.ladder.db import Database, open_database
from hippodrome.ladder.settings import Settings
from hippodrome.workers.nodes import Nodes, Run
from hippodrome.workers.server import read_server


class Context:
    """`owner` names this process in leases and attempts."""

    def __init__(self, settings: Settings, database: Database, nodes: Nodes) -> None:
        self.settings, self.database, self.nodes = settings, database, nodes
        self.owner = f"{socket.gethostname()}/{os.getpid()}"
        self.stopping = False
        self._runs: set[Run] = set()
        self._lock = threading.Lock()

    @contextmanager
    def watching(self, run: Run) -> Iterator[Run]:
        """While the block runs, `stop` can end the attempt; the block's end ends it in any case."""
        with self._lock:
            self._runs.add(run)
        try:
            if self.stopping:
                run.cancel()
            yield run
        finally:
            run.cancel()
            with self._lock:
                self._runs.discard(run)

    def stop(self) -> None:
        """End all attempts under way; their matches are given back and can be claimed at once."""
        self.stopping = True
        with self._lock:
            runs = tuple(self._runs)
        for run in runs:
            run.cancel()

    def close(self) -> None:
        """Give connections and channels back."""
        self.stop()
        self.nodes.close()
        self.database.close()


def open_context(settings: Settings) -> Context:
    """A context for these settings."""
    nodes = Nodes(partial(engine_addresses, settings), internal_key(settings.secret))
    return Context(settings, open_database(settings.database_url), nodes)


def engine_addresses(settings: Settings) -> tuple[str, ...]:
    """The nodes of the settings, else those that `up` runs on this home."""
    if settings.engine_addresses is not None:
        return settings.engine_addresses
    server = read_server(settings.home)
    return server.engines if server else ()


_CONTEXTS: dict[int, Context] = {}
_OPENING = threading.Lock()


def context() -> Context:
    """The context of this process."""
    with _OPENING:
        if os.getpid() not in _CONTEXTS:
            _CONTEXTS[os.getpid()] = open_context(Settings.load())
        return _CONTEXTS[os.getpid()]


def close_context() -> None:
    """Close the context of this process, if it has one."""
    with _OPENING:
        found = _CONTEXTS.pop(os.getpid(), None)
    if found:
        found.close()


def stop_attempts() -> None:
    """End the attempts of this process, now and later ones. Does not open a context."""
    if found := _CONTEXTS.get(os.getpid()):
        found.stop()
