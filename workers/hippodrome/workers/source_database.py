"""The database itself as a source of data: for whoever administers this installation. New things belong to its operator."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from sqlmodel import Session

from hippodrome.ladder import accounts, bots, convert, ids, queries, tournaments
from hippodrome.ladder.db import check_schema, open_database
from hippodrome.ladder.models import Account
from hippodrome.ladder.pages import AccountPage, BotPage, LadderPage, MatchPage, TokenPage, TournamentPage, VersionPage
from hippodrome.ladder.paging import MAX_SIZE, Page
from hippodrome.workers.house import OPERATOR
from hippodrome.workers.sources import NewTournament, every_page

WATCH_SECONDS: Final = 0.25
T = TypeVar("T")


class DatabaseSource:
    """Reads and writes the database at `url`. Raises DatabaseUnavailable when it has no schema of this program."""

    def __init__(self, url: str) -> None:
        check_schema(url)
        self._database = open_database(url)

    def close(self) -> None:
        self._database.close()

    def ladders(self) -> list[str]:
        return self._all(lambda session, token: queries.list_ladders(session, MAX_SIZE, token))

    def ladder(self, name: str) -> LadderPage:
        return self._read(lambda session: queries.ladder(session, name))

    def bots(self) -> list[BotPage]:
        return self._all(lambda session, token: queries.list_bots(session, MAX_SIZE, token))

    def bot(self, name: str) -> BotPage:
        return self._read(lambda session: queries.bot(session, name))

    def create_bot(self, name: str, *, description: str = "") -> BotPage:
        with self._database.write() as session:
            made = bots.create_bot(session, account=_operator(session), name=name, description=description)
            return queries.bot(session, made.name)

    def create_version(self, bot: str, *, description: str = "") -> VersionPage:
        with self._database.write() as session:
            found = bots.get_bot(session, bot)
            name = ids.version_name(found.name, bots.create_version(session, found, description=description).number)
            return next(version for version in queries.bot(session, found.name).versions if version.name == name)

    def tournaments(self) -> list[TournamentPage]:
        return self._all(lambda session, token: queries.list_tournaments(session, MAX_SIZE, token))

    def tournament(self, name: str) -> TournamentPage:
        return self._read(lambda session: queries.tournament(session, name))

    def create_tournament(self, new: NewTournament) -> TournamentPage:
        with self._database.write() as session:
            made = tournaments.create_tournament(
                session,
                name=new.name,
                ruleset=new.ruleset,
                entries=new.entries,
                blocks=new.blocks,
                clock=new.clock or tournaments.DEFAULT_CLOCK,
                policy=new.policy or "forfeit",
                pairing=new.pairing or "round-robin",
                seed=new.seed,
                rated=new.rated,
                account=_operator(session),
            )
            return queries.tournament(session, made.name)

    def cancel_tournament(self, name: str) -> TournamentPage:
        with self._database.write() as session:
            return queries.tournament(session, tournaments.cancel(session, name).name)

    def resume_tournament(self, name: str) -> TournamentPage:
        with self._database.write() as session:
            return queries.tournament(session, tournaments.resume(session, name).name)

    def watch_tournament(self, name: str) -> Iterator[TournamentPage]:
        last = None
        while True:
            now = self.tournament(name)
            if now != last:
                yield now
                last = now
            if now.state != "running":
                return
            time.sleep(WATCH_SECONDS)

    def matches(self, *, tournament: str = "", bot: str = "", limit: int = 50) -> list[MatchPage]:
        page = self._read(lambda session: queries.list_matches(session, tournament=tournament, bot=bot, page_size=limit))
        return list(page.items)

    def match(self, name: str) -> MatchPage:
        return self._read(lambda session: queries.match(session, name))

    def record(self, match: str) -> str:
        return self._read(lambda session: queries.record_text(session, match))

    def accounts(self) -> list[AccountPage]:
        return self._read(lambda session: [convert.account_page(account) for account in accounts.list_accounts(session)])

    def create_account(self, name: str, *, admin: bool = False) -> tuple[AccountPage, str]:
        with self._database.write() as session:
            account, secret = accounts.create_account(session, name=name, admin=admin)
            return convert.account_page(account), secret

    def create_token(self, account: str, *, label: str = "") -> tuple[TokenPage, str]:
        with self._database.write() as session:
            found = accounts.get_account(session, account, field="account")
            token, secret = accounts.create_token(session, found, label=label)
            return convert.token_page(found.name, token), secret

    def revoke_token(self, name: str) -> TokenPage:
        with self._database.write() as session:
            return convert.token_page(ids.parse_token(name)[0], accounts.revoke_token(session, name))

    def _read(self, query: Callable[[Session], T]) -> T:
        with self._database.read() as session:
            return query(session)

    def _all(self, query: Callable[[Session, str], Page[T]]) -> list[T]:
        """All pages of a list, in one picture of the database."""
        with self._database.read() as session:
            return list(every_page(lambda token: query(session, token)))


def _operator(session: Session) -> Account:
    """The account of whoever sits at this machine."""
    return accounts.ensure_account(session, name=OPERATOR, admin=True)
