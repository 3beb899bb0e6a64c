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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

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

Ring = Callable[[str], None]


class Reconciler:
    """`ring` sends a doorbell with a match id; `window` is how many matches may be rung or played at once."""

    def __init__(self, database: Database, ring: Ring, window: int) -> None:
        self._database, self._ring, self._window = database, ring, window
        self._owner = f"{socket.gethostname()}/{os.getpid()}"
        self._refit_at = 0.0
        self._elected: bool | None = None

    def round(self) -> float:
        """Do what is due; the seconds until the next round."""
        try:
            due = self._choose()
        except DatabaseUnavailable as error:
            log.warning("no round: %s", error)
            return IDLE
        self._send(due)
        self._refit()
        return BUSY if due else IDLE

    def _choose(self) -> Sequence[str]:
        """The matches to ring for, marked as rung; none while another reconciler is elected."""
        now = utcnow()
        with self._database.write() as session:
            elected = lifecycle.elect(session, OFFICE, self._owner, now, TERM)
            due = lifecycle.due(session, now, self._window) if elected else []
            lifecycle.mark_rung(session, due, now)
        if elected is not self._elected:
            log.info("elected" if elected else "another reconciler is elected")
        self._elected = elected
        return due

    def _send(self, due: Sequence[str]) -> None:
        """Ring; a broker that is away hears of the rest when they are due again."""
        for count, match_id in enumerate(due):
            try:
                self._ring(match_id)
            except OSError as error:
                log.warning("broker away, %d of %d doorbells not sent: %s", len(due) - count, len(due), error)
                return
        if due:
            log.info("rang for %d matches", len(due))

    def _refit(self) -> None:
        """Bring the ladders up to date, as often as a fifth of our time allows."""
        if not self._elected or time.monotonic() < self._refit_at:
            return
        begun = time.monotonic()
        try:
            refit_all(self._database)
        except DatabaseUnavailable as error:
            log.warning("ratings not brought up to date: %s", error)
        self._refit_at = time.monotonic() + max(IDLE, (time.monotonic() - begun) / REFIT_SHARE)


def refit_all(database: Database) -> int:
    """Bring every ladder that has new results up to date; how many had."""
    with database.read() as session:
        ladders = refit.refit_due(session)
    for ladder in ladders:
        with database.write() as session:
            refit.refit(session, ladder)
        log.info("ladder %s is up to date", ladder)
    return len(ladders)


def celery_ring() -> Ring:
    """Doorbells through Celery. Anything the broker's client raises comes out as OSError."""
    from kombu.exceptions import OperationalError

    from hippodrome.workers.app import PLAY, app

    def ring(match_id: str) -> None:
        try:
            app.send_task(PLAY, (match_id,), retry=False)
        except OperationalError as error:
            raise ConnectionError(str(error)) from error

    return ring


def read_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The checked command line."""
    parser = argparse.ArgumentParser(prog="python -m hippodrome.workers.reconcile", description="Rings for matches that are due.")
    parser.add_argument("--window", type=int, default=48, help="matches rung or played at once: about 4 for each slot (default 48)")
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
        reconciler = Reconciler(database, celery_ring(), read.window)
        pause = reconciler.round()
        if read.ready_file:
            write_atomically(read.ready_file, "ready\n")
        while not ended.wait(pause):
            pause = reconciler.round()
    finally:
        database.close()


if __name__ == "__main__":
    main()
