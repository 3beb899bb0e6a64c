"""The reconciler: `python -m hippodrome.workers.reconcile`. One of any number that run, elected by a lease row.

Every half second (sooner while there is work) it rings for what is due: pending matches not rung for a while, leases that
ran out. A doorbell is sent only after the transaction that chose it; a lost, doubled or late one has no effect, so a broker
that forgets everything costs seconds. It also brings ladders up to date with their results.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

from hippodrome.engine.errors import HippodromeError
from hippodrome.ladder import lifecycle, refit
from hippodrome.ladder.db import Database, open_database
from hippodrome.ladder.errors import DatabaseUnavailable
from hippodrome.ladder.models import utcnow
from hippodrome.ladder.settings import Settings
from hippodrome.workers.processes import write_atomically

log = logging.getLogger(__name__)
OFFICE: Final = "reconciler"
TERM: Final = 5.0
"""Seconds for which an election holds."""
IDLE: Final = 0.5
"""Seconds between two rounds with nothing to do."""
BUSY: Final = 0.05
"""Seconds after a round that rang."""
REFIT_SHARE: Final = 0.2
"""The most of its time that the reconciler gives to ratings."""


class Doorbell(Protocol):
    """How workers are told. Both raise OSError while the broker is away."""

    def ring(self, match_id: str) -> None:
        """Tell any worker to play the match."""

    def waiting(self) -> int:
        """How many doorbells no worker has answered yet."""


class Reconciler:
    """`window` is how many doorbells may be unanswered at once: the broker's queue stays short whatever happens."""

    def __init__(self, database: Database, doorbell: Doorbell, window: int) -> None:
        self._database, self._doorbell, self._window = database, doorbell, window
        self._owner = f"{socket.gethostname()}/{os.getpid()}"
        self._refit_at = 0.0
        self._elected: bool | None = None

    def round(self) -> float:
        """Do what is due; the seconds until the next round."""
        try:
            due = self._choose(self._room())
            self._send(due)
            self._refit()
        except (DatabaseUnavailable, OSError) as error:
            log.warning("round cut short: %s", error)
            return IDLE
        return BUSY if due else IDLE

    def _room(self) -> int:
        return self._window if self._doorbell.waiting() < self._window else 0

    def resign(self) -> None:
        """Let another reconciler be elected at once."""
        with self._database.write() as session:
            lifecycle.resign(session, OFFICE, self._owner)

    def _choose(self, room: int) -> Sequence[str]:
        """At most `room` matches to ring for, marked as rung; none while another reconciler is elected."""
        now = utcnow()
        with self._database.write() as session:
            elected = lifecycle.elect(session, OFFICE, self._owner, now, TERM)
            due = lifecycle.due(session, now, room) if elected and room else []
            lifecycle.mark_rung(session, due, now)
        if elected is not self._elected:
            log.info("elected" if elected else "another reconciler is elected")
        self._elected = elected
        return due

    def _send(self, due: Sequence[str]) -> None:
        """Ring. If the broker goes away meanwhile, the rest is due again in a few seconds."""
        for match_id in due:
            self._doorbell.ring(match_id)
        if due:
            log.info("rang for %d matches", len(due))

    def _refit(self) -> None:
        """Bring the ladders up to date, as often as a fifth of our time allows."""
        if not self._elected or time.monotonic() < self._refit_at:
            return
        begun = time.monotonic()
        refit_all(self._database)
        self._refit_at = time.monotonic() + max(IDLE, (time.monotonic() - begun) / REFIT_SHARE)


def refit_all(database: Database) -> int:
    """Bring every ladder that has new results up to date; how many had."""
    with database.read() as session:
        ladders = refit.refit_due(session)
    for ladder in ladders:
        refit.refit_apart(database, ladder)
        log.info("ladder %s is up to date", ladder)
    return len(ladders)


class CeleryDoorbell:
    """Doorbells through Celery. What the broker's client raises comes out as OSError."""

    def ring(self, match_id: str) -> None:
        """Send the message."""
        from hippodrome.workers.app import PLAY, app

        with _as_os_error():
            app.send_task(PLAY, (match_id,), retry=False)

    def waiting(self) -> int:
        """The length of the queue."""
        from hippodrome.workers.app import QUEUE, app

        with _as_os_error(), app.pool.acquire(block=True) as connection:
            return int(connection.default_channel.client.llen(QUEUE))


@contextmanager
def _as_os_error() -> Iterator[None]:
    from kombu.exceptions import OperationalError
    from redis.exceptions import RedisError

    try:
        yield
    except (OperationalError, RedisError) as error:
        raise ConnectionError(f"broker: {error}") from error


def read_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The checked command line."""
    parser = argparse.ArgumentParser(
        prog="python -m hippodrome.workers.reconcile", description="Rings for matches that are due."
    )
    parser.add_argument(
        "--window", type=int, default=48, help="matches rung or played at once: about 4 for each slot (default 48)"
    )
    parser.add_argument("--ready-file", type=Path, help="written after the first round")
    read = parser.parse_args(arguments)
    if not 1 <= read.window <= 100_000:
        parser.error(f"--window: {read.window} is out of range; fix: give 1 to 100000")
    return read


def main(arguments: Sequence[str] | None = None) -> None:
    """Run until SIGTERM or SIGINT."""
    read = read_arguments(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    try:
        _serve(read, ended)
    except HippodromeError as error:
        raise SystemExit(f"error: {error}") from None


def _serve(read: argparse.Namespace, ended: threading.Event) -> None:
    database = open_database(Settings.load().database_url)
    try:
        reconciler = Reconciler(database, CeleryDoorbell(), read.window)
        pause = reconciler.round()
        if read.ready_file:
            write_atomically(read.ready_file, "ready\n")
        while not ended.wait(pause):
            pause = reconciler.round()
        reconciler.resign()
    finally:
        database.close()


if __name__ == "__main__":
    main()
