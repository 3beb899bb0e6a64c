"""What both the pages and the API read: names checked, one short transaction for each question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from sqlmodel import Session

from hippodrome.engine.errors import FieldError
from hippodrome.ladder import paging, queries, tournaments
from hippodrome.ladder.db import Database
from hippodrome.ladder.errors import NotFound
from hippodrome.ladder.pages import BotPage, HeadToHead, LadderPage, MatchPage, TournamentPage
from hippodrome.ladder.web import searches
from hippodrome.ladder.web.boards import Boards, Replayed, move_lines

PAGE: Final = paging.DEFAULT_SIZE
PAGE_MAX: Final = paging.MAX_SIZE
FAULTY: Final = 50
"""Matches with faults shown for a tournament."""
_SAFE: Final = re.compile(r"[A-Za-z0-9._=-]{1,200}")
Found = dict[str, Any]
"""A list under its name, and `next_page_token`."""


class Reads:
    """The questions. Methods raise NotFound for unknown names, FieldError for bad values, DatabaseUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._boards = Boards(self._record)

    def home(self, top: int = 0) -> Found:
        """Ladders, with their `top` best rows, and running tournaments."""
        with self._database.read() as session:
            names = queries.list_ladders(session)
            running = queries.list_tournaments(session, state="running")
            ladders = [_summary(queries.ladder(session, name), top) for name in names.items]
        return {"ladders": ladders, "running": running.items, "running_more": bool(running.next_page_token)}

    def ladders(self, size: int, token: str) -> Found:
        """A page of ladders."""
        with self._database.read() as session:
            names = queries.list_ladders(session, size, token)
            ladders = [_summary(queries.ladder(session, name), 0) for name in names.items]
        return {"ladders": ladders, "next_page_token": names.next_page_token}

    def ladder_names(self) -> tuple[str, ...]:
        """The names of all ladders, at most PAGE_MAX."""
        with self._database.read() as session:
            return queries.list_ladders(session, PAGE_MAX).items

    def ladder(self, name: str) -> LadderPage:
        """One ladder."""
        with self._read("ladder", name) as session:
            return queries.ladder(session, name)

    def bots(self, size: int, token: str) -> Found:
        """A page of bots."""
        with self._database.read() as session:
            page = queries.list_bots(session, size, token)
        return {"bots": page.items, "next_page_token": page.next_page_token}

    def bot(self, name: str) -> BotPage:
        """One bot."""
        with self._read("bot", name) as session:
            return queries.bot(session, name)

    def head_to_head(self, name: str) -> list[HeadToHead]:
        """A bot against everyone it has met."""
        with self._read("bot", name) as session:
            return queries.head_to_head(session, name)

    def last_matches(self, bot: str, limit: int) -> list[MatchPage]:
        """The matches of a bot that ended last, newest first."""
        with self._read("bot", bot) as session:
            return queries.last_matches(session, bot, limit)

    def tournaments(self, size: int, token: str) -> Found:
        """A page of tournaments."""
        with self._database.read() as session:
            page = queries.list_tournaments(session, size, token)
        return {"tournaments": page.items, "next_page_token": page.next_page_token}

    def tournament(self, name: str) -> TournamentPage:
        """One tournament with its standings."""
        with self._read("tournament", name) as session:
            return queries.tournament(session, name)

    def progress(self, name: str) -> Found:
        """How far a tournament is: cheap enough to ask every second."""
        with self._read("tournament", name) as session:
            found = tournaments.get_tournament(session, name)
            count = tournaments.progress_of(session, found)
        counts = {"planned": count.planned, "done": count.done, "running": count.leased, "parked": count.parked}
        return {"state": found.state} | {f"matches_{word}": number for word, number in counts.items()}

    def faulty(self, tournament: str) -> list[MatchPage]:
        """The matches of a tournament in which a bot failed, the newest planned first, at most FAULTY."""
        with self._read("tournament", tournament) as session:
            return searches.faulty(session, tournament, FAULTY)

    def matches(self, size: int, token: str, tournament: str = "", bot: str = "", opponent: str = "") -> Found:
        """A page of matches; only those of a tournament, with a bot, or with both bots. Empty words mean all."""
        for field, name in (("tournament", tournament), ("bot", bot), ("opponent", opponent)):
            if name:
                _check(field, name)
        _check_filters(tournament, bot, opponent)
        with self._database.read() as session:
            if opponent:
                page = searches.together(session, bot, opponent, size, token)
            else:
                page = queries.list_matches(session, tournament=tournament, bot=bot, page_size=size, page_token=token)
        return {"matches": page.items, "next_page_token": page.next_page_token}

    def match(self, name: str) -> MatchPage:
        """One match."""
        with self._read("match", name) as session:
            return queries.match(session, name)

    def played(self, name: str) -> Replayed:
        """A published match with its positions. Raises NotFound while it, or a match of its block, is still to be played."""
        _check("match", name)
        return self._boards.get(name)

    def moves(self, name: str) -> Found:
        """The moves of a published match."""
        record = self.played(name).record
        return {
            "moves": move_lines(record),
            "chance": [line for line in record.body if "chance" in line],
            "seed": record.closing["seed"],
            "clock": record.header["clock"],
            "policy": record.header["policy"],
        }

    def board(self, name: str, ply: int | None) -> Found:
        """The position of a published match after `ply` moves."""
        played = self.played(name)
        at = played.ply(ply)
        view = played.view(at)
        found = {"ply": at, "plies": played.plies, "banks": played.banks(at), "view": view}
        return found | {"text": played.game.text(view), "svg": f"/matches/{name}/board.svg?ply={at}"}

    def _record(self, name: str) -> str:
        with self._read("match", name) as session:
            return queries.record_text(session, name)

    @contextmanager
    def _read(self, field: str, name: str) -> Iterator[Session]:
        """A session to look up `name`; whatever is wrong with the name, the thing is not there."""
        _check(field, name)
        try:
            with self._database.read() as session:
                yield session
        except FieldError as error:
            raise NotFound(field, error.problem, error.fix, error.legal) from None


def _check(field: str, name: str) -> None:
    """Refuse what can be no name before a database sees it."""
    if not _SAFE.fullmatch(name):
        raise NotFound(field, f"no {field} {name[:60]!r}", f"copy the name from the list of {_LISTS[field]}")


def _check_filters(tournament: str, bot: str, opponent: str) -> None:
    if opponent and not bot:
        raise FieldError("opponent", "it means nothing alone", "give bot too")
    if opponent and tournament:
        raise FieldError("opponent", "it is not possible together with tournament", "leave one of them out")


_LISTS: Final = {
    "ladder": "ladders", "bot": "bots", "opponent": "bots", "tournament": "tournaments", "match": "matches",
}  # fmt: skip


def _summary(ladder: LadderPage, top: int) -> Found:
    return {"name": ladder.name, "matches": ladder.matches, "rows": ladder.rows[:top]}
