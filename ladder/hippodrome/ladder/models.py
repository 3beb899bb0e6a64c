"""The tables. Times are UTC with a zone; lists are JSON. `TABLES` gives the Core tables that the hot path uses.

| table | row |
|---|---|
| account, token | who may do what; of a token's secret only the SHA-256 is kept |
| bot, bot_version | a version never changes: it is what plays and is rated |
| tournament, entry, match, seat | a schedule: one row a match, written when the tournament is made |
| attempt | one try to play a match, told apart by its fence |
| result, rating_event | the truth: written once for a match, in one transaction, never changed |
| ladder, rating | derived: rewritten by `refit` from the rating events |
| lease | who holds a named office now, such as that of the reconciler |
| request | what a request id has made already |
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import JSON, CheckConstraint, DateTime, Dialect, Index, LargeBinary, String, Table, Text, UniqueConstraint
from sqlalchemy.exc import IntegrityError
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, Session, SQLModel

SQLModel.metadata.naming_convention = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

MATCH_STATES: Final = ("pending", "leased", "done", "parked", "cancelled")
"""`pending` waits for a worker, `leased` is being played, `parked` waits for an operator after too many failed attempts."""
OPEN_STATES: Final = ("pending", "leased")
"""Those of matches that workers will still play by themselves."""
TOURNAMENT_STATES: Final = ("running", "finished", "cancelled")
OUTCOMES: Final = ("completed", "void", "superseded", "lost")
"""How an attempt went: it gave the result; it was given up; another was made meanwhile; its worker was not heard of again."""


def utcnow() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


class Utc(TypeDecorator[datetime]):
    """A moment in UTC. SQLite keeps it without its zone, so that text order is time order."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is not None and value.tzinfo is None:
            raise ValueError(f"the time {value} has no zone; fix: use utcnow()")
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _one_of(column: str, values: tuple[str, ...]) -> CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def _moment(index: bool = False) -> Any:
    return Field(default_factory=utcnow, sa_type=Utc, nullable=False, index=index)


def _maybe() -> Any:
    return Field(default=None, sa_type=Utc, nullable=True)


class Account(SQLModel, table=True):
    """Who may do what."""

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(sa_type=String(40), unique=True)
    admin: bool = False
    created_at: datetime = _moment()


class Token(SQLModel, table=True):
    """A secret of an account, kept as its SHA-256 in hex."""

    id: int | None = Field(default=None, primary_key=True)
    account_id: int = Field(foreign_key="account.id", index=True)
    label: str = Field(default="", sa_type=String(200))
    digest: str = Field(sa_type=String(64), unique=True)
    created_at: datetime = _moment()
    revoked_at: datetime | None = _maybe()


class Bot(SQLModel, table=True):
    """A bot belongs to an account."""

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(sa_type=String(40), unique=True)
    account_id: int = Field(foreign_key="account.id", index=True)
    description: str = Field(default="", sa_type=Text)
    created_at: datetime = _moment()


class BotVersion(SQLModel, table=True):
    """What plays and is rated; `number` counts from 1."""

    __tablename__ = "bot_version"
    __table_args__ = (UniqueConstraint("bot_id", "number"),)
    id: int | None = Field(default=None, primary_key=True)
    bot_id: int = Field(foreign_key="bot.id")
    number: int
    description: str = Field(default="", sa_type=Text)
    created_at: datetime = _moment()


class Tournament(SQLModel, table=True):
    """A schedule for a set of entries. `ruleset`, `clock` and `policy` in text form; `seed` stays secret until it is over."""

    __table_args__ = (_one_of("state", TOURNAMENT_STATES),)
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(sa_type=String(40), unique=True)
    ruleset: str = Field(sa_type=String(200), index=True)
    pairing: str = Field(sa_type=String(40))
    blocks: int
    clock: str = Field(sa_type=String(100))
    policy: str = Field(sa_type=String(40))
    seed: str = Field(sa_type=String(200))
    rated: bool = True
    state: str = Field(default="running", sa_type=String(12), index=True)
    account_id: int = Field(foreign_key="account.id")
    created_at: datetime = _moment()
    ended_at: datetime | None = _maybe()


class Entry(SQLModel, table=True):
    """The version that plays as entry `number` (from 0) of a tournament."""

    __table_args__ = (UniqueConstraint("tournament_id", "version_id"),)
    tournament_id: int = Field(foreign_key="tournament.id", primary_key=True)
    number: int = Field(primary_key=True)
    version_id: int = Field(foreign_key="bot_version.id", index=True)


class Match(SQLModel, table=True):
    """A planned match. `fence` grows with each claim: what an attempt writes counts only while the fence is its own.

    `attempts` counts claims, `strikes` those that failed for no good reason (five park the match). `waiting` tells since when
    which versions are not there: `{"bots/quokka/versions/3": "2026-01-31T12:00:00+00:00"}`.
    """

    __table_args__ = (
        UniqueConstraint("tournament_id", "number"),
        Index(None, "tournament_id", "state"),
        Index(None, "tournament_id", "block"),
        Index(None, "state", "number", "id"),
        _one_of("state", MATCH_STATES),
    )
    id: str = Field(sa_type=String(16), primary_key=True)
    tournament_id: int = Field(foreign_key="tournament.id")
    number: int
    block: int
    rotation: int
    ruleset: str = Field(sa_type=String(200))
    seed: bytes = Field(sa_type=LargeBinary)
    state: str = Field(default="pending", sa_type=String(12))
    fence: int = 0
    attempts: int = 0
    strikes: int = 0
    moves: int = 0
    owner: str | None = Field(default=None, sa_type=String(200))
    lease_until: datetime | None = _maybe()
    lease_seconds: float = 0.0
    not_before: datetime | None = _maybe()
    dispatched_at: datetime | None = Field(default=None, sa_type=Utc, nullable=True, index=True)
    waiting: dict[str, str] = Field(default_factory=dict, sa_type=JSON, nullable=False)
    ended_at: datetime | None = Field(default=None, sa_type=Utc, nullable=True, index=True)


