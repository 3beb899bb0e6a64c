"""A small club of bots on a real database, and records to finish its matches with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from hippodrome.engine.record import Record, seal
from hippodrome.engine.referee import MatchSpec, Referee
from hippodrome.games.registry import get_game
from hippodrome.ladder import accounts, bots, lifecycle, tournaments
from hippodrome.ladder.db import Database
from hippodrome.ladder.lifecycle import Claim
from hippodrome.ladder.models import Tournament, utcnow


class Club:
    """The use cases in short, each in a transaction of its own. `now` is the club's clock and moves only when told."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.now: datetime = utcnow()

    def later(self, seconds: float) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now

    def bots(self, *names: str, account: str = "") -> None:
        """Bots, each of an account with its name, or all of one account."""
        with self.database.write() as session:
            for name in names:
                owner = accounts.ensure_account(session, name=account or name)
                bots.create_bot(session, account=owner, name=name)

    def tournament(self, *entries: str, name: str = "spring", ruleset: str = "antiquity-2p", **options: object) -> Tournament:
        with self.database.write() as session:
            organiser = accounts.ensure_account(session, name="organiser")
            return tournaments.create_tournament(
                session, name=name, ruleset=ruleset, entries=entries, account=organiser, seed="s", **options  # type: ignore[arg-type]
            )

    def claim(self, match: str, owner: str = "worker", lease: float = 15.0) -> Claim:
        with self.database.write() as session:
            claimed = lifecycle.claim(session, match, owner, self.now, lease)
        assert isinstance(claimed, Claim), claimed
        return claimed

    def refused(self, match: str) -> str:
        with self.database.write() as session:
            answer = lifecycle.claim(session, match, "other", self.now, 15.0)
        assert isinstance(answer, lifecycle.Refused)
        return answer.reason

    def finish(self, match: str, fence: int, record: Record) -> str:
        with self.database.write() as session:
            return lifecycle.finish(session, match, fence, record, self.now)

    def due(self, limit: int = 1000) -> list[str]:
        with self.database.read() as session:
            return lifecycle.due(session, self.now, limit)

    def play(self, match: str, places: Sequence[int] | None = None, faults: Sequence[dict[str, object]] = ()) -> str:
        """Claim and finish a match with these places; seat 0 wins if none are given."""
        claimed = self.claim(match)
        return self.finish(match, claimed.fence, record_of(claimed.spec, places, faults))

    def play_all(self) -> int:
        """Play whatever is due; how many matches that were."""
        todo = self.due(100_000)
        for match in todo:
            assert self.play(match) == "stored"
        return len(todo)


def record_of(spec: MatchSpec, places: Sequence[int] | None = None, faults: Sequence[dict[str, object]] = ()) -> Record:
    """A record of the match `spec` without moves: what the ladder reads of a record is its header and closing line."""
    seats = len(spec.seats)
    closing = {
        "end": str(faults[-1]["kind"]) if faults else "rules",
        "reason": "so it went",
        "places": list(places or range(1, seats + 1)),
        "scores": [] if faults else [10 * (seats - seat) for seat in range(seats)],
        "faults": list(faults),
        "moves": 0,
        "seed": spec.seed.hex(),
    }
    return seal(Referee(spec, get_game(spec.ruleset.game)).lines[:1], closing)


@pytest.fixture
def club(database: Database) -> Club:
    """A club with the bots ada, bob, cyd and dan, each with an owner of its own."""
    made = Club(database)
    made.bots("ada", "bob", "cyd", "dan")
    return made


@pytest.fixture
def make_record() -> object:
    """`record_of`, for tests that need a record of their own."""
    return record_of
