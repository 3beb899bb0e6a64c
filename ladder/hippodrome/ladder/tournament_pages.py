"""The read model of a tournament, with its standings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import select
from sqlmodel import Session

from hippodrome.ladder import ids, standings, tournaments
from hippodrome.ladder.models import TABLES, Tournament, key
from hippodrome.ladder.pages import Standing, TournamentPage

_ACCOUNT, _BOT, _VERSION, _ENTRY = TABLES["account"], TABLES["bot"], TABLES["bot_version"], TABLES["entry"]
_MATCH, _SEAT, _RESULT = TABLES["match"], TABLES["seat"], TABLES["result"]


def tournament_page(session: Session, found: Tournament, with_standings: bool) -> TournamentPage:
    """The read model of `found`; its standings cost a pass over all its results."""
    progress = tournaments.progress_of(session, found)
    entries = _entry_names(session, found)
    owner = session.execute(select(_ACCOUNT.c.name).where(_ACCOUNT.c.id == found.account_id)).scalar_one()
    return TournamentPage(
        name=ids.tournament_name(found.name),
        ruleset=found.ruleset,
        pairing=found.pairing,
        blocks=found.blocks,
        clock=found.clock,
        policy=found.policy,
        state=found.state,
        entries=tuple(entries.values()),
        matches_planned=progress.planned,
        matches_done=progress.done,
        matches_running=progress.leased,
        matches_parked=progress.parked,
        create_time=found.created_at,
        end_time=found.ended_at,
        standings=_standings(session, found, entries) if with_standings else (),
        rated=found.rated,
        account=ids.account_name(owner),
    )


def _entry_names(session: Session, found: Tournament) -> dict[int, str]:
    """Version key -> resource name, in entry order."""
    asked = (
        select(_ENTRY.c.version_id, _BOT.c.name, _VERSION.c.number)
        .select_from(_ENTRY.join(_VERSION, _VERSION.c.id == _ENTRY.c.version_id).join(_BOT))
        .where(_ENTRY.c.tournament_id == key(found))
        .order_by(_ENTRY.c.number)
    )
    return {version: ids.version_name(name, number) for version, name, number in session.execute(asked)}


def _standings(session: Session, found: Tournament, entries: dict[int, str]) -> tuple[Standing, ...]:
    names = list(entries.values())
    rows = standings.standings(len(names), _played(session, found, list(entries)))
    return tuple(
        Standing(
            place=row.place,
            bot_version=names[row.entry],
            points=row.points,
            matches=row.matches,
            faults=row.faults,
            against=row.against,
            meetings=row.meetings,
            direct=row.direct,
            berger=row.berger,
        )
        for row in rows
    )


def _played(session: Session, found: Tournament, versions: Sequence[int]) -> list[standings.Played]:
    """The matches of the tournament that have a result, in schedule order."""
    entry = {version: number for number, version in enumerate(versions)}
    results = (
        select(_RESULT.c.match_id, _RESULT.c.places, _RESULT.c.faults)
        .join(_MATCH, _MATCH.c.id == _RESULT.c.match_id)
        .where(_MATCH.c.tournament_id == key(found))
        .order_by(_MATCH.c.number)
    )
    sat = select(_SEAT.c.match_id, _SEAT.c.version_id).join(_MATCH).where(_MATCH.c.tournament_id == key(found))
    seats: dict[str, list[int]] = defaultdict(list)
    for match_id, version in session.execute(sat.order_by(_SEAT.c.match_id, _SEAT.c.seat)):
        seats[match_id].append(entry[version])
    return [
        standings.Played(tuple(seats[match_id]), tuple(places), tuple(sorted({fault["seat"] for fault in faults})))
        for match_id, places, faults in session.execute(results)
    ]
