"""One doorbell, from claim to commit.

    claim (SQL, a lease and a fence) -> an engine node plays (its messages are the heartbeats) -> the record is played again
    here and compared -> result, rating event and states in one transaction guarded by the fence

A lease that was lost ends the attempt and nothing is written. Whatever goes wrong on our side makes the attempt void: the
match keeps its seed and seats and is played again.
"""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, TypeVar

from hippodrome.engine.errors import HippodromeError, RecordError
from hippodrome.engine.record import Record, loads
from hippodrome.engine.verify import read_spec, verify
from hippodrome.games.registry import get_game
from hippodrome.ladder import lifecycle
from hippodrome.ladder.errors import DatabaseUnavailable
from hippodrome.ladder.lifecycle import Claim
from hippodrome.ladder.models import utcnow
from hippodrome.workers.context import Context
from hippodrome.workers.convert import Event, Finished, Missing, Progress
from hippodrome.workers.nodes import NodeError

log = logging.getLogger(__name__)
MISSING_PAUSE: Final = 2.0
"""Seconds before a match whose bots are away is tried again."""
NODE_PAUSE: Final = 1.0
"""Seconds before a match is tried again after an engine node failed."""
T = TypeVar("T")
_STOPPED: Final = "the worker was stopped"


class LeaseLost(Exception):
    """Another attempt holds the match now, or its tournament was stopped."""


class BotsAway(Exception):
    """Bots of the match are not connected; `versions` names them."""

    def __init__(self, versions: tuple[str, ...]) -> None:
        super().__init__(f"not connected: {', '.join(versions)}")
        self.versions = versions


def play_match(context: Context, match_id: str) -> str:
    """Claim the match and see it through; what came of it, in a word or two for the log."""
    begun = time.monotonic()
    try:
        claim = _claim(context, match_id)
    except DatabaseUnavailable as error:
        return f"not claimed: {error}"
    if not isinstance(claim, Claim):
        return f"refused: {claim.reason}"
    return f"{Attempt(context, match_id, claim).play()} {_spent('all', begun)}"


def _claim(context: Context, match_id: str) -> Claim | lifecycle.Refused:
    with context.database.write() as session:
        return lifecycle.claim(session, match_id, context.owner, utcnow(), context.settings.lease_seconds)


