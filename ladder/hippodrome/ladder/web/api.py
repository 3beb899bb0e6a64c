"""The read API: the JSON twin of every page, under /api/v1."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.dependencies.models import Dependant
from fastapi.responses import PlainTextResponse
from fastapi.routing import APIRoute
from fastapi.sse import EventSourceResponse, ServerSentEvent

from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import did_you_mean
from hippodrome.ladder.web import games, schemas
from hippodrome.ladder.web.boards import style_hashes
from hippodrome.ladder.web.errors import responses
from hippodrome.ladder.web.http import content_policy
from hippodrome.ladder.web.reads import PAGE, PAGE_MAX, Reads

POLL_SECONDS: Final = 1.0
"""How often a stream of events looks for a change."""
LASTING: Final = {"Cache-Control": "public, max-age=3600"}
"""For what never changes once it is there, save with a new release of the program."""


class JsonLines(PlainTextResponse):
    """Text of one JSON object a line."""

    media_type = "application/jsonl"


def query_names(dependant: Dependant) -> list[str]:
    """The parameters of the query that a route and its dependencies know."""
    inner = [name for part in dependant.dependencies for name in query_names(part)]
    return list(dict.fromkeys([field.alias for field in dependant.query_params] + inner))


def only_known(request: Request) -> None:
    """Refuse parameters that the route does not know, and those given twice. Raises FieldError."""
    route = request.scope["route"]
    legal = query_names(route.dependant)
    for name, count in Counter(name for name, _ in request.query_params.multi_items()).items():
        if name not in legal:
            raise FieldError(name[:60] or "(no name)", "no such parameter", did_you_mean(name[:60], legal), tuple(legal))
        if count > 1:
            raise FieldError(name, "given more than once", "give it once")


def reads_of(request: Request) -> Reads:
    """The reads of the application."""
    found: Reads = request.app.state.reads
    return found


@dataclass(frozen=True, slots=True)
class Paging:
    """Which page of a list."""

    size: int
    token: str


def paging(
    page_size: Annotated[int, Query(ge=1, le=PAGE_MAX, description="How many to give.")] = PAGE,
    page_token: Annotated[str, Query(max_length=500, description="`next_page_token` of the page before.")] = "",
) -> Paging:
    """The page asked for."""
    return Paging(page_size, page_token)


AskReads = Annotated[Reads, Depends(reads_of)]
AskPage = Annotated[Paging, Depends(paging)]
AskPly = Annotated[int | None, Query(ge=0, description="After how many moves; the last one when left out.")]
AskName = Annotated[str, Query(max_length=100, description="Only with this one; all when empty.")]

router: Final = APIRouter(
    prefix="/api/v1",
    dependencies=[Depends(only_known)],
    responses=responses(422, 503),
    generate_unique_id_function=lambda route: route.name,
)
MISSING: Final = responses(404)


@router.get("/home", response_model=schemas.Home)
def get_home(reads: AskReads) -> Any:
    """Ladders and running tournaments."""
    return reads.home()


@router.get("/ladders", response_model=schemas.LadderList)
def list_ladders(reads: AskReads, page: AskPage) -> Any:
    """Ladders that have a rated match."""
    return reads.ladders(page.size, page.token)


@router.get("/ladders/{ladder}", response_model=schemas.Ladder, responses=MISSING)
def get_ladder(reads: AskReads, ladder: str) -> Any:
    """One ladder: ratings with their intervals."""
    return reads.ladder(ladder)


@router.get("/bots", response_model=schemas.BotList)
def list_bots(reads: AskReads, page: AskPage) -> Any:
    """Bots, by name."""
    return reads.bots(page.size, page.token)


@router.get("/bots/{bot}", response_model=schemas.Bot, responses=MISSING)
def get_bot(reads: AskReads, bot: str) -> Any:
    """One bot with its versions and ratings."""
    return reads.bot(bot)


@router.get("/bots/{bot}/head-to-head", response_model=schemas.HeadToHeadList, responses=MISSING)
def get_head_to_head(reads: AskReads, bot: str) -> Any:
    """One bot against everyone it has met."""
    return {"head_to_head": reads.head_to_head(bot)}


@router.get("/tournaments", response_model=schemas.TournamentList)
def list_tournaments(reads: AskReads, page: AskPage) -> Any:
    """Tournaments, newest first."""
    return reads.tournaments(page.size, page.token)


@router.get("/tournaments/{tournament}", response_model=schemas.Tournament, responses=MISSING)
def get_tournament(reads: AskReads, tournament: str) -> Any:
    """One tournament with standings and crosstable."""
    return reads.tournament(tournament)


def watched(reads: AskReads, tournament: str) -> str:
    """The tournament to watch, if there is one."""
    reads.progress(tournament)
    return tournament


@router.get("/tournaments/{tournament}/events", response_class=EventSourceResponse, responses=MISSING)
async def watch_tournament(reads: AskReads, tournament: Annotated[str, Depends(watched)]) -> AsyncIterator[ServerSentEvent]:
    """Server-sent events: `progress` whenever a match has changed, `over` at the end. The first comes at once."""
    before: Any = None
    while True:
        now = await run_in_threadpool(reads.progress, tournament)
        if now != before:
            yield ServerSentEvent(
                event="progress" if now["state"] == "running" else "over", data=now, id=str(now["matches_done"])
            )
        if now["state"] != "running":
            return
        before = now
        await asyncio.sleep(POLL_SECONDS)


@router.get("/matches", response_model=schemas.MatchList, responses=MISSING)
def list_matches(reads: AskReads, page: AskPage, tournament: AskName = "", bot: AskName = "", opponent: AskName = "") -> Any:
    """Matches, newest first; those of one tournament or bot, or of two bots together."""
    return reads.matches(page.size, page.token, tournament, bot, opponent)


@router.get("/matches/{match}", response_model=schemas.Match, responses=MISSING)
def get_match(reads: AskReads, match: str) -> Any:
    """One match."""
    return reads.match(match)


@router.get("/matches/{match}/moves", response_model=schemas.MoveList, responses=MISSING)
def get_moves(reads: AskReads, match: str) -> Any:
    """All moves of a published match with their times, and the results of chance."""
    return reads.moves(match)


@router.get("/matches/{match}/board", response_model=schemas.Board, responses=MISSING)
def get_board(reads: AskReads, match: str, ply: AskPly = None) -> Any:
    """The position of a published match after some moves."""
    return reads.board(match, ply)


@router.get("/matches/{match}/record", response_class=JsonLines, responses=MISSING)
def get_record(reads: AskReads, match: str) -> JsonLines:
    """The record of a published match: JSON Lines, enough to play it again bit for bit."""
    return record_answer(reads, match)


@router.get("/games", response_model=schemas.GameList)
def list_games() -> Any:
    """Games, by name."""
    return {"games": games.all_games()}


@router.get("/games/{game}", response_model=schemas.Game, responses=MISSING)
def get_game(game: str) -> Any:
    """One game: options, notation, rules."""
    return games.game_page(game)


def record_answer(reads: Reads, match: str) -> JsonLines:
    """The record as a file to keep."""
    headers = LASTING | {"Content-Disposition": f'attachment; filename="{match}.jsonl"'}
    return JsonLines(reads.played(match).text, headers=headers)


def svg_headers(svg: str) -> dict[str, str]:
    """For a picture on its own: it may use its own inline styles."""
    return LASTING | {"Content-Security-Policy": content_policy(style_hashes(svg))}


def paths() -> list[dict[str, Any]]:
    """The routes as the page about the API shows them."""
    return [
        {
            "path": route.path,
            "summary": route.description.replace("`", ""),
            "parameters": query_names(route.dependant),
        }
        for route in router.routes
        if isinstance(route, APIRoute)
    ]
