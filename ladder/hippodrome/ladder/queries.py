"""What pages and the API read: the read models of `pages`. Lists come in pages; give a `Database.read()` session."""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, func, select, tuple_
from sqlmodel import Session

from hippodrome.engine.chance import commitment
from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import did_you_mean
from hippodrome.ladder import bots, ids, paging, standings, tournaments
from hippodrome.ladder.errors import NotFound, WrongState
from hippodrome.ladder.models import OPEN_STATES, TABLES, Tournament, key
from hippodrome.ladder.pages import (
    AttemptInfo,
    BotPage,
    BotRating,
    HeadToHead,
    LadderPage,
    LadderRow,
    MatchPage,
    SeatInfo,
    Standing,
    TournamentPage,
    VersionPage,
)
from hippodrome.ladder.paging import Page
from hippodrome.ladder.ratings import rank_spans
from hippodrome.ladder.tournament_pages import tournament_page

__all__ = [
    "MATCH_STATES",
    "AttemptInfo",
    "BotPage",
    "BotRating",
    "HeadToHead",
    "LadderPage",
    "LadderRow",
    "MatchPage",
    "Page",
    "SeatInfo",
    "Standing",
    "TournamentPage",
    "VersionPage",
    "attempts",
    "bot",
    "head_to_head",
    "ladder",
    "last_matches",
    "list_bots",
    "list_ladders",
    "list_matches",
    "list_tournaments",
    "match",
    "record_text",
    "tournament"
]  # fmt: skip

_ACCOUNT, _BOT, _VERSION, _TOURNAMENT = TABLES["account"], TABLES["bot"], TABLES["bot_version"], TABLES["tournament"]
_MATCH, _SEAT, _RESULT, _ATTEMPT = TABLES["match"], TABLES["seat"], TABLES["result"], TABLES["attempt"]
_LADDER, _RATING = TABLES["ladder"], TABLES["rating"]
_MAX_ID: Final = (1 << 31) - 1
MATCH_STATES: Final = {"pending": "pending", "leased": "running", "done": "done", "parked": "parked", "cancelled": "cancelled"}
"""State of a match row -> `MatchPage.state`, the proto's word in lower case."""


def ladder(session: Session, name: str, *, every_version: bool = False) -> LadderPage:
    """The ladder called `name`; of each bot its newest rated version, or all. Raises NotFound."""
    row = session.execute(select(_LADDER).where(_LADDER.c.name == ids.clean_text(name))).one_or_none()
    if row is None:
        names = list(session.execute(select(_LADDER.c.name).order_by(_LADDER.c.name)).scalars())
        raise NotFound("name", f"no ladder {name[:80]!r}", bots.near(name[:80], names, "hippodrome ladder"), tuple(names))
    rated = (
        select(_RATING, _VERSION.c.number, _BOT.c.name.label("bot"), _ACCOUNT.c.name.label("account"))
        .select_from(_RATING.join(_VERSION, _VERSION.c.id == _RATING.c.version_id).join(_BOT).join(_ACCOUNT))
        .where(_RATING.c.ladder == name)
        .order_by(_RATING.c.provisional, _RATING.c.rating.desc(), _BOT.c.name, _VERSION.c.number)
    )
    found = session.execute(rated).all()
    shown = found if every_version else _newest(found)
    return LadderPage(name, _ranked(shown), row.matches, row.events - row.fitted, row.fitted_at)


def list_ladders(session: Session, page_size: int = 0, page_token: str = "") -> Page[str]:
    """The names of all ladders that have a result."""
    size, after = paging.page_size(page_size), paging.read_token("ladders", page_token, (str,))
    asked = select(_LADDER.c.name).where(_LADDER.c.events > 0).order_by(_LADDER.c.name).limit(size + 1)
    names = session.execute(asked.where(_LADDER.c.name > after[0]) if after else asked).scalars().all()
    return paging.page("ladders", names, size, lambda name: (name,), lambda shown: shown)


def bot(session: Session, name: str) -> BotPage:
    """One bot. Raises NotFound."""
    found = bots.get_bot(session, name)
    return _bot_pages(session, [key(found)])[0]


