"""A worker process for the tests of concurrency: `worker_program.py URL OWNER MODE [POINT]`.

`play` claims whatever is due, finishes each match twice and goes on until nothing is open. `die` does the same but kills itself
with SIGKILL in the middle of its transactions, at the statement POINT counts. `ratings` plays and refits.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from typing import Any

from sqlalchemy import event

from hippodrome.engine.record import Record, seal
from hippodrome.engine.referee import MatchSpec, Referee
from hippodrome.games.registry import get_game
from hippodrome.ladder import lifecycle, refit, tournaments
from hippodrome.ladder.db import Database, open_database
from hippodrome.ladder.models import utcnow


def record_of(spec: MatchSpec) -> Record:
    """A record whose places follow from the match, so that every attempt has the same result."""
    seats = list(range(1, len(spec.seats) + 1))
    random.Random(spec.match).shuffle(seats)
    closing = {"end": "rules", "reason": "", "places": seats, "scores": [], "faults": [], "moves": 0, "seed": spec.seed.hex()}
    return seal(Referee(spec, get_game(spec.ruleset.game)).lines[:1], closing)


def play(database: Database, owner: str, fit: bool) -> int:
    stored = 0
    chance = random.Random(owner)
    while True:
        with database.read() as session:
            due = lifecycle.due(session, utcnow(), 10_000)
            if not due and tournaments.progress(session, "spring").open == 0:
                return stored
        chance.shuffle(due)
        for match in due[:10]:
            stored += play_one(database, owner, match)
        if fit:
            refit.refit_apart(database, "antiquity-2p")


def play_one(database: Database, owner: str, match: str) -> int:
    with database.write() as session:
        claim = lifecycle.claim(session, match, owner, utcnow(), 5.0)
    if isinstance(claim, lifecycle.Refused):
        return 0
    record = record_of(claim.spec)
    with database.write() as session:
        lifecycle.heartbeat(session, match, claim.fence, 1, utcnow())
    answers = []
    for _ in range(2):
        with database.write() as session:
            answers.append(lifecycle.finish(session, match, claim.fence, record))
    assert answers in (["stored", "already"], ["superseded", "superseded"]), answers
    return answers[0] == "stored"


def die_at(database: Database, point: int) -> None:
    """Kill this process when its writer is about to run statement number `point`."""
    left = [point]

    @event.listens_for(database.writer, "before_cursor_execute")
    def count(*_: Any) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    @event.listens_for(database.writer, "commit")
    def count_commit(_: Any) -> None:
        count()


def main() -> None:
    url, owner, mode, *rest = sys.argv[1:]
    database = open_database(url)
    if mode == "die":
        die_at(database, int(rest[0]))
    print(play(database, owner, mode == "ratings"))


main()
