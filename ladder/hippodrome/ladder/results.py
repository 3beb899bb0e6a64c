"""Results: what the end of a match writes. `lifecycle.finish` is the way in; the match and its tournament are locked."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, bindparam, exists, insert, select, update
from sqlmodel import Session

from hippodrome.engine.chance import commitment
from hippodrome.engine.clock import TimeControl
from hippodrome.engine.errors import RecordError
from hippodrome.engine.record import Record, dumps
from hippodrome.engine.referee import MatchSpec, Policy, SeatSpec
from hippodrome.games.registry import read_ruleset
from hippodrome.ladder import ids
from hippodrome.ladder.models import TABLES

_GZIP_LEVEL: Final = 6
_MATCH, _SEAT, _RESULT, _TOURNAMENT = TABLES["match"], TABLES["seat"], TABLES["result"], TABLES["tournament"]
_EVENT, _LADDER, _VERSION, _BOT = TABLES["rating_event"], TABLES["ladder"], TABLES["bot_version"], TABLES["bot"]
_SEATS: Final = (
    select(_BOT.c.name, _VERSION.c.number, _SEAT.c.version_id)
    .select_from(_SEAT.join(_VERSION, _VERSION.c.id == _SEAT.c.version_id).join(_BOT, _BOT.c.id == _VERSION.c.bot_id))
    .where(_SEAT.c.match_id == bindparam("match"))
    .order_by(_SEAT.c.seat)
)
_RULES: Final = select(_TOURNAMENT.c.clock, _TOURNAMENT.c.policy).where(_TOURNAMENT.c.id == bindparam("tournament"))
_CLOSE: Final = (
    update(_MATCH)
    .where(_MATCH.c.id == bindparam("match"))
    .values(
        state="done",
        ended_at=bindparam("at"),
        moves=bindparam("made"),
        waiting={},
        owner=None,
        lease_until=None,
        dispatched_at=None,
    )
)
_STORE: Final = insert(_RESULT)
_APPEND: Final = insert(_EVENT)
_COUNT: Final = update(_LADDER).where(_LADDER.c.name == bindparam("ladder")).values(events=_LADDER.c.events + 1)
_LEFT: Final = exists().where(
    _MATCH.c.tournament_id == bindparam("tournament"), _MATCH.c.state.in_(("pending", "leased", "parked", "cancelled"))
)
_END: Final = (
    update(_TOURNAMENT)
    .where(_TOURNAMENT.c.id == bindparam("tournament"), _TOURNAMENT.c.state == "running", ~_LEFT)
    .values(state="finished", ended_at=bindparam("at"))
)


def spec_of(session: Session, match: Row[Any]) -> MatchSpec:
    """The specification of a match from its row."""
    rules = session.execute(_RULES, {"tournament": match.tournament_id}).one()
    return _spec(match, rules, session.execute(_SEATS, {"match": match.id}).all())


def store(session: Session, tournament: Row[Any], match: Row[Any], record: Record, now: datetime) -> None:
    """Write the result of the match's attempt: match, result, rating event, ladder, tournament. Raises RecordError."""
    seats = session.execute(_SEATS, {"match": match.id}).all()
    _check(record, _spec(match, tournament, seats))
    session.execute(_CLOSE, {"match": match.id, "at": now, "made": record.closing["moves"]})
    session.execute(_STORE, _result(match, record, now))
    if tournament.rated:
        session.execute(_APPEND, _event(match, [seat.version_id for seat in seats], record, now))
        session.execute(_COUNT, {"ladder": match.ruleset})
    # The tournament is locked, so two last matches cannot miss each other.
    session.execute(_END, {"tournament": tournament.id, "at": now})


def _spec(match: Row[Any], rules: Row[Any], seats: Sequence[Row[Any]]) -> MatchSpec:
    return MatchSpec(
        match=ids.match_name(match.id),
        ruleset=read_ruleset(match.ruleset),
        seats=tuple(SeatSpec(seat.name, ids.version_name(seat.name, seat.number)) for seat in seats),
        clock=TimeControl.parse(rules.clock),
        policy=Policy.parse(rules.policy),
        seed=match.seed,
    )


def _check(record: Record, spec: MatchSpec) -> None:
    """Raises RecordError when `record` is not one of this match, whatever its moves are."""
    seats = [{"bot": seat.bot, "version": seat.version} for seat in spec.seats]
    wanted: dict[str, Any] = {"match": spec.match, "ruleset": str(spec.ruleset), "seats": seats, "clock": str(spec.clock)}
    wanted |= {"policy": str(spec.policy), "commitment": commitment(spec.seed)}
    for name, value in wanted.items():
        if record.header[name] != value:
            raise RecordError(
                1, f"{name} is {record.header[name]!r}, the match has {value!r}; fix: give the record of {spec.match}"
            )
    if len(record.closing["places"]) != len(spec.seats):
        raise RecordError(0, f"{len(record.closing['places'])} places for {len(spec.seats)} seats; fix: play the match again")


def _result(match: Row[Any], record: Record, now: datetime) -> dict[str, Any]:
    text, closing = dumps(record).encode("ascii"), record.closing
    row = {name: closing[name] for name in ("places", "scores", "faults", "moves")}
    row |= {"match_id": match.id, "fence": match.fence, "ending": closing["end"], "reason": ids.clean_text(closing["reason"])}
    stored = {"record": gzip.compress(text, _GZIP_LEVEL, mtime=0), "sha256": hashlib.sha256(text).hexdigest()}
    return row | stored | {"created_at": now}


def _event(match: Row[Any], versions: list[int], record: Record, now: datetime) -> dict[str, Any]:
    """The line in the log of the ladder."""
    event = {"match_id": match.id, "fence": match.fence, "ladder": match.ruleset, "versions": versions}
    event |= {"block": f"{match.tournament_id}/{match.block}", "places": record.closing["places"], "created_at": now}
    return event | {"failed": sorted({fault["seat"] for fault in record.closing["faults"]})}
