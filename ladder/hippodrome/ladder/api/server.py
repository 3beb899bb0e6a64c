"""The server of the control API: grpc.aio with every service, health and reflection, hardened (reliability note D)."""

from __future__ import annotations

from typing import Final

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from hippodrome.engine.errors import FieldError
from hippodrome.ladder.api.accounts import Accounts
from hippodrome.ladder.api.bots import Bots
from hippodrome.ladder.api.calls import Hub, TokenInterceptor
from hippodrome.ladder.api.ladders import Ladders
from hippodrome.ladder.api.matches import Matches
from hippodrome.ladder.api.tournaments import Tournaments
from hippodrome.ladder.db import check_schema, open_database
from hippodrome.ladder.settings import Settings
from hippodrome.v1.account_service_pb2_grpc import add_AccountServiceServicer_to_server
from hippodrome.v1.bot_service_pb2_grpc import add_BotServiceServicer_to_server
from hippodrome.v1.ladder_service_pb2_grpc import add_LadderServiceServicer_to_server
from hippodrome.v1.match_service_pb2_grpc import add_MatchServiceServicer_to_server
from hippodrome.v1.tournament_service_pb2_grpc import add_TournamentServiceServicer_to_server

SERVICES: Final = (
    "hippodrome.v1.AccountService",
    "hippodrome.v1.BotService",
    "hippodrome.v1.TournamentService",
    "hippodrome.v1.LadderService",
    "hippodrome.v1.MatchService",
)
OPTIONS: Final = (
    ("grpc.max_receive_message_length", 262_144),
    ("grpc.max_concurrent_streams", 100),
    ("grpc.so_reuseport", 0),
    ("grpc.compression_enabled_algorithms_bitset", 1),
    ("grpc.server_handshake_timeout_ms", 3_000),
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.http2.ping_timeout_ms", 5_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
)
"""A second server on the port is refused; messages over 256 KiB, gzip and streams beyond 100 a connection too."""
CLOSING_SECONDS: Final = 2.0
"""How long calls under way may go on when the server is told to stop."""


class Server:
    """One running server; `address` is where it listens. Make it with `serve`."""

    def __init__(self, server: grpc.aio.Server, hub: Hub, checks: health.aio.HealthServicer, address: str) -> None:
        self.address = address
        self.hub = hub
        self._server, self._checks = server, checks

    async def stop(self) -> None:
        """Tell health checkers, let calls under way end, close."""
        await self._checks.enter_graceful_shutdown()
        self.hub.closing.set()
        await self._server.stop(CLOSING_SECONDS)
        self.hub.threads.shutdown()
        self.hub.database.close()

    async def wait(self) -> None:
        """Until it was stopped."""
        await self._server.wait_for_termination()


async def serve(settings: Settings, listen: str = "127.0.0.1:0") -> Server:
    """Start a server on `listen` (HOST:PORT, port 0: any free one; or unix:PATH). Raises FieldError, DatabaseUnavailable."""
    check_schema(settings.database_url)
    hub = Hub(open_database(settings.database_url), settings)
    server = grpc.aio.server(interceptors=[TokenInterceptor()], options=OPTIONS)
    add_AccountServiceServicer_to_server(Accounts(hub), server)
    add_BotServiceServicer_to_server(Bots(hub), server)
    add_TournamentServiceServicer_to_server(Tournaments(hub), server)
    add_LadderServiceServicer_to_server(Ladders(hub), server)
    add_MatchServiceServicer_to_server(Matches(hub), server)
    checks = await _add_health(server)
    reflection.enable_server_reflection([*SERVICES, reflection.SERVICE_NAME, health.SERVICE_NAME], server)
    address = _bind(server, listen)
    await server.start()
    return Server(server, hub, checks, address)


async def _add_health(server: grpc.aio.Server) -> health.aio.HealthServicer:
    checks = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    for service in (health.OVERALL_HEALTH, *SERVICES):
        await checks.set(service, health_pb2.HealthCheckResponse.SERVING)
    return checks


def _bind(server: grpc.aio.Server, listen: str) -> str:
    """Where the server really listens."""
    host, _, port = listen.rpartition(":")
    if not host or (host != "unix" and not (port.isdigit() and int(port) < 65_536)):
        raise FieldError("listen", f"{listen!r} cannot be read", "write HOST:PORT, for example 127.0.0.1:0, or unix:PATH")
    try:
        bound = server.add_insecure_port(listen)
    except RuntimeError:
        bound = 0
    if not bound:
        raise FieldError("listen", f"cannot listen on {listen}", f"choose another port, or {host}:0 for any free one")
    return listen if host == "unix" else f"{host}:{bound}"
