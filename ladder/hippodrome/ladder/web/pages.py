"""The pages."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response
from markupsafe import Markup

from hippodrome.ladder.ids import HOUSE
from hippodrome.ladder.pages import LadderPage
from hippodrome.ladder.web import api, boards, charts, games
from hippodrome.ladder.web.api import AskName, AskPage, AskPly, AskReads
from hippodrome.ladder.web.render import page, tail

router: Final = APIRouter(include_in_schema=False)
LISTED: Final = ("page_size", "page_token", "tournament", "bot", "opponent")
"""Parameters of pages with lists; others (links are shared with marks of all kinds) mean nothing to a page."""
TOP: Final = 3
"""Rows of each ladder on the first page."""
RECENT: Final = 20
"""Matches on the page of a bot."""


@router.get("/")
def home(request: Request, reads: AskReads) -> Response:
    found = reads.home(TOP)
    return page(request, "home.html", {**found, "twin": "/api/v1/home"})


@router.get("/ladders")
def ladders(request: Request, reads: AskReads, paging: AskPage) -> Response:
    found = reads.ladders(paging.size, paging.token)
    return page(request, "ladders.html", {**found, **_list(request, found["next_page_token"])})


@router.get("/ladders/{ladder}")
def ladder(request: Request, reads: AskReads, ladder: str) -> Response:
    return ladder_page(request, reads.ladder(ladder))


def ladder_page(request: Request, found: LadderPage) -> Response:
    """The page of a ladder."""
    context = {
        "ladder": found,
        "game": _game(found.name),
        "bands": charts.bands(found.rows),
        "scale": charts.Scale.over(found.rows),
        "caption": "Best first. The line beside a rating is its 95 % interval.",
        "twin": f"/api/v1/ladders/{found.name}",
    }
    return page(request, "ladder.html", context)


@router.get("/bots")
def bots(request: Request, reads: AskReads, paging: AskPage) -> Response:
    found = reads.bots(paging.size, paging.token)
    return page(request, "bots.html", {**found, **_list(request, found["next_page_token"])})


@router.get("/bots/{bot}")
def bot(request: Request, reads: AskReads, bot: str) -> Response:
    found = reads.bot(bot)
    matches = reads.last_matches(bot, RECENT)
    context = {
        "bot": found,
        "head_to_head": reads.head_to_head(bot),
        "matches": matches,
        "built_in": tail(found.account) == HOUSE,
        "game": _game(matches[0].ruleset) if matches else games.all_games()[0].name,
        "twin": f"/api/v1/bots/{bot}",
    }
    return page(request, "bot.html", context)


@router.get("/tournaments")
def tournaments(request: Request, reads: AskReads, paging: AskPage) -> Response:
    found = reads.tournaments(paging.size, paging.token)
    return page(request, "tournaments.html", {**found, **_list(request, found["next_page_token"])})


@router.get("/tournaments/{tournament}")
def tournament(request: Request, reads: AskReads, tournament: str, paging: AskPage) -> Response:
    found = reads.tournament(tournament)
    place_of = {name: number for number, name in enumerate(found.entries)}
    schedule = reads.matches(paging.size, paging.token, tournament=tournament)
    context = {
        "t": found,
        "place_of": place_of,
        "order": [place_of[row.bot_version] for row in found.standings],
        "matches": schedule["matches"],
        "faulty": reads.faulty(tournament),
        **_list(request, schedule["next_page_token"], "#schedule-h"),
        "twin": f"/api/v1/tournaments/{tournament}",
    }
    return page(request, "tournament.html", context)


@router.get("/matches")
def matches(
    request: Request, reads: AskReads, paging: AskPage, tournament: AskName = "", bot: AskName = "", opponent: AskName = ""
) -> Response:
    found = reads.matches(paging.size, paging.token, tournament, bot, opponent)
    asked = {"tournament": tournament, "bot": bot, "opponent": opponent}
    return page(request, "matches.html", {**found, **asked, **_list(request, found["next_page_token"])})


@router.get("/matches/{match}")
def match(request: Request, reads: AskReads, match: str, ply: AskPly = None) -> Response:
    found = reads.match(match)
    context: dict[str, Any] = {"match": found, "played": None, "twin": f"/api/v1/matches/{match}"}
    if not found.published:
        return page(request, "match.html", context)
    played = reads.played(match)
    at = played.ply(ply)
    svg = "" if played.problem else played.svg(at)
    context |= {
        "played": played,
        "ply": at,
        "last": played.last(at),
        "banks": played.banks(at),
        "svg": Markup(svg),
        **reads.moves(match),
    }
    return page(request, "match.html", context, style_hashes=boards.style_hashes(svg))


@router.get("/matches/{match}/board.svg", dependencies=[Depends(api.only_known)])
def board(reads: AskReads, match: str, ply: AskPly = None) -> Response:
    played = reads.played(match)
    svg = played.svg(played.ply(ply))
    return Response(svg, media_type="image/svg+xml", headers=api.svg_headers(svg))


@router.get("/matches/{match}/record", dependencies=[Depends(api.only_known)])
def record(reads: AskReads, match: str) -> Response:
    return api.record_answer(reads, match)


@router.get("/games")
def all_games(request: Request) -> Response:
    return page(request, "games.html", {"games": games.all_games(), "twin": "/api/v1/games"})


@router.get("/games/{game}")
def game(request: Request, reads: AskReads, game: str) -> Response:
    found = games.game_page(game)
    context = {
        "game": found,
        "ladders": [name for name in reads.ladder_names() if _game(name) == game],
        "svg": Markup(found.svg),
        "example": games.example(game),
        "twin": f"/api/v1/games/{game}",
    }
    return page(request, "game.html", context, style_hashes=boards.style_hashes(found.svg))


@router.get("/api")
def about_api(request: Request) -> Response:
    return page(request, "api.html", {"paths": api.paths()})


def _game(ruleset: str) -> str:
    """The game of a ruleset in text form."""
    return ruleset.split(".")[0].rpartition("-")[0]


def _list(request: Request, token: str, fragment: str = "") -> dict[str, Any]:
    """What a page with a list needs: the link to the next page, the JSON twin."""
    asked = {name: value for name, value in request.query_params.items() if name in LISTED and value}
    following = f"?{urlencode(asked | {'page_token': token})}{fragment}" if token else ""
    twin = f"/api/v1{request.url.path}" + (f"?{urlencode(asked)}" if asked else "")
    return {"pages": {"next": following}, "twin": twin}
