"""The life of a match, with effects exactly once: claim, heartbeat, finish, void, wait; what is due; who is elected.

A message that says "play this match" is a doorbell: lost, doubled or late it changes nothing. A claim takes a lease and the
next **fence**; whatever an attempt writes later counts only while the match still carries its fence. Safety comes from the
fence, not from clocks: the lease only sets how soon a silent attempt is tried again. A time that lies further ahead than
anybody could have written it was written before the clock was set back, and holds nothing up.

    pending --claim--> leased --finish--> done
       ^                  |--void/wait--> pending
       |--unpark-- parked <--void/claim, five strikes

All statements are Core. Rows are locked in one order: tournament, match, ladder. Times are UTC, from the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal, cast

from sqlalchemy import ColumnElement, CursorResult, Result, Row, bindparam, delete, exists, func, insert, or_, select, update
from sqlmodel import Session

from hippodrome.engine.record import Record
from hippodrome.engine.referee import MatchSpec
from hippodrome.ladder import ids, results
from hippodrome.ladder.db import insert_into
from hippodrome.ladder.errors import NotFound, WrongState
from hippodrome.ladder.models import TABLES, utcnow
from hippodrome.ladder.results import spec_of

STRIKES: Final = 5
"""Counted attempts after which a match is parked with its evidence."""
NO_SHOW: Final = 120.0
"""Seconds after which a bot that is not there is judged disconnected."""
RING_AGAIN: Final = 3.0
"""Seconds after which a doorbell that nobody answered is rung again."""
FAR: Final = 600.0
"""Seconds: no attempt is put off and no office taken for longer."""
_EVIDENCE: Final = 20_000
_MATCH, _ATTEMPT, _RESULT = TABLES["match"], TABLES["attempt"], TABLES["result"]
_TOURNAMENT, _LEASE = TABLES["tournament"], TABLES["lease"]
_OTHER: Final = _MATCH.alias("other")
_SHARED: Final = select(
    exists().where(
        _OTHER.c.tournament_id == bindparam("tournament"),
        _OTHER.c.block == bindparam("its_block"),
        _OTHER.c.id != bindparam("match"),
    )
)
_IDLE: Final[dict[str, Any]] = {"owner": None, "lease_until": None, "dispatched_at": None}
"""What a match that nobody plays carries."""
_THIS: Final = _MATCH.c.id == bindparam("match")
_OURS: Final = _THIS & (_MATCH.c.fence == bindparam("its_fence")) & (_MATCH.c.state == "leased")
# The statements of every match, built once: to build one costs more than to run it.
_LOCK_MATCH: Final = select(_MATCH).where(_THIS).with_for_update()
_LOCK_TOURNAMENT: Final = (
    select(_TOURNAMENT).join(_MATCH, _MATCH.c.tournament_id == _TOURNAMENT.c.id).where(_THIS).with_for_update(of=_TOURNAMENT)
)
_TAKE: Final = (
    update(_MATCH)
    .where(_THIS)
    .values(
        state="leased",
        fence=bindparam("its_fence"),
        attempts=bindparam("its_attempts"),
        strikes=bindparam("its_strikes"),
        lease_seconds=bindparam("seconds"),
        lease_until=bindparam("until"),
        owner=bindparam("by"),
        moves=0,
        not_before=None,
    )
)
_START: Final = insert(_ATTEMPT)
_LEASE_OF: Final = select(_MATCH.c.lease_seconds).where(_OURS)
_BEAT: Final = update(_MATCH).where(_OURS).values(moves=bindparam("made"), lease_until=bindparam("until"))
_BEAT_PLAYING: Final = _BEAT.values(waiting={})
_END: Final = (
    update(_ATTEMPT)
    .where(_ATTEMPT.c.match_id == bindparam("match"), _ATTEMPT.c.fence == bindparam("its_fence"))
    .values(
        ended_at=bindparam("at"),
        outcome=bindparam("how"),
        reason=bindparam("why"),
        evidence=bindparam("shown"),
        counted=bindparam("counts"),
    )
)


@dataclass(frozen=True, slots=True)
class Claim:
    """The match is yours until the lease ends; `absent_seats` are judged disconnected if their bots are still not there.
    `seed_shared`: other matches of its block have the same seed, so the bots may not be told it."""

    spec: MatchSpec
    fence: int
    absent_seats: tuple[int, ...]
    seed_shared: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing to do: `reason` is unknown, done, cancelled, parked, leased or early."""

    reason: str