class Attempt:
    """One attempt of a claimed match."""

    def __init__(self, context: Context, match_id: str, claim: Claim) -> None:
        self.context, self.match_id, self.claim, self.fence = context, match_id, claim, claim.fence
        self._lease = context.settings.lease_seconds
        self._beaten = time.monotonic()
        self._times: list[str] = []
        self._connected: frozenset[str] = frozenset()
        """Versions that are at any of several nodes."""

    def play(self) -> str:
        """Run, verify, commit; what came of it."""
        try:
            record = self._timed("play", self._run)
            self._timed("verify", lambda: self._check(record))
            outcome = self._timed("commit", lambda: self._patient(lambda: self._finish(record)))
        except LeaseLost:
            outcome = "superseded"
        except BotsAway as away:
            outcome = self._wait(away.versions)
        except NodeError as error:
            outcome = self._node_failed(error)
        except HippodromeError as error:
            outcome = self._void(f"not verified: {error}", str(error), counts=True)
        except Exception as error:
            log.exception("%s attempt %d", self.match_id, self.fence)
            outcome = self._void(f"{type(error).__name__}: {error}"[:300], traceback.format_exc(), counts=True)
        return " ".join((outcome, *self._times))

    def _run(self) -> Record:
        """Let a node play the match. Raises NodeError, BotsAway, LeaseLost, RecordError."""
        nodes, spec = self.context.nodes, self.claim.spec
        choice = nodes.choose(frozenset(seat.version for seat in spec.seats))
        self._connected = choice.connected
        nodes.invite(choice, spec.match)
        run = nodes.run(choice.address, replace(self.claim, absent_seats=self._absent()))
        with self.context.watching(run):
            for event in run:
                if (record := self._hear(event)) is not None:
                    return record
        raise NodeError(f"engine node {choice.address} ended the attempt without a record", counts=True)

    def _hear(self, event: Event) -> Record | None:
        match event:
            case Progress(moves):
                self._heartbeat(moves)
            case Missing(versions):
                raise BotsAway(versions)
            case Finished(text):
                return loads(text)
        return None

    def _heartbeat(self, moves: int) -> None:
        """Tell SQL that we live, every quarter of the lease. A database that is away for a while is no reason to give up."""
        if time.monotonic() - self._beaten < self._lease / 4:
            return
        self._beaten = time.monotonic()
        try:
            with self.context.database.write() as session:
                alive = lifecycle.heartbeat(session, self.match_id, self.fence, moves, utcnow())
        except DatabaseUnavailable as error:
            log.warning("%s no heartbeat: %s", self.match_id, error)
            return
        if not alive:
            raise LeaseLost

    def _check(self, record: Record) -> None:
        """Play the record again with our own rules. Raises RecordError when it is not a record of this very match."""
        spec = self.claim.spec
        game = get_game(spec.ruleset.game)
        if read_spec(record, game) != spec:
            raise RecordError(1, "it is not of the match that was asked for")
        verify(record, game)

    def _finish(self, record: Record) -> str:
        with self.context.database.write() as session:
            return lifecycle.finish(session, self.match_id, self.fence, record)

    def _node_failed(self, error: NodeError) -> str:
        """A match whose attempt we ended ourselves may go on elsewhere at once."""
        if self.context.stopping:
            return self._void(_STOPPED, "", counts=False, pause=0.0)
        return self._void(error.reason, error.evidence, error.counts)

    def _void(self, reason: str, evidence: str, counts: bool, pause: float = NODE_PAUSE) -> str:
        """Give the match back; it is played again after `pause` seconds. `counts`: a strike against it."""
        log.warning("%s attempt %d is void: %s", self.match_id, self.fence, reason)

        def write() -> str:
            now = utcnow()
            with self.context.database.write() as session:
                lifecycle.void(session, self.match_id, self.fence, reason, evidence, counts, _after(now, pause), now)
            return "void"

        return self._patient(write)

    def _wait(self, missing: tuple[str, ...]) -> str:
        """Give the match back until its bots are there, which is no attempt at all. One at another node is only late."""
        away = tuple(version for version in missing if version not in self._connected)

        def write() -> str:
            now = utcnow()
            with self.context.database.write() as session:
                lifecycle.wait(session, self.match_id, self.fence, away, now, _after(now, MISSING_PAUSE))
            return f"waits for {', '.join(missing)}"

        return self._patient(write)

    def _patient(self, write: Callable[[], str]) -> str:
        """Try to write for as long as a lease lasts; after that the match is played again anyway."""
        deadline, pause = time.monotonic() + self._lease, 0.1
        while True:
            try:
                return write()
            except DatabaseUnavailable as error:
                if time.monotonic() > deadline:
                    return f"not written: {error}"
                time.sleep(pause)
                pause = min(2 * pause, 2.0)

    def _timed(self, name: str, work: Callable[[], T]) -> T:
        """Do `work`; its milliseconds go to the log."""
        begun = time.monotonic()
        try:
            return work()
        finally:
            self._times.append(_spent(name, begun))

    def _absent(self) -> tuple[int, ...]:
        """The seats to be judged disconnected: their bots have stayed away for too long, and are at no other node now."""
        seats = self.claim.spec.seats
        return tuple(number for number in self.claim.absent_seats if seats[number].version not in self._connected)


def _spent(name: str, begun: float) -> str:
    return f"{name}={(time.monotonic() - begun) * 1e3:.1f}ms"


def _after(now: datetime, seconds: float) -> datetime | None:
    return now + timedelta(seconds=seconds) if seconds else None