def list_bots(session: Session, page_size: int = 0, page_token: str = "") -> Page[BotPage]:
    """All bots, by name."""
    size, after = paging.page_size(page_size), paging.read_token("bots", page_token, (str,))
    asked = select(_BOT.c.id, _BOT.c.name).order_by(_BOT.c.name).limit(size + 1)
    rows = session.execute(asked.where(_BOT.c.name > after[0]) if after else asked).all()
    return paging.page(
        "bots", rows, size, lambda row: (row.name,), lambda shown: _bot_pages(session, [row.id for row in shown])
    )


def head_to_head(session: Session, name: str) -> list[HeadToHead]:
    """What the bot's meetings with each other bot came to, by ladder and opponent. Raises NotFound."""
    mine, my_bot = _SEAT.alias("mine"), key(bots.get_bot(session, name))
    other, my_version = _SEAT.alias("other"), _VERSION.alias("my_version")
    asked = (
        select(_BOT.c.name, _MATCH.c.ruleset, mine.c.seat, other.c.seat.label("their_seat"), _RESULT.c.places)
        .select_from(mine)
        .join(my_version, my_version.c.id == mine.c.version_id)
        .join(_RESULT, _RESULT.c.match_id == mine.c.match_id)
        .join(_MATCH, _MATCH.c.id == mine.c.match_id)
        .join(other, (other.c.match_id == mine.c.match_id) & (other.c.seat != mine.c.seat))
        .join(_VERSION, _VERSION.c.id == other.c.version_id)
        .join(_BOT, _BOT.c.id == _VERSION.c.bot_id)
        .where(my_version.c.bot_id == my_bot, _VERSION.c.bot_id != my_bot)
    )
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for opponent, ruleset, seat, their_seat, places in session.execute(asked):
        counts[ruleset, opponent][standings.pair_score(places[seat], places[their_seat])] += 1
    return [_head_to_head(ruleset, opponent, count) for (ruleset, opponent), count in sorted(counts.items())]


def tournament(session: Session, name: str) -> TournamentPage:
    """One tournament with its standings. Raises NotFound."""
    found = tournaments.get_tournament(session, name)
    return tournament_page(session, found, with_standings=True)


def list_tournaments(session: Session, page_size: int = 0, page_token: str = "", state: str = "") -> Page[TournamentPage]:
    """All tournaments, or those in one state, newest first, without standings."""
    size, after = paging.page_size(page_size), paging.read_token("tournaments", page_token, (int,))
    asked = select(_TOURNAMENT.c.id).where(_TOURNAMENT.c.id < (after[0] if after else _MAX_ID))
    asked = asked.where(_TOURNAMENT.c.state == state) if state else asked
    found = session.execute(asked.order_by(_TOURNAMENT.c.id.desc()).limit(size + 1)).scalars().all()
    return paging.page("tournaments", found, size, lambda number: (number,), lambda shown: _tournament_pages(session, shown))


def match(session: Session, name: str) -> MatchPage:
    """One match, by its id or resource name. Raises FieldError, NotFound."""
    match_id = ids.parse_match(name, "name")
    found = _match_pages(session, [match_id])
    if not found:
        raise NotFound("name", f"no match {match_id}", "copy the id from its tournament")
    return found[0]


def list_matches(
    session: Session, *, tournament: str = "", bot: str = "", state: str = "", page_size: int = 0, page_token: str = ""
) -> Page[MatchPage]:
    """Matches, newest planned first; only of a tournament, with a bot or in a state of `MatchPage`. Raises NotFound."""
    size, after = paging.page_size(page_size), paging.read_token("matches", page_token, (int, int))
    order = (_MATCH.c.tournament_id.desc(), _MATCH.c.number.desc())
    asked = select(_MATCH.c.id, _MATCH.c.tournament_id, _MATCH.c.number).order_by(*order).limit(size + 1)
    for condition in _match_filters(session, tournament, bot, state):
        asked = asked.where(condition)
    if after:
        asked = asked.where(tuple_(_MATCH.c.tournament_id, _MATCH.c.number) < tuple_(*after))
    rows = session.execute(asked).all()
    return paging.page(
        "matches",
        rows,
        size,
        lambda row: (row.tournament_id, row.number),
        lambda shown: _match_pages(session, [row.id for row in shown]),
    )


