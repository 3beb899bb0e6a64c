"""A server as a source of data, over gRPC. Its errors come back as the classes the ladder raises."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

import grpc
from google.protobuf.message import DecodeError

from hippodrome.engine.clock import TimeControl
from hippodrome.engine.errors import FieldError
from hippodrome.ladder import convert
from hippodrome.ladder.errors import AlreadyExists, NotFound, WrongState
from hippodrome.ladder.pages import AccountPage, BotPage, LadderPage, MatchPage, TokenPage, TournamentPage, VersionPage
from hippodrome.ladder.paging import MAX_SIZE, Page
from hippodrome.v1 import account_service_pb2, bot_service_pb2, ladder_service_pb2, match_service_pb2, tournament_service_pb2
from hippodrome.v1.account_service_pb2_grpc import AccountServiceStub
from hippodrome.v1.bot_service_pb2_grpc import BotServiceStub
from hippodrome.v1.errors_pb2 import ErrorInfo, ErrorStatus
from hippodrome.v1.ladder_service_pb2_grpc import LadderServiceStub
from hippodrome.v1.match_service_pb2_grpc import MatchServiceStub
from hippodrome.v1.tournament_service_pb2_grpc import TournamentServiceStub
from hippodrome.workers.sources import NewTournament, NotAllowed, Place, Unreachable, every_page

CALL_SECONDS: Final = 30.0
LARGEST: Final = 256 * 1024 * 1024
"""Bytes of an answer: records of long matches and long lists are allowed."""
_OPTIONS: Final = (("grpc.max_receive_message_length", LARGEST), ("grpc.enable_http_proxy", 0))
_TRAILER: Final = "grpc-status-details-bin"
_CLASSES: Final[dict[str, type[FieldError]]] = {
    "TOKEN_INVALID": NotAllowed,
    "NOT_ALLOWED": NotAllowed,
    "NOT_FOUND": NotFound,
    "ALREADY_EXISTS": AlreadyExists,
    "WRONG_STATE": WrongState,
    "FIELD_INVALID": FieldError,
}
"""Reason of an error -> the class it had on the server. All others: Unreachable."""
T = TypeVar("T")


class RemoteSource:
    """The server at `place`. It is dialled with the first call."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._channel = grpc.insecure_channel(place.server, options=_OPTIONS)
        self._accounts = AccountServiceStub(self._channel)
        self._bots = BotServiceStub(self._channel)
        self._ladders = LadderServiceStub(self._channel)
        self._matches = MatchServiceStub(self._channel)
        self._tournaments = TournamentServiceStub(self._channel)

    def close(self) -> None:
        self._channel.close()

    def ladders(self) -> list[str]:
        def ask(token: str) -> Page[str]:
            request = ladder_service_pb2.ListLaddersRequest(page_size=MAX_SIZE, page_token=token)
            answer = self._read(self._ladders.ListLadders, request)
            return Page(tuple(answer.ladders), answer.next_page_token)

        return list(every_page(ask))

    def ladder(self, name: str) -> LadderPage:
        return convert.ladder(self._read(self._ladders.GetLadder, ladder_service_pb2.GetLadderRequest(name=name)))

    def bots(self) -> list[BotPage]:
        def ask(token: str) -> Page[BotPage]:
            request = bot_service_pb2.ListBotsRequest(page_size=MAX_SIZE, page_token=token)
            answer = self._read(self._bots.ListBots, request)
            return Page(tuple(map(convert.bot, answer.bots)), answer.next_page_token)

        return list(every_page(ask))

    def bot(self, name: str) -> BotPage:
        return convert.bot(self._read(self._bots.GetBot, bot_service_pb2.GetBotRequest(name=name)).bot)

    def create_bot(self, name: str, *, description: str = "") -> BotPage:
        request = bot_service_pb2.CreateBotRequest(bot_id=name, description=description, request_id=_fresh())
        return convert.bot(self._write(self._bots.CreateBot, request).bot)

    def create_version(self, bot: str, *, description: str = "") -> VersionPage:
        request = bot_service_pb2.CreateBotVersionRequest(bot=bot, description=description, request_id=_fresh())
        return convert.version(self._write(self._bots.CreateBotVersion, request).version)

    def tournaments(self) -> list[TournamentPage]:
        def ask(token: str) -> Page[TournamentPage]:
            request = tournament_service_pb2.ListTournamentsRequest(page_size=MAX_SIZE, page_token=token)
            answer = self._read(self._tournaments.ListTournaments, request)
            return Page(tuple(map(convert.tournament, answer.tournaments)), answer.next_page_token)

        return list(every_page(ask))

    def tournament(self, name: str) -> TournamentPage:
        request = tournament_service_pb2.GetTournamentRequest(name=name)
        return convert.tournament(self._read(self._tournaments.GetTournament, request).tournament)

    def create_tournament(self, new: NewTournament) -> TournamentPage:
        request = tournament_service_pb2.CreateTournamentRequest(
            tournament_id=new.name,
            ruleset=new.ruleset,
            entries=new.entries,
            blocks=new.blocks,
            clock=convert.clock_message(TimeControl.parse(new.clock)) if new.clock else None,
            policy=new.policy,
            pairing=new.pairing,
            seed=new.seed,
            unrated=not new.rated,
            request_id=_fresh(),
        )
        return convert.tournament(self._write(self._tournaments.CreateTournament, request).tournament)

    def cancel_tournament(self, name: str) -> TournamentPage:
        request = tournament_service_pb2.CancelTournamentRequest(name=name)
        return convert.tournament(self._write(self._tournaments.CancelTournament, request).tournament)

    def resume_tournament(self, name: str) -> TournamentPage:
        request = tournament_service_pb2.ResumeTournamentRequest(name=name)
        return convert.tournament(self._write(self._tournaments.ResumeTournament, request).tournament)

    def watch_tournament(self, name: str) -> Iterator[TournamentPage]:
        stream = self._tournaments.WatchTournament(tournament_service_pb2.WatchTournamentRequest(name=name))
        try:
            for answer in stream:
                yield convert.tournament(answer.tournament)
        except grpc.RpcError as error:
            raise self._error(error) from None
        finally:
            stream.cancel()

    def matches(self, *, tournament: str = "", bot: str = "", limit: int = 50) -> list[MatchPage]:
        request = match_service_pb2.ListMatchesRequest(tournament=tournament, bot=bot, page_size=limit)
        return list(map(convert.match, self._read(self._matches.ListMatches, request).matches))

    def match(self, name: str) -> MatchPage:
        return convert.match(self._read(self._matches.GetMatch, match_service_pb2.GetMatchRequest(name=name)).match)

    def record(self, match: str) -> str:
        request = match_service_pb2.GetMatchRecordRequest(name=match)
        return self._read(self._matches.GetMatchRecord, request).record.decode("utf-8")

    def accounts(self) -> list[AccountPage]:
        def ask(token: str) -> Page[AccountPage]:
            request = account_service_pb2.ListAccountsRequest(page_size=MAX_SIZE, page_token=token)
            answer = self._write(self._accounts.ListAccounts, request)
            return Page(tuple(map(convert.account, answer.accounts)), answer.next_page_token)

        return list(every_page(ask))

    def create_account(self, name: str, *, admin: bool = False) -> tuple[AccountPage, str]:
        request = account_service_pb2.CreateAccountRequest(account_id=name, admin=admin, request_id=_fresh())
        answer = self._write(self._accounts.CreateAccount, request)
        return convert.account(answer.account), answer.secret

    def create_token(self, account: str, *, label: str = "") -> tuple[TokenPage, str]:
        request = account_service_pb2.CreateTokenRequest(account=account, label=label)
        answer = self._write(self._accounts.CreateToken, request)
        return convert.token(answer.token), answer.secret

    def revoke_token(self, name: str) -> TokenPage:
        return convert.token(self._write(self._accounts.RevokeToken, account_service_pb2.RevokeTokenRequest(name=name)).token)

    def _read(self, call: grpc.UnaryUnaryMultiCallable[Any, T], request: Any) -> T:
        """Anybody may read: no token is shown, so one that is out of date does not stand in the way."""
        return self._call(call, request, ())

    def _write(self, call: grpc.UnaryUnaryMultiCallable[Any, T], request: Any) -> T:
        """A call that needs a token. Raises NotAllowed before it when there is none."""
        if not self._place.token:
            fix = "set HIPPODROME_TOKEN to the secret of a token: `hippodrome token create` makes one"
            raise NotAllowed("token", f"{self._place.server} wants to know who is calling", fix)
        return self._call(call, request, (("authorization", f"Bearer {self._place.token}"),))

    def _call(self, call: Callable[..., T], request: Any, metadata: tuple[tuple[str, str], ...]) -> T:
        try:
            return call(request, metadata=metadata, timeout=CALL_SECONDS)
        except grpc.RpcError as error:
            raise self._error(error) from None

    def _error(self, error: grpc.RpcError) -> Exception:
        """The error that the server raised."""
        info = error_info(error)
        kind = _CLASSES.get(info.reason)
        if kind is None:
            message = error.details() or error.code().name
            fix = "" if "; fix: " in message else "; fix: check the address and that the service runs: hippodrome doctor"
            return Unreachable(f"server: {self._place.server}: {message}{fix}")
        told = info.metadata
        legal = tuple(told["legal"].split("\n")) if told.get("legal") else ()
        return kind(told.get("field", "request"), told.get("problem", error.details() or ""), told.get("fix", ""), legal)


def error_info(error: grpc.RpcError) -> ErrorInfo:
    """The google.rpc.ErrorInfo in the trailer of a failed call; an empty one when there is none that can be read."""
    trailers: Any = error.trailing_metadata() or ()
    raw = next((value for key, value in trailers if key == _TRAILER), b"")
    try:
        for packed in ErrorStatus.FromString(raw).details:
            if packed.type_url.endswith("google.rpc.ErrorInfo"):
                return ErrorInfo.FromString(packed.value)
    except DecodeError:
        pass
    return ErrorInfo()


def _fresh() -> str:
    """An id for a request that makes something."""
    return str(uuid.uuid4())