Finished = Literal["stored", "already", "superseded"]


def claim(
    session: Session, match_id: str, owner: str, now: datetime, lease: float, no_show: float = NO_SHOW
) -> Claim | Refused:
    """Take the match for `lease` seconds. An attempt whose lease ran out is written off as lost, and counts as a strike."""
    row = session.execute(_LOCK_MATCH, {"match": match_id}).one_or_none()
    reason = _refusal(row, now)
    if row is None or reason:
        return Refused(reason)
    strikes = row.strikes + _lose(session, row, now)
    if strikes >= STRIKES:
        _park(session, match_id, strikes)
        return Refused("parked")
    fence = row.fence + 1
    taken = {"its_fence": fence, "its_attempts": row.attempts + 1, "its_strikes": strikes, "seconds": lease}
    session.execute(_TAKE, taken | {"match": match_id, "by": owner, "until": now + timedelta(seconds=lease)})
    started = {"match_id": match_id, "fence": fence, "owner": owner, "started_at": now}
    session.execute(_START, started | {"reason": "", "evidence": "", "counted": False})
    spec = spec_of(session, row)
    return Claim(spec, fence, _absent(row.waiting, spec, now, no_show), _shares_seed(session, row))


def heartbeat(session: Session, match_id: str, fence: int, moves: int, now: datetime) -> bool:
    """Renew the lease for as long again and note the progress. False: the match is no longer yours; stop, write nothing."""
    lease = session.execute(_LEASE_OF, {"match": match_id, "its_fence": fence}).scalar_one_or_none()
    if lease is None:
        return False
    told = {"match": match_id, "its_fence": fence, "made": moves, "until": now + timedelta(seconds=lease)}
    return _count(session.execute(_BEAT_PLAYING if moves else _BEAT, told)) == 1


def finish(session: Session, match_id: str, fence: int, record: Record, now: datetime | None = None) -> Finished:
    """Store the result of attempt `fence`, all in this transaction: result, rating event, the match and its tournament.

    `already`: this attempt's result is there. `superseded`: the match is another's, or was stopped; nothing was written but
    the outcome of the attempt. Raises NotFound, RecordError when the record is not of this match. Verify it before.
    """
    moment = now or utcnow()
    tournament, row = _locked_match(session, match_id)
    if (row.state, row.fence) != ("leased", fence):
        return _too_late(session, match_id, fence, moment)
    results.store(session, tournament, row, record, moment)
    _end_attempt(session, match_id, fence, moment, "completed", record.closing["end"])
    return "stored"


def void(
    session: Session,
    match_id: str,
    fence: int,
    reason: str,
    evidence: str = "",
    counts_attempt: bool = True,
    not_before: datetime | None = None,
    now: datetime | None = None,
) -> bool:
    """Give the attempt up: it says nothing about the bots, and the match is played again with the same seed and seats.

    With `counts_attempt` it is a strike; the fifth parks the match. False: the match was no longer yours.
    """
    row = session.execute(select(_MATCH).where(*_mine(match_id, fence)).with_for_update()).one_or_none()
    if row is None:
        return False
    strikes = row.strikes + counts_attempt
    _end_attempt(session, match_id, fence, now or utcnow(), "void", reason, evidence, counts_attempt)
    if strikes >= STRIKES:
        _park(session, match_id, strikes)
    else:
        values = {"state": "pending", "strikes": strikes, "not_before": not_before, "moves": 0, "waiting": {}}
        session.execute(update(_MATCH).where(_MATCH.c.id == match_id).values(values | _IDLE))
    return True


