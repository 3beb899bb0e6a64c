"""A running control API on a real database, called over real gRPC."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
import pytest_asyncio

from hippodrome.ladder import accounts
from hippodrome.ladder.api.server import Server, serve
from hippodrome.ladder.db import Database
from hippodrome.ladder.settings import Settings
from hippodrome.v1.account_service_pb2_grpc import AccountServiceStub
from hippodrome.v1.bot_service_pb2_grpc import BotServiceStub
from hippodrome.v1.errors_pb2 import BadRequest, ErrorInfo, ErrorStatus
from hippodrome.v1.ladder_service_pb2_grpc import LadderServiceStub
from hippodrome.v1.match_service_pb2_grpc import MatchServiceStub
from hippodrome.v1.tournament_service_pb2_grpc import TournamentServiceStub

SECONDS = 20.0


class Refused(Exception):
    """What the details of a failed call say."""

    def __init__(self, error: grpc.aio.AioRpcError) -> None:
        super().__init__(error.details())
        self.code, self.message = error.code(), error.details() or ""
        raw = next((value for key, value in error.trailing_metadata() or () if key == "grpc-status-details-bin"), b"")
        self.status = ErrorStatus.FromString(raw)
        self.info, self.bad = ErrorInfo(), BadRequest()
        for packed in self.status.details:
            kind: Any = {"ErrorInfo": self.info, "BadRequest": self.bad}[packed.type_url.rpartition(".")[2]]
            kind.ParseFromString(packed.value)

    @property
    def reason(self) -> str:
        return self.info.reason

    @property
    def field(self) -> str:
        return self.info.metadata["field"]


class Api:
    """The stubs of all services, and the secrets of the accounts `root` (an administrator), `ada` and `bob`."""

    def __init__(self, server: Server, settings: Settings, channel: grpc.aio.Channel, secrets: dict[str, str]) -> None:
        self.server, self.settings, self.channel, self.secrets = server, settings, channel, secrets
        self.accounts, self.bots = AccountServiceStub(channel), BotServiceStub(channel)
        self.tournaments, self.ladders = TournamentServiceStub(channel), LadderServiceStub(channel)
        self.matches = MatchServiceStub(channel)

    def metadata(self, by: str | None) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {self.secrets[by]}"),) if by else ()

    async def call(self, method: Any, request: Any, by: str | None = None, timeout: float = SECONDS) -> Any:
        """The answer. Raises Refused."""
        try:
            return await method(request, metadata=self.metadata(by), timeout=timeout)
        except grpc.aio.AioRpcError as error:
            raise Refused(error) from None

    async def refused(self, method: Any, request: Any, by: str | None = None) -> Refused:
        """Why the call fails; it must fail."""
        with pytest.raises(Refused) as caught:
            await self.call(method, request, by)
        return caught.value


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings.load({"HIPPODROME_HOME": str(tmp_path / "home"), "HIPPODROME_DATABASE_URL": database_url})


@pytest.fixture
def secrets(database: Database) -> dict[str, str]:
    """Account -> secret of a token; the accounts are made here."""
    with database.write() as session:
        names = ("root", "ada", "bob")
        return {name: accounts.create_account(session, name=name, admin=name == "root")[1] for name in names}


@pytest_asyncio.fixture
async def api(settings: Settings, secrets: dict[str, str]) -> AsyncIterator[Api]:
    server = await serve(settings, "127.0.0.1:0")
    channel = grpc.aio.insecure_channel(server.address)
    yield Api(server, settings, channel, secrets)
    await channel.close()
    await server.stop()


@pytest.fixture
def refused() -> Callable[..., type[Refused]]:
    """The class of errors that `Api.call` raises."""
    return lambda: Refused