def last_matches(session: Session, bot: str = "", limit: int = 20) -> list[MatchPage]:
    """The matches that ended last, newest first; only with a bot. Raises NotFound."""
    asked = (
        select(_MATCH.c.id).where(_MATCH.c.ended_at.is_not(None)).order_by(_MATCH.c.ended_at.desc(), _MATCH.c.id).limit(limit)
    )
    for condition in _match_filters(session, "", bot, ""):
        asked = asked.where(condition)
    return _match_pages(session, session.execute(asked).scalars().all())


def attempts(session: Session, name: str) -> list[AttemptInfo]:
    """The attempts of a match, first to last; the evidence of those that failed. Raises FieldError."""
    asked = select(_ATTEMPT).where(_ATTEMPT.c.match_id == ids.parse_match(name, "name")).order_by(_ATTEMPT.c.fence)
    return [
        AttemptInfo(a.fence, a.owner, a.started_at, a.ended_at, a.outcome or "", a.reason, a.evidence)
        for a in session.execute(asked)
    ]


def record_text(session: Session, name: str) -> str:
    """The record of a match in its text form. Raises NotFound; WrongState while it has no result, or a match of its block is
    still to be played: it would be dealt the same cards."""
    page = match(session, name)
    asked = select(_RESULT.c.record).where(_RESULT.c.match_id == ids.parse_match(name))
    stored = session.execute(asked).scalar_one_or_none()
    if stored is None:
        raise WrongState("name", f"{page.name} is {page.state}", "its record is there when it is done")
    if not page.published:
        raise WrongState("name", f"{page.name} is done, but {page.block_waits}", "its record is published with its block")
    return gzip.decompress(stored).decode("ascii")


def _newest(rows: Iterable[Row[Any]]) -> list[Row[Any]]:
    rows = list(rows)
    newest: dict[str, int] = {}
    for row in rows:
        newest[row.bot] = max(row.number, newest.get(row.bot, 0))
    return [row for row in rows if row.number == newest[row.bot]]


def _ranked(rows: Sequence[Row[Any]]) -> tuple[LadderRow, ...]:
    """Rows with the ranks among those shown; `rows` come best first, provisional ones last."""
    settled = sum(not row.provisional for row in rows)
    spans: list[tuple[int | None, ...]] = [*rank_spans([(row.rating, row.se) for row in rows[:settled]])]
    spans += [(None, None, None)] * (len(rows) - settled)
    return tuple(_ladder_row(row, *span) for row, span in zip(rows, spans, strict=True))


def _ladder_row(row: Row[Any], rank: int | None, best: int | None, worst: int | None) -> LadderRow:
    return LadderRow(
        rank=rank,
        bot=ids.bot_name(row.bot),
        bot_version=ids.version_name(row.bot, row.number),
        account=ids.account_name(row.account),
        rating=row.rating,
        interval=row.interval,
        matches=row.matches,
        blocks=row.blocks,
        score=row.score,
        faults=row.faults,
        provisional=row.provisional,
        anchor=row.anchor,
        rank_best=best,
        rank_worst=worst,
    )


def _bot_pages(session: Session, bot_ids: Sequence[int]) -> list[BotPage]:
    """The pages of these bots, in this order, in three statements."""
    ratings: dict[int, list[BotRating]] = defaultdict(list)
    of_these = _VERSION.c.bot_id.in_(bot_ids)
    asked = select(_RATING).join(_VERSION, _VERSION.c.id == _RATING.c.version_id).where(of_these).order_by(_RATING.c.ladder)
    for row in session.execute(asked):
        ratings[row.version_id].append(BotRating(row.ladder, row.rating, row.interval, row.matches, row.provisional))
    versions: dict[int, list[Row[Any]]] = defaultdict(list)
    for row in session.execute(select(_VERSION).where(of_these).order_by(_VERSION.c.number)):
        versions[row.bot_id].append(row)
    account = _ACCOUNT.c.name.label("account")
    found = session.execute(select(_BOT, account).join(_ACCOUNT).where(_BOT.c.id.in_(bot_ids)))
    pages = {row.id: _bot_page(row, versions[row.id], ratings) for row in found}
    return [pages[bot_id] for bot_id in bot_ids]


def _bot_page(row: Row[Any], versions: Sequence[Row[Any]], ratings: dict[int, list[BotRating]]) -> BotPage:
    return BotPage(
        name=ids.bot_name(row.name),
        account=ids.account_name(row.account),
        description=row.description,
        create_time=row.created_at,
        versions=tuple(
            VersionPage(ids.version_name(row.name, v.number), v.created_at, v.description, tuple(ratings[v.id]))
            for v in versions
        ),
    )