def wait(
    session: Session, match_id: str, fence: int, missing: Sequence[str], now: datetime, not_before: datetime | None = None
) -> bool:
    """Nothing was played because the versions `missing` (resource names) are not there: try again, from `not_before` on.

    That is no attempt at all: its row goes, its number in `attempts` too. Each version's wait is counted from when it was first
    missed without a break; a later claim lists those that were missed for too long. False: the match was no longer yours.
    """
    row = session.execute(select(_MATCH).where(*_mine(match_id, fence)).with_for_update()).one_or_none()
    if row is None:
        return False
    session.execute(delete(_ATTEMPT).where(_ATTEMPT.c.match_id == match_id, _ATTEMPT.c.fence == fence))
    waiting = {version: row.waiting.get(version, now.isoformat()) for version in sorted(missing)}
    values = {"state": "pending", "attempts": row.attempts - 1, "waiting": waiting, "not_before": not_before, "moves": 0}
    session.execute(update(_MATCH).where(_MATCH.c.id == match_id).values(values | _IDLE))
    return True


def unpark(session: Session, match_id: str) -> None:
    """Let a parked match be tried again, its strikes forgotten. Raises NotFound, WrongState."""
    _, row = _locked_match(session, match_id)
    if row.state != "parked":
        raise WrongState("match", f"{match_id} is {row.state}", "only a parked match can be unparked")
    session.execute(update(_MATCH).where(_MATCH.c.id == match_id).values(state="pending", strikes=0, not_before=None))


def due(session: Session, now: datetime, limit: int, ring_again: float = RING_AGAIN) -> list[str]:
    """The matches to ring for now, in schedule order: pending and not rung lately, or with a lease that ran out.

    At most `limit` matches are rung and unanswered at a time, so that the broker's queue stays short.
    """
    lately = now - timedelta(seconds=ring_again)
    rung_lately = _still(_MATCH.c.dispatched_at, lately, 2 * ring_again)
    quiet = or_(_MATCH.c.dispatched_at.is_(None), ~rung_lately)
    expired = (_MATCH.c.state == "leased") & ~_still(_MATCH.c.lease_until, now, _furthest(session))
    ringing = rung_lately & or_(_MATCH.c.state == "pending", expired)
    room = limit - session.execute(select(func.count()).select_from(_MATCH).where(ringing)).scalar_one()
    put_off = _still(_MATCH.c.not_before, now, FAR)
    ready = (_MATCH.c.state == "pending") & or_(_MATCH.c.not_before.is_(None), ~put_off) & quiet
    found: list[str] = []
    for condition in (expired & quiet, ready):
        if len(found) < room:
            order = (_MATCH.c.number, _MATCH.c.id)
            rows = select(_MATCH.c.id).where(condition).order_by(*order).limit(room - len(found))
            found += session.execute(rows).scalars()
    return found


def mark_rung(session: Session, match_ids: Sequence[str], now: datetime) -> None:
    """Note that the doorbells of these matches are being rung. Commit before sending."""
    if match_ids:
        open_ = _MATCH.c.id.in_(match_ids) & _MATCH.c.state.in_(("pending", "leased"))
        in_order = select(_MATCH.c.id).where(open_).order_by(_MATCH.c.id).with_for_update()
        session.execute(update(_MATCH).where(_MATCH.c.id.in_(in_order)).values(dispatched_at=now))


def elect(session: Session, name: str, owner: str, now: datetime, seconds: float, value: str = "") -> bool:
    """Take or keep the office `name` for `seconds`. False: another holds it. `value` is told by `holders`."""
    until = now + timedelta(seconds=seconds)
    statement = insert_into(session, _LEASE).values(name=name, owner=owner, until=until, value=value)
    taken = statement.on_conflict_do_update(
        index_elements=["name"],
        set_={"owner": owner, "until": until, "value": value},
        where=or_(_LEASE.c.owner == owner, ~_still(_LEASE.c.until, now, FAR)),
    )
    return session.execute(taken.returning(_LEASE.c.name)).scalar_one_or_none() is not None


def resign(session: Session, name: str, owner: str) -> None:
    """Give the office up at once, if it is held."""
    session.execute(delete(_LEASE).where(_LEASE.c.name == name, _LEASE.c.owner == owner))


def holders(session: Session, prefix: str, now: datetime) -> dict[str, str]:
    """Office -> value, of all offices now held whose name starts with `prefix`; sorted."""
    held = select(_LEASE.c.name, _LEASE.c.value).where(_LEASE.c.until > now, _LEASE.c.name.startswith(prefix, autoescape=True))
    return {row.name: row.value for row in session.execute(held.order_by(_LEASE.c.name))}


