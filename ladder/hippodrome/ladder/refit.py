"""The rating tables: rewritten from the log of rating events, and checked against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import delete, func, insert, select, update
from sqlmodel import Session

from hippodrome.ladder import ids
from hippodrome.ladder.db import Database
from hippodrome.ladder.models import TABLES, utcnow
from hippodrome.ladder.ratings import Rated, RatedMatch, rate

ANCHOR: Final = "random"
"""The bot of the account `house` whose versions, by their mean, are pinned to `ANCHOR_RATING`."""
ANCHOR_RATING: Final = 1000.0
_LADDER, _RATING, _EVENT = TABLES["ladder"], TABLES["rating"], TABLES["rating_event"]
_VERSION, _BOT, _ACCOUNT = TABLES["bot_version"], TABLES["bot"], TABLES["account"]


@dataclass(frozen=True, slots=True)
class Log:
    """The log of one ladder. `events` are all, `matches` those that are rated; `faults` counts the failed matches of a version
    among the rated ones; `anchors`: version -> pinned rating."""

    events: int
    matches: tuple[RatedMatch[int], ...]
    faults: Mapping[int, int]
    anchors: Mapping[int, float]


def refit(session: Session, ladder: str) -> int:
    """Rewrite the ratings of `ladder` from its log, all in this transaction; how many rated matches it has.

    The fit holds the transaction while it computes. A process that plays on meanwhile uses `refit_apart`.
    """
    log = read_log(session, ladder)
    return store(session, ladder, log, rate(log.matches, log.anchors))


def refit_apart(database: Database, ladder: str) -> int:
    """The same with a short transaction to read, one to write and none while it computes."""
    with database.read() as session:
        log = read_log(session, ladder)
    rated = rate(log.matches, log.anchors)
    with database.write() as session:
        return store(session, ladder, log, rated)


def refit_due(session: Session) -> list[str]:
    """The ladders with results that are not in their ratings yet."""
    asked = select(_LADDER.c.name).where(_LADDER.c.events != _LADDER.c.fitted).order_by(_LADDER.c.name)
    return list(session.execute(asked).scalars())


def read_log(session: Session, ladder: str) -> Log:
    """The log of `ladder`. A match in which one account holds two seats is never rated: its owner could decide it. The
    reference bots of the house are the exception, for nobody gains by them."""
    owners = _owners(session)
    matches, faults, events = [], dict[int, int](), 0
    asked = select(_EVENT.c.block, _EVENT.c.versions, _EVENT.c.places, _EVENT.c.failed).where(_EVENT.c.ladder == ladder)
    for block, versions, places, failed in session.execute(asked):
        events += 1
        guests = [owner for owner in (owners[version][1] for version in versions) if owner != ids.HOUSE]
        if len(set(guests)) == len(guests):
            matches.append(RatedMatch(block, tuple(versions), tuple(places)))
            for seat in failed:
                faults[versions[seat]] = faults.get(versions[seat], 0) + 1
    anchors = {version: ANCHOR_RATING for version, owner in owners.items() if owner == (ANCHOR, ids.HOUSE)}
    return Log(events, tuple(matches), faults, anchors)


def store(session: Session, ladder: str, log: Log, rated: Mapping[int, Rated]) -> int:
    """Replace the ratings of `ladder`, unless those there come from a longer log; how many rated matches `log` has."""
    row = session.execute(select(_LADDER).where(_LADDER.c.name == ladder).with_for_update()).one_or_none()
    if row is None or row.fitted > log.events:
        return len(log.matches)
    session.execute(delete(_RATING).where(_RATING.c.ladder == ladder))
    if rated:
        session.execute(insert(_RATING), [_row(ladder, version, r, log.faults.get(version, 0)) for version, r in rated.items()])
    values = {"fitted": log.events, "matches": len(log.matches), "fitted_at": utcnow()}
    session.execute(update(_LADDER).where(_LADDER.c.name == ladder).values(values))
    return len(log.matches)


def audit(session: Session) -> list[str]:
    """What differs between the tables and a clean rebuild from the results, one line each; empty when all is well."""
    problems: list[str] = []
    for check in _CHECKS:
        problems += check(session)
    return problems


def _owners(session: Session) -> dict[int, tuple[str, str]]:
    """Version -> (bot, account)."""
    joined = _VERSION.join(_BOT, _BOT.c.id == _VERSION.c.bot_id).join(_ACCOUNT)
    asked = select(_VERSION.c.id, _BOT.c.name, _ACCOUNT.c.name).select_from(joined)
    return {version: (bot, account) for version, bot, account in session.execute(asked)}


def _row(ladder: str, version: int, rated: Rated, faults: int) -> dict[str, Any]:
    row = {
        name: getattr(rated, name)
        for name in ("rating", "interval", "se", "matches", "blocks", "score", "provisional", "anchor")
    }
    return row | {"ladder": ladder, "version_id": version, "faults": faults}


def _audit_matches(session: Session) -> list[str]:
    """Every match that is done has one result of its own fence, no other has one, and its attempt says so."""
    match, result, attempt = TABLES["match"], TABLES["result"], TABLES["attempt"]
    asked = (
        select(match.c.id, match.c.state, match.c.fence, result.c.fence.label("result"), attempt.c.outcome)
        .select_from(match.outerjoin(result, result.c.match_id == match.c.id))
        .outerjoin(attempt, (attempt.c.match_id == match.c.id) & (attempt.c.fence == result.c.fence))
        .order_by(match.c.id)
    )
    return [
        f"match {m.id}: state {m.state}, fence {m.fence}, result of {m.result}, attempt {m.outcome}"
        for m in session.execute(asked)
        if ((m.state == "done") != (m.result is not None))
        or (m.result is not None and (m.result, m.outcome) != (m.fence, "completed"))
    ]


def _audit_events(session: Session) -> list[str]:
    """Every result of a rated tournament has its rating event, equal to it, and no other result has one."""
    match, result, tournament, seat = TABLES["match"], TABLES["result"], TABLES["tournament"], TABLES["seat"]
    sat: dict[str, list[int]] = {}
    for match_id, version in session.execute(select(seat.c.match_id, seat.c.version_id).order_by(seat.c.match_id, seat.c.seat)):
        sat.setdefault(match_id, []).append(version)
    asked = select(
        result, match.c.ruleset, match.c.block.label("number"), match.c.tournament_id, tournament.c.rated
    ).select_from(result.join(match).join(tournament))
    wanted = {}
    for r in session.execute(asked):
        if r.rated:
            failed = sorted({fault["seat"] for fault in r.faults})
            wanted[r.match_id] = (r.fence, r.ruleset, f"{r.tournament_id}/{r.number}", sat[r.match_id], r.places, failed)
    found = {e.match_id: (e.fence, e.ladder, e.block, e.versions, e.places, e.failed) for e in session.execute(select(_EVENT))}
    return [
        f"rating event of {match_id}: {found.get(match_id)} in place of {wanted.get(match_id)}"
        for match_id in sorted(found.keys() | wanted.keys())
        if found.get(match_id) != wanted.get(match_id)
    ]


def _audit_ladders(session: Session) -> list[str]:
    """The counts of a ladder are those of its log, and ratings that are up to date are those of a fit of it."""
    counts: dict[str, int] = {
        row[0]: row[1] for row in session.execute(select(_EVENT.c.ladder, func.count()).group_by(_EVENT.c.ladder))
    }
    problems = []
    for row in session.execute(select(_LADDER).order_by(_LADDER.c.name)):
        if row.events != counts.get(row.name, 0):
            problems.append(f"ladder {row.name}: {row.events} events counted, {counts.get(row.name, 0)} there")
        if row.events == row.fitted:
            problems += _audit_ratings(session, row.name)
    return problems


def _audit_ratings(session: Session, ladder: str) -> list[str]:
    log = read_log(session, ladder)
    wanted = {v: _row(ladder, v, r, log.faults.get(v, 0)) for v, r in rate(log.matches, log.anchors).items()}
    rows = session.execute(select(_RATING).where(_RATING.c.ladder == ladder))
    found: dict[int, dict[str, Any]] = {row.version_id: dict(row._mapping) for row in rows}
    return [
        f"rating of version {version} on {ladder}: {found.get(version)} in place of {wanted.get(version)}"
        for version in sorted(found.keys() | wanted.keys())
        if found.get(version) != wanted.get(version)
    ]


def _audit_tournaments(session: Session) -> list[str]:
    """A tournament is finished when, and only when, all its matches are done."""
    match, tournament = TABLES["match"], TABLES["tournament"]
    left = select(match.c.id).where(match.c.tournament_id == tournament.c.id, match.c.state != "done").exists()
    asked = select(tournament.c.name, tournament.c.state, left.label("left")).order_by(tournament.c.name)
    return [
        f"tournament {row.name}: {row.state}, matches left: {row.left}"
        for row in session.execute(asked)
        if (row.state == "finished") == bool(row.left)
    ]


_CHECKS: Final = (_audit_matches, _audit_events, _audit_ladders, _audit_tournaments)
