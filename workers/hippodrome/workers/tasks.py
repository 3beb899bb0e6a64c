"""The tasks: one, and thin."""

from __future__ import annotations

import logging
from typing import Any

from celery import signals

from hippodrome.workers.app import PLAY, app
from hippodrome.workers.context import close_context, context
from hippodrome.workers.run import play_match

log = logging.getLogger(__name__)


@app.task(name=PLAY)  # type: ignore[untyped-decorator]
def play(match_id: str) -> None:
    """Somebody rang for a match: play it if it is there to be played."""
    outcome = play_match(context(), match_id)
    log.info("%s %s", match_id, outcome)


@signals.worker_process_shutdown.connect  # type: ignore[untyped-decorator]
@signals.worker_shutdown.connect  # type: ignore[untyped-decorator]
def process_ends(**_: Any) -> None:
    """A prefork child or a whole worker ends: give connections and channels back."""
    close_context()