def _refusal(row: Row[Any] | None, now: datetime) -> str:
    """Why the match cannot be claimed; empty if it can."""
    if row is None:
        return "unknown"
    if row.state == "leased":
        return "leased" if _ahead(row.lease_until, now, 2 * row.lease_seconds) else ""
    if row.state == "pending":
        return "early" if row.not_before and _ahead(row.not_before, now, FAR) else ""
    return str(row.state)


def _ahead(moment: datetime, now: datetime, most: float) -> bool:
    """Whether `moment` is still to come, and by no more than `most` seconds."""
    return now < moment <= now + timedelta(seconds=most)


def _still(moment: ColumnElement[Any], now: datetime, most: float) -> ColumnElement[bool]:
    """The same in SQL."""
    return (moment > now) & (moment <= now + timedelta(seconds=most))


def _furthest(session: Session) -> float:
    """How many seconds ahead a lease can end: twice its length, for the clocks of two workers may differ."""
    longest = session.execute(select(func.max(_MATCH.c.lease_seconds)).where(_MATCH.c.state == "leased")).scalar_one()
    return 2.0 * (longest or 0.0)


def _lose(session: Session, row: Row[Any], now: datetime) -> int:
    """Write off the attempt whose lease ran out; 1 if there was one."""
    if row.state != "leased":
        return 0
    reason = f"nothing heard from {row.owner} for {row.lease_seconds:g} s"
    _end_attempt(session, row.id, row.fence, now, "lost", reason, f"the last progress was {row.moves} moves", True)
    return 1


def _park(session: Session, match_id: str, strikes: int) -> None:
    session.execute(update(_MATCH).where(_MATCH.c.id == match_id).values(_IDLE | {"state": "parked", "strikes": strikes}))


def _absent(waiting: dict[str, str], spec: MatchSpec, now: datetime, no_show: float) -> tuple[int, ...]:
    late = {v for v, since in waiting.items() if (now - datetime.fromisoformat(since)).total_seconds() >= no_show}
    return tuple(number for number, seat in enumerate(spec.seats) if seat.version in late)


def _shares_seed(session: Session, row: Row[Any]) -> bool:
    asked = {"tournament": row.tournament_id, "its_block": row.block, "match": row.id}
    return bool(session.execute(_SHARED, asked).scalar_one())


def _mine(match_id: str, fence: int) -> tuple[ColumnElement[bool], ...]:
    return (_MATCH.c.id == match_id, _MATCH.c.fence == fence, _MATCH.c.state == "leased")


def _count(result: Result[Any]) -> int:
    """How many rows a statement has written."""
    return cast("CursorResult[Any]", result).rowcount


def _end_attempt(
    session: Session,
    match_id: str,
    fence: int,
    now: datetime,
    outcome: str,
    reason: str,
    evidence: str = "",
    counted: bool = False,
) -> None:
    told = {"why": ids.clean_text(reason), "shown": ids.clean_text(evidence[:_EVIDENCE]), "counts": counted}
    session.execute(_END, told | {"match": match_id, "its_fence": fence, "at": now, "how": outcome})


def _locked_match(session: Session, match_id: str) -> tuple[Row[Any], Row[Any]]:
    """The match's tournament and the match, locked in this order. Raises NotFound."""
    tournament = session.execute(_LOCK_TOURNAMENT, {"match": match_id}).one_or_none()
    if tournament is None:
        raise NotFound("match", f"no match {match_id[:60]!r}", "copy the id from its tournament")
    return tournament, session.execute(_LOCK_MATCH, {"match": match_id}).one()


def _too_late(session: Session, match_id: str, fence: int, now: datetime) -> Finished:
    """What a `finish` is told whose match no longer waits for it."""
    if session.execute(select(_RESULT.c.fence).where(_RESULT.c.match_id == match_id)).scalar_one_or_none() == fence:
        return "already"
    _end_attempt(session, match_id, fence, now, "superseded", "it finished after the match had been taken from it")
    return "superseded"
