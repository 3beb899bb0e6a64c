"""A worker process: `python -m hippodrome.workers.worker --name worker-1 --slots 12`.

SIGTERM lets the matches under way end first; SIGQUIT gives them back and ends at once.
"""

from __future__ import annotations

import argparse
import logging
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from hippodrome.engine.errors import HippodromeError
from hippodrome.workers.processes import write_atomically
from hippodrome.workers.programs import MAX_SLOTS, POOLS


def read_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The checked command line."""
    parser = argparse.ArgumentParser(
        prog="python -m hippodrome.workers.worker", description="Plays matches when it is rung for."
    )
    parser.add_argument("--name", default="worker-1", help="name in logs, one for each worker of a host")
    parser.add_argument("--slots", type=int, default=12, help="matches at once (default 12)")
    parser.add_argument("--pool", choices=POOLS, default=POOLS[0], help="threads, or a process for each slot")
    parser.add_argument("--ready-file", type=Path, help="written when the worker listens to the broker")
    read = parser.parse_args(arguments)
    if not 1 <= read.slots <= MAX_SLOTS:
        parser.error(f"--slots: {read.slots} is out of range; fix: give 1 to {MAX_SLOTS}, and start more workers")
    return read


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a worker until it is told to end."""
    read = read_arguments(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        logging.getLogger("celery.app.trace").setLevel(logging.WARNING)
        _serve(read)
    except HippodromeError as error:
        raise SystemExit(f"error: {error}") from None


def _serve(read: argparse.Namespace) -> None:
    from hippodrome.workers.app import app

    _when_ready(read.ready_file)
    app.worker_main(
        [
            "worker",
            "--hostname", f"{read.name}@%h",
            "--concurrency", str(read.slots),
            "--pool", read.pool,
            "--without-gossip",
            "--without-mingle",
            "--loglevel", "INFO",
        ]
    )  # fmt: skip


def _when_ready(ready_file: Path | None) -> None:
    """Once the worker listens: tell so, and see to SIGQUIT."""
    from celery import signals

    def ready(**_: Any) -> None:
        _stop_attempts_first()
        if ready_file:
            write_atomically(ready_file, "ready\n")

    signals.worker_ready.connect(ready, weak=False)


def _stop_attempts_first() -> None:
    """Celery's SIGQUIT handler waits for the threads of its pool before it tells anybody, so they must be told before it."""
    celerys = signal.getsignal(signal.SIGQUIT)

    def quit_now(number: int, frame: FrameType | None) -> None:
        threading.Thread(target=_stop_attempts, name="stop-attempts").start()
        if callable(celerys):
            celerys(number, frame)

    signal.signal(signal.SIGQUIT, quit_now)


def _stop_attempts() -> None:
    """Called off the signal handler's thread, which may hold a lock that ending an attempt needs."""
    from hippodrome.workers.context import stop_attempts

    stop_attempts()


if __name__ == "__main__":
    main()
