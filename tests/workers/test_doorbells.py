"""A doorbell carries a match id and nothing else: lost, doubled, late or mistaken it changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import pytest

from hippodrome.ladder import lifecycle, tournaments
from hippodrome.ladder.accounts import get_account
from hippodrome.ladder.db import Database, open_database, upgrade
from hippodrome.ladder.models import utcnow
from hippodrome.workers.app import PLAY, make_app
from hippodrome.workers.house import OPERATOR, prepare_house
from hippodrome.workers.processes import wait_until
from hippodrome.workers.reconcile import IDLE, OFFICE, Reconciler

RunRig = Callable[..., AbstractContextManager[Any]]


class Doorbells:
    """Collects what was rung; `queue` is what it tells of the broker's queue; `away` makes it fail as a dead broker does."""

    def __init__(self) -> None:
        self.rung: list[str] = []
        self.queue = 0
        self.away = False

    def ring(self, match_id: str) -> None:
        if self.away:
            raise ConnectionError("broker: gone")
        self.rung.append(match_id)

    def waiting(self) -> int:
        if self.away:
            raise ConnectionError("broker: gone")
        return self.queue


@pytest.fixture
def planned(database_url: str) -> Iterator[Database]:
    """A tournament of 20 matches that nobody plays."""
    upgrade(database_url)
    database = open_database(database_url)
    with database.write() as session:
        prepare_house(session, ("random", "random-2"))
        tournaments.create_tournament(
            session,
            name="bells",
            ruleset="antiquity-2p",
            entries=("random", "random-2"),
            blocks=10,
            account=get_account(session, OPERATOR),
        )
    yield database
    database.close()


def test_a_round_rings_for_no_more_than_the_window(planned: Database) -> None:
    bells = Doorbells()
    reconciler = Reconciler(planned, bells, window=8)
    reconciler.round()
    reconciler.round()
    assert len(bells.rung) == len(set(bells.rung)) == 8


def test_no_bell_is_added_to_a_full_queue(planned: Database) -> None:
    bells = Doorbells()
    bells.queue = 8
    assert Reconciler(planned, bells, window=8).round() == IDLE
    assert bells.rung == []


def test_bells_that_a_dead_broker_lost_are_rung_again(planned: Database) -> None:
    bells = Doorbells()
    reconciler = Reconciler(planned, bells, window=4)
    reconciler.round()
    lost, bells.rung = bells.rung, []
    bells.away = True
    assert reconciler.round() == IDLE
    bells.away = False
    assert wait_until(lambda: bool(reconciler.round() and bells.rung), lifecycle.RING_AGAIN + 30, 0.2)
    assert set(bells.rung) >= set(lost)


def test_a_lease_that_ran_out_is_rung_for(planned: Database) -> None:
    bells = Doorbells()
    long_ago = utcnow() - timedelta(seconds=60)
    with planned.write() as session:
        first = lifecycle.due(session, utcnow(), 1)[0]
        lifecycle.claim(session, first, "a worker that is gone", long_ago, 5)
    Reconciler(planned, bells, window=1).round()
    assert bells.rung == [first]


def test_only_the_elected_reconciler_rings(planned: Database) -> None:
    first, second = Doorbells(), Doorbells()
    elected, other = Reconciler(planned, first, window=2), Reconciler(planned, second, window=20)
    other._owner += "-other"
    elected.round()
    other.round()
    assert (len(first.rung), len(second.rung)) == (2, 0)
    elected.resign()
    other.round()
    assert second.rung


def test_another_takes_over_when_the_elected_one_is_silent(planned: Database) -> None:
    with planned.write() as session:
        assert lifecycle.elect(session, OFFICE, "gone", utcnow() - timedelta(seconds=60), 5)
    bells = Doorbells()
    Reconciler(planned, bells, window=2).round()
    assert len(bells.rung) == 2


def test_doubled_late_and_unknown_bells_change_nothing(run_rig: RunRig) -> None:
    with run_rig(lease=15.0) as rig:
        app = make_app(rig.settings)
        name = rig.plan(blocks=10)
        ids: Sequence[str] = [row.id for row in rig.rows("match")]
        for match_id in (*ids, *ids, *reversed(ids), "m0000000000", "not an id", ""):
            app.send_task(PLAY, (match_id,))
        rig.check_finished(name, 20)
        for match_id in ids:
            app.send_task(PLAY, (match_id,))
        with app.connection_for_write() as connection:
            assert wait_until(lambda: connection.default_channel.client.llen("matches") == 0, 60)
        rig.check_finished(name, 20)
        assert len(rig.rows("attempt")) == 20


def test_a_message_that_is_no_doorbell_harms_nobody(run_rig: RunRig) -> None:
    with run_rig(lease=15.0) as rig:
        app, worker = make_app(rig.settings), rig.pid("worker-1")
        app.send_task(PLAY, (["m1", {"a": 1}],))
        app.send_task(PLAY, ())
        app.send_task("hippodrome.unknown", ("m1",))
        rig.check_finished(rig.plan(blocks=2), 4)
        assert rig.pid("worker-1") == worker
