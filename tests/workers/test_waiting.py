"""Bots that stay away, and matches that cannot be played: both wait or are parked, and nothing is blamed on anybody else."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

from sqlalchemy import update

from hippodrome.ladder import lifecycle
from hippodrome.ladder.models import TABLES, utcnow
from hippodrome.workers.processes import end, wait_until

RunRig = Callable[..., AbstractContextManager[Any]]
MATCH = TABLES["match"]


def test_matches_of_a_bot_that_is_away_wait_and_are_played_when_it_comes(run_rig: RunRig) -> None:
    with run_rig(absent=("random-2",)) as rig:
        name = rig.plan(blocks=2)
        assert wait_until(lambda: any(row.waiting for row in rig.rows("match")), 60), rig.rows("match")
        assert rig.rows("result") == []
        late = rig.start_bot("random-2")
        try:
            rig.check_finished(name, 4)
        finally:
            late.terminate()
            end([late], 10)
        assert {row.strikes for row in rig.rows("match")} == {0}
        assert {row.outcome for row in rig.rows("attempt")} == {"completed"}


def test_a_bot_that_never_comes_is_judged_disconnected_and_its_opponent_wins(run_rig: RunRig) -> None:
    with run_rig(absent=("random-2",)) as rig:
        rig.plan(blocks=1)
        away = "bots/random-2/versions/1"
        assert wait_until(lambda: all(away in row.waiting for row in rig.rows("match")), 60), rig.rows("match")
        since = (utcnow() - timedelta(seconds=lifecycle.NO_SHOW + 1)).isoformat()
        with rig.database.write() as session:
            session.execute(update(MATCH).values(waiting={away: since}))
        assert wait_until(lambda: len(rig.rows("result")) == 2, 60)
        seats = {(row.match_id, row.seat): row.version_id for row in rig.rows("seat")}
        for row in rig.rows("result"):
            assert (row.ending, row.faults[0]["kind"]) == ("disconnect", "disconnect")
            loser = row.places.index(2)
            assert row.faults[0]["seat"] == loser
            assert seats[row.match_id, loser] == max(seats.values())


def test_a_match_that_cannot_be_played_is_parked_with_its_evidence_and_the_others_go_on(run_rig: RunRig) -> None:
    """A damaged row: the ruleset wants three seats, the match has two. Each attempt is a strike."""
    with run_rig() as rig:
        reconciler = rig.kill("reconciler", signal.SIGSTOP)
        name = rig.plan(blocks=2)
        with rig.database.write() as session:
            sick = session.execute(MATCH.select().order_by(MATCH.c.number.desc())).first()
            session.execute(update(MATCH).where(MATCH.c.id == sick.id).values(ruleset="antiquity-3p"))
        os.kill(reconciler, signal.SIGCONT)
        assert wait_until(lambda: rig.progress(name).parked == 1 and rig.progress(name).done == 3, 60), rig.progress(name)
        attempts = [row for row in rig.rows("attempt") if row.match_id == sick.id]
        assert [(row.outcome, row.counted) for row in attempts] == [("void", True)] * lifecycle.STRIKES
        assert all("FIELD_INVALID" in row.reason and "seats" in row.evidence for row in attempts)
        assert {row.ending for row in rig.rows("result")} == {"rules"}
        mend(rig, sick.id)
        rig.check_finished(name, 4)


def mend(rig: Any, match_id: str) -> None:
    """What an operator does."""
    with rig.database.write() as session:
        session.execute(update(MATCH).where(MATCH.c.id == match_id).values(ruleset="antiquity-2p"))
        lifecycle.unpark(session, match_id)


def test_a_cancelled_tournament_stops_and_a_resumed_one_completes(run_rig: RunRig) -> None:
    from hippodrome.ladder import tournaments

    with run_rig() as rig:
        name = rig.plan(blocks=20)
        rig.wait_done(name, 5)
        with rig.database.write() as session:
            tournaments.cancel(session, name)
        done = rig.progress(name).done
        assert rig.progress(name).cancelled == 40 - done
        with rig.database.write() as session:
            tournaments.resume(session, name)
        rig.check_finished(name, 40)
