"""Matches found in ways that only the pages need: those of two bots together, those in which a bot failed."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Select, String, cast, or_, select, tuple_
from sqlmodel import Session

from hippodrome.ladder import bots, paging, queries, tournaments
from hippodrome.ladder.models import TABLES, key
from hippodrome.ladder.pages import MatchPage
from hippodrome.ladder.paging import Page

_MATCH, _SEAT, _VERSION, _RESULT = TABLES["match"], TABLES["seat"], TABLES["bot_version"], TABLES["result"]
_NEWEST: Final = (_MATCH.c.tournament_id.desc(), _MATCH.c.number.desc())


def together(session: Session, bot: str, opponent: str, size: int, token: str) -> Page[MatchPage]:
    """Matches with both bots at the table, the newest planned first. Raises NotFound, FieldError."""
    after = paging.read_token("together", token, (int, int))
    asked = select(_MATCH.c.id, _MATCH.c.tournament_id, _MATCH.c.number).order_by(*_NEWEST).limit(size + 1)
    for field, name in (("bot", bot), ("opponent", opponent)):
        asked = asked.where(_MATCH.c.id.in_(_with_bot(session, field, name)))
    if after:
        asked = asked.where(tuple_(_MATCH.c.tournament_id, _MATCH.c.number) < tuple_(*after))
    rows = session.execute(asked).all()
    return paging.page(
        "together",
        rows,
        size,
        lambda row: (row.tournament_id, row.number),
        lambda shown: [queries.match(session, row.id) for row in shown],
    )


def faulty(session: Session, tournament: str, limit: int) -> list[MatchPage]:
    """The last `limit` matches of a tournament in which a bot failed, the newest planned first. Raises NotFound."""
    failed = or_(_RESULT.c.ending != "rules", cast(_RESULT.c.faults, String) != "[]")
    asked = (
        select(_MATCH.c.id)
        .join(_RESULT, _RESULT.c.match_id == _MATCH.c.id)
        .where(_MATCH.c.tournament_id == key(tournaments.get_tournament(session, tournament)), failed)
        .order_by(_MATCH.c.number.desc())
        .limit(limit)
    )
    return [queries.match(session, match) for match in session.execute(asked).scalars()]


def _with_bot(session: Session, field: str, name: str) -> Select[Any]:
    """The ids of the matches in which any version of the bot sits."""
    found = bots.get_bot(session, name, field=field)
    return select(_SEAT.c.match_id).join(_VERSION, _VERSION.c.id == _SEAT.c.version_id).where(_VERSION.c.bot_id == key(found))