class Seat(SQLModel, table=True):
    """The version that sits at place `seat` (from 0) of a match."""

    match_id: str = Field(sa_type=String(16), foreign_key="match.id", primary_key=True)
    seat: int = Field(primary_key=True)
    version_id: int = Field(foreign_key="bot_version.id", index=True)


class Attempt(SQLModel, table=True):
    """One try to play a match; `outcome` is empty while it runs. `counted`: it moved the match nearer to being parked."""

    match_id: str = Field(sa_type=String(16), foreign_key="match.id", primary_key=True)
    fence: int = Field(primary_key=True)
    owner: str = Field(sa_type=String(200))
    started_at: datetime = _moment()
    ended_at: datetime | None = _maybe()
    outcome: str | None = Field(default=None, sa_type=String(12))
    reason: str = Field(default="", sa_type=Text)
    evidence: str = Field(default="", sa_type=Text)
    counted: bool = False


class MatchResult(SQLModel, table=True):
    """How a match ended, by seat as in its record. `record`: the record's text form, gzip; `sha256`: of that text, in hex."""

    __tablename__ = "result"
    match_id: str = Field(sa_type=String(16), foreign_key="match.id", primary_key=True)
    fence: int
    ending: str = Field(sa_type=String(20))
    reason: str = Field(default="", sa_type=Text)
    places: list[int] = Field(sa_type=JSON, nullable=False)
    scores: list[int] = Field(sa_type=JSON, nullable=False)
    faults: list[dict[str, Any]] = Field(sa_type=JSON, nullable=False)
    moves: int
    record: bytes = Field(sa_type=LargeBinary)
    sha256: str = Field(sa_type=String(64))
    created_at: datetime = _moment()


class RatingEvent(SQLModel, table=True):
    """One match of a rated tournament, with all that a rating needs: `block` names its block among all of its ladder."""

    __tablename__ = "rating_event"
    match_id: str = Field(sa_type=String(16), foreign_key="match.id", primary_key=True)
    fence: int
    ladder: str = Field(sa_type=String(200), foreign_key="ladder.name", index=True)
    block: str = Field(sa_type=String(40))
    versions: list[int] = Field(sa_type=JSON, nullable=False)
    places: list[int] = Field(sa_type=JSON, nullable=False)
    failed: list[int] = Field(sa_type=JSON, nullable=False)
    created_at: datetime = _moment()


class Ladder(SQLModel, table=True):
    """A ladder, named as its ruleset. `events` counts its rating events, `fitted` those in the ratings shown now,
    `matches` those of them that are rated (see `refit.read_log`)."""

    name: str = Field(sa_type=String(200), primary_key=True)
    events: int = 0
    fitted: int = 0
    matches: int = 0
    fitted_at: datetime | None = _maybe()


class Rating(SQLModel, table=True):
    """A version's row on a ladder, copied from `ratings.Rated`; ranks depend on who is shown and follow when read."""

    __table_args__ = (Index(None, "ladder", "provisional", "rating"),)
    ladder: str = Field(sa_type=String(200), foreign_key="ladder.name", primary_key=True)
    version_id: int = Field(foreign_key="bot_version.id", primary_key=True)
    rating: float
    interval: float
    se: float
    matches: int
    blocks: int
    score: float
    faults: int
    provisional: bool
    anchor: bool


class Lease(SQLModel, table=True):
    """Who holds the office `name` until when; `value` is for the holder to tell, for example an address."""

    name: str = Field(sa_type=String(200), primary_key=True)
    owner: str = Field(sa_type=String(200))
    until: datetime = Field(sa_type=Utc, nullable=False)
    value: str = Field(default="", sa_type=Text)


class Request(SQLModel, table=True):
    """What `request_id` of an account has made: `made` is the name of the thing, `kind` says what it is."""

    account_id: int = Field(foreign_key="account.id", primary_key=True)
    request_id: str = Field(sa_type=String(200), primary_key=True)
    kind: str = Field(sa_type=String(40))
    made: str = Field(sa_type=String(200))
    created_at: datetime = _moment()


TABLES: Final[dict[str, Table]] = dict(SQLModel.metadata.tables)
"""Name -> Core table."""


def key(row: Account | Token | Bot | BotVersion | Tournament) -> int:
    """The database key of a row that is stored."""
    if row.id is None:
        raise RuntimeError("the row is not stored yet: flush the session first")
    return row.id


def add_unique(session: Session, row: SQLModel, error: Exception) -> None:
    """Store `row` now; raises `error` when another transaction has just taken its name."""
    session.add(row)
    try:
        session.flush()
    except IntegrityError:
        raise error from None