def _head_to_head(ruleset: str, opponent: str, count: Sequence[int]) -> HeadToHead:
    losses, ties, wins = count
    meetings = losses + ties + wins
    return HeadToHead(ids.bot_name(opponent), ruleset, meetings, wins, ties, losses, (wins + ties / 2) / meetings)


def _tournament_pages(session: Session, tournament_ids: Sequence[int]) -> list[TournamentPage]:
    return [tournament_page(session, session.get_one(Tournament, number), with_standings=False) for number in tournament_ids]


def _match_filters(session: Session, tournament: str, bot: str, state: str) -> list[ColumnElement[bool]]:
    filters: list[ColumnElement[bool]] = []
    if tournament:
        filters.append(_MATCH.c.tournament_id == key(tournaments.get_tournament(session, tournament, field="tournament")))
    if bot:
        with_bot = select(_SEAT.c.match_id).join(_VERSION, _VERSION.c.id == _SEAT.c.version_id)
        filters.append(_MATCH.c.id.in_(with_bot.where(_VERSION.c.bot_id == key(bots.get_bot(session, bot, field="bot")))))
    if state:
        filters.append(_MATCH.c.state == _row_state(state))
    return filters


def _row_state(state: str) -> str:
    """The row's word for a state of `MatchPage`. Raises FieldError."""
    words = {word: row for row, word in MATCH_STATES.items()}
    if state not in words:
        raise FieldError("state", f"no state {state[:40]!r}", did_you_mean(state, list(words)), tuple(words))
    return words[state]


def _match_pages(session: Session, match_ids: Sequence[str]) -> list[MatchPage]:
    """The pages of these matches, in this order, in three statements."""
    seats: dict[str, list[SeatInfo]] = defaultdict(list)
    sat = (
        select(_SEAT.c.match_id, _BOT.c.name, _VERSION.c.number)
        .select_from(_SEAT.join(_VERSION, _VERSION.c.id == _SEAT.c.version_id).join(_BOT))
        .where(_SEAT.c.match_id.in_(match_ids))
        .order_by(_SEAT.c.match_id, _SEAT.c.seat)
    )
    for match_id, name, number in session.execute(sat):
        seats[match_id].append(SeatInfo(ids.bot_name(name), ids.version_name(name, number)))
    results = [_RESULT.c[name] for name in ("ending", "reason", "places", "scores", "faults")]
    asked = (
        select(_MATCH, _TOURNAMENT.c.name.label("tournament"), *results)
        .select_from(_MATCH.join(_TOURNAMENT).outerjoin(_RESULT, _RESULT.c.match_id == _MATCH.c.id))
        .where(_MATCH.c.id.in_(match_ids))
    )
    rows = session.execute(asked).all()
    still = _open_in_blocks(session, {(row.tournament_id, row.block) for row in rows})
    pages = {row.id: _match_page(row, seats[row.id], still.get((row.tournament_id, row.block), 0)) for row in rows}
    return [pages[match_id] for match_id in match_ids if match_id in pages]


def _open_in_blocks(session: Session, blocks: Collection[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """(tournament, block) -> how many of its matches will still be played, for those that have any."""
    block = (_MATCH.c.tournament_id, _MATCH.c.block)
    asked = select(*block, func.count()).where(tuple_(*block).in_(blocks), _MATCH.c.state.in_(OPEN_STATES)).group_by(*block)
    return {(tournament, number): count for tournament, number, count in session.execute(asked)}


def _match_page(row: Row[Any], seats: Sequence[SeatInfo], block_open: int) -> MatchPage:
    return MatchPage(
        name=ids.match_name(row.id),
        tournament=ids.tournament_name(row.tournament),
        ruleset=row.ruleset,
        number=row.number,
        block=row.block,
        rotation=row.rotation,
        seats=tuple(seats),
        state=MATCH_STATES[row.state],
        ending=row.ending or "",
        reason=row.reason or "",
        places=tuple(row.places or ()),
        scores=tuple(row.scores or ()),
        faults=tuple(row.faults or ()),
        moves=row.moves,
        attempts=row.attempts,
        waiting=row.waiting,
        end_time=row.ended_at,
        commitment=commitment(row.seed),
        block_open=block_open,
    )
