"""Processes are killed in the middle of a tournament. It completes, each match has one result, and none blames a bot."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import psutil
import pytest
import redis

from hippodrome.workers import broker
from hippodrome.workers.processes import wait_until

RunRig = Callable[..., AbstractContextManager[Any]]
BLOCKS, MATCHES = 40, 80
pytestmark = pytest.mark.slow


def leased(rig: Any) -> list[str]:
    return [row.id for row in rig.rows("match") if row.state == "leased"]


def in_the_middle(rig: Any, name: str) -> None:
    """Some matches are done, some are being played, some wait."""
    rig.wait_done(name, 10)
    assert wait_until(lambda: bool(leased(rig)), 60, 0.005)
    assert rig.progress(name).pending


def test_a_worker_is_killed(run_rig: RunRig, database_url: str) -> None:
    with run_rig(database_url) as rig:
        name = rig.plan(BLOCKS)
        in_the_middle(rig, name)
        killed = rig.kill("worker-1")
        rig.check_finished(name, MATCHES)
        assert rig.pid("worker-1") != killed
        assert "lost" in {row.outcome for row in rig.rows("attempt")}


def test_a_worker_child_is_killed(run_rig: RunRig) -> None:
    with run_rig(pool="prefork", slots=3) as rig:
        name = rig.plan(BLOCKS)
        in_the_middle(rig, name)
        owners = {row.owner.rpartition("/")[2] for row in rig.rows("match") if row.state == "leased"}
        main = psutil.Process(rig.pid("worker-1"))
        children = [child for child in main.children() if str(child.pid) in owners]
        assert children, "a child that plays a match"
        children[0].kill()
        rig.check_finished(name, MATCHES)
        assert rig.pid("worker-1") == main.pid


def test_the_engine_is_killed(run_rig: RunRig) -> None:
    with run_rig() as rig:
        name = rig.plan(BLOCKS)
        in_the_middle(rig, name)
        killed = rig.kill("engine")
        rig.check_finished(name, MATCHES)
        assert rig.pid("engine") != killed
        assert "void" in {row.outcome for row in rig.rows("attempt")}


def test_the_broker_is_killed(run_rig: RunRig) -> None:
    with run_rig() as rig:
        name = rig.plan(BLOCKS)
        in_the_middle(rig, name)
        killed = rig.kill("broker")
        rig.check_finished(name, MATCHES)
        assert rig.pid("broker") != killed


def test_the_reconciler_is_killed(run_rig: RunRig) -> None:
    with run_rig() as rig:
        name = rig.plan(BLOCKS)
        in_the_middle(rig, name)
        killed = rig.kill("reconciler")
        rig.check_finished(name, MATCHES)
        assert rig.pid("reconciler") != killed


def test_a_bot_is_killed_and_loses_only_what_it_was_playing(run_rig: RunRig) -> None:
    """Its process took the session along: after the grace time those matches end as disconnected. The next process plays on."""
    with run_rig() as rig:
        name = rig.plan(BLOCKS)
        in_the_middle(rig, name)
        rig.kill("bot-random")
        playing = rig.options.workers * rig.options.slots
        rig.wait_done(name, MATCHES)
        endings = Counter(row.ending for row in rig.rows("result"))
        assert endings.keys() == {"rules", "disconnect"}
        assert endings["disconnect"] <= playing
        killed = min(row.version_id for row in rig.rows("seat"))
        blamed = {(row.match_id, fault["seat"]) for row in rig.rows("result") for fault in row.faults}
        assert {row.version_id for row in rig.rows("seat") if (row.match_id, row.seat) in blamed} == {killed}


def test_the_broker_forgets_everything(run_rig: RunRig) -> None:
    with run_rig() as rig:
        name = rig.plan(BLOCKS)
        with redis.Redis(unix_socket_path=str(broker.socket_path(rig.settings.home))) as client:
            for done in (5, 20, 40):
                rig.wait_done(name, done)
                client.flushall()
        rig.check_finished(name, MATCHES)


def freeze(rig: Any, name: str) -> int:
    """Stop a process, but not inside a transaction of its own: on SQLite it would keep all others from writing."""
    with rig.database.write():
        return int(rig.kill(name, signal.SIGSTOP))


def test_a_frozen_worker_wakes_up_after_its_lease_and_is_superseded(run_rig: RunRig) -> None:
    """Its matches are played by another meanwhile; what it writes late is refused by the fence."""
    with run_rig(workers=2, slots=4) as rig:
        name = rig.plan(BLOCKS)
        in_the_middle(rig, name)
        frozen = freeze(rig, "worker-1")
        held = [row.id for row in rig.rows("match") if row.state == "leased" and row.owner.endswith(f"/{frozen}")]
        assert held, "matches that the frozen worker holds"
        try:
            assert wait_until(lambda: set(held) <= {row.match_id for row in rig.rows("result")}, 60)
        finally:
            os.kill(frozen, signal.SIGCONT)
        rig.check_finished(name, MATCHES)
        assert rig.pid("worker-1") == frozen
        overtaken = [row for row in rig.rows("attempt") if row.match_id in held and row.outcome in ("lost", "superseded")]
        assert {row.match_id for row in overtaken} == set(held)


def test_everything_at_once(run_rig: RunRig, database_url: str) -> None:
    """One fault after the other, of every kind."""
    with run_rig(database_url, workers=2) as rig:
        name = rig.plan(BLOCKS)
        for done, victim in (
            (8, "worker-1"),
            (16, "broker"),
            (24, "engine"),
            (32, "reconciler"),
            (40, "worker-2"),
            (48, "broker"),
        ):
            rig.wait_done(name, done)
            rig.kill(victim)
        rig.check_finished(name, MATCHES)


@pytest.mark.parametrize(("number", "reasons"), [(signal.SIGTERM, set()), (signal.SIGQUIT, {"the worker was stopped"})])
def test_a_worker_that_is_told_to_end_breaks_no_lease(run_rig: RunRig, number: signal.Signals, reasons: set[str]) -> None:
    """SIGTERM: its matches are played to their end first. SIGQUIT: they are given back at once, which is no strike."""
    with run_rig(lease=60.0) as rig:
        name = rig.plan(BLOCKS)
        in_the_middle(rig, name)
        told = rig.kill("worker-1", number)
        rig.check_finished(name, MATCHES)
        assert rig.pid("worker-1") != told
        assert {row.reason for row in rig.rows("attempt") if row.outcome != "completed"} == reasons
        assert {row.strikes for row in rig.rows("match")} == {0}
