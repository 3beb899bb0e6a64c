"""An engine node: the gRPC server, the matches it runs, and its end in good order.

node = await serve(NodeConfig(secret=...))        node.address is where bots and workers dial
record = await node.play(spec)                    plays a match in this process's node; RunMatch does the same for workers
await node.close("the node stops")
"""

from __future__ import annotations

import asyncio
import hmac
import importlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

import grpc

from hippodrome.engine import record as records
from hippodrome.engine import tickets
from hippodrome.engine.errors import FieldError
from hippodrome.engine.reasons import Refusal
from hippodrome.engine.record import Record
from hippodrome.engine.referee import MatchSpec
from hippodrome.games.registry import get_game
from hippodrome.service import convert
from hippodrome.service.config import NodeConfig
from hippodrome.service.launcher import Launcher
from hippodrome.service.lobby import Lobby
from hippodrome.service.match import Limits, Match
from hippodrome.service.pulse import Pulse
from hippodrome.service.session import Session
from hippodrome.service.streams import PlayStreams, refuse
from hippodrome.v1 import engine_service_pb2 as engine_v1
from hippodrome.v1.engine_service_pb2_grpc import EngineServiceServicer, add_EngineServiceServicer_to_server

log = logging.getLogger(__name__)
KEY: Final = "x-hippodrome-key"
"""The metadata that carries the internal key."""
SERVICES: Final = ("hippodrome.v1.PlayService", "hippodrome.v1.EngineService")
OPTIONS: Final = (
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", 262_144),
    ("grpc.compression_enabled_algorithms_bitset", 1),
    ("grpc.max_concurrent_streams", 100),
    ("grpc.server_handshake_timeout_ms", 3_000),
    ("grpc.max_connection_idle_ms", 300_000),
    ("grpc.keepalive_time_ms", 5_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.ping_timeout_ms", 5_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 300),
)
"""No second server on the port, no big or packed messages, few streams a connection, no half-open or frozen peers."""


@dataclass(frozen=True, slots=True)
class Missing:
    """Bot versions for which there was no session with a free place."""

    versions: tuple[str, ...]


MakeMatch = Callable[[Mapping[int, Session | tuple[str, str]]], Match]


class Node:
    """A running node. Made by `serve`."""

    def __init__(self, config: NodeConfig) -> None:
        self.config = config
        self.address = ""
        self.lobby = Lobby(config)
        self.matches: dict[str, Match] = {}
        """The running matches by name."""
        self._fences: dict[str, int] = {}
        """The newest fence of each match that runs here or waits for its bots."""
        self._started = time.monotonic()
        self.launcher = Launcher(config.secret, self.lobby)
        self._pulse = Pulse()
        self._limits = Limits(round(config.grace * 1e6), round(config.credit_cap * 1e6))
        self._streams = PlayStreams(config, self.lobby)
        self._server = grpc.aio.server(options=OPTIONS)
        self._health: Any = None
        self._sweeper: asyncio.Task[None] | None = None
        self._closing = False

    # Matches

    async def run(
        self, spec: MatchSpec, fence: int = 1, absent: Iterable[int] = (), withhold_seed: bool = False
    ) -> AsyncIterator[int | Missing | Record | None]:
        """Play an attempt: None while the bots are looked for, then the number of moves now and then, at the end the record, or
        who is missing. Raises Refusal."""
        self._supersede(spec.match, fence)
        self._fences[spec.match] = fence
        seated: list[Match] = []
        away = frozenset(absent)

        def make(who: Mapping[int, Session | tuple[str, str]]) -> Match:
            return Match(spec, get_game(spec.ruleset.game), fence, who, self._limits, self._pulse, withhold_seed)

        wish = self.lobby.wish(lambda: self._fences.get(spec.match) == fence and self._seat(spec, away, make, seated))
        try:
            until = time.monotonic() + self.config.seat_wait
            while not wish.told.done() and time.monotonic() < until:
                await asyncio.wait((wish.told,), timeout=min(self.config.heartbeat, max(0, until - time.monotonic())))
                yield None
            if not seated:
                yield self._missing(spec)
                return
            yield 0
            seated[0].begin()
            while not seated[0].done.done():
                await asyncio.wait((seated[0].done,), timeout=self.config.heartbeat)
                yield seated[0].moves
            yield seated[0].done.result()
        finally:
            self.lobby.give_up(wish)
            if self._fences.get(spec.match) == fence:
                del self._fences[spec.match]
            self._leave(seated)

    async def play(
        self, spec: MatchSpec, fence: int = 1, absent: Iterable[int] = (), withhold_seed: bool = False
    ) -> Record | Missing:
        """Play an attempt to its end. Raises Refusal when it is void."""
        async with aclosing(self.run(spec, fence, absent, withhold_seed)) as events:  # type: ignore[type-var]
            async for event in events:
                if isinstance(event, Missing | Record):
                    return event
        raise AssertionError("an attempt ends with a record or with who is missing")

    def _supersede(self, match: str, fence: int) -> None:
        """A newer fence takes the match over; an older one is refused."""
        if self._closing:
            raise Refusal("NODE_CLOSING", "the node closes; fix: run the match elsewhere")
        newest = self._fences.get(match)
        if newest is None:
            return
        text = f"{match}: fence {max(fence, newest)} plays it; fix: drop the older attempt"
        refusal = Refusal("ATTEMPT_SUPERSEDED", text, match=match, fence=str(fence))
        if fence <= newest:
            raise refusal
        if match in self.matches:
            self.matches[match].drop(refusal)

    def _seat(self, spec: MatchSpec, absent: frozenset[int], make: MakeMatch, seated: list[Match]) -> bool:
        """Take a slot and a place for every seat, all or nothing."""
        if sum(not match.done.done() for match in self.matches.values()) >= self.config.slots:
            return False
        who: dict[int, Session | tuple[str, str]] = {}
        for seat, session in enumerate(self.lobby.choose([s.version for s in spec.seats])):
            placed = session or self._gone(spec.seats[seat].version, seat in absent)
            if placed is None:
                return False
            who[seat] = placed
        self.matches[spec.match] = match = make(who)
        seated.append(match)
        return True

    def _gone(self, version: str, absent: bool) -> tuple[str, str] | None:
        """The fault of a seat whose bot will not come; None when it still may, or is only busy."""
        if version in self.lobby.crashed:
            return "crash", self.lobby.crashed[version]
        settled = time.monotonic() - self._started >= self.config.settle
        if absent and settled and not self.lobby.connected(version):
            return "disconnect", "the bot stayed away too long"
        return None

    def _missing(self, spec: MatchSpec) -> Missing:
        versions = [seat.version for seat in spec.seats]
        missing = tuple(v for v, session in zip(versions, self.lobby.choose(versions), strict=True) if session is None)
        if not missing:
            text = f"all {self.config.slots} slots are taken; fix: try later or another node"
            raise Refusal("NODE_FULL", text, slots=str(self.config.slots))
        return Missing(missing)

    def _leave(self, seated: list[Match]) -> None:
        """Whoever ran the match has its result, or is gone."""
        for match in seated:
            match.drop(Refusal("ATTEMPT_SUPERSEDED", f"{match.spec.match}: the worker dropped the attempt"))
            if self.matches.get(match.spec.match) is match:
                del self.matches[match.spec.match]
        self.lobby.seat_waiting()

    # The process

    async def start(self) -> None:
        """Bind, add the services, serve."""
        self._server.add_generic_rpc_handlers((self._streams.handler(),))
        add_EngineServiceServicer_to_server(EngineServicer(self), self._server)
        self._add_extras()
        port = self._bind()
        host, _, _ = self.config.listen.rpartition(":")
        self.address = self.config.public_address or (self.config.listen if host == "unix" else f"{host}:{port}")
        await self._server.start()
        self._sweeper = asyncio.create_task(self._sweep())

    def _bind(self) -> int:
        try:
            return self._server.add_insecure_port(self.config.listen)
        except RuntimeError:
            raise FieldError("listen", f"cannot bind {self.config.listen}", "choose a free port, or 0 for any") from None

    def _add_extras(self) -> None:
        """Health and reflection, where the server's packages are installed."""
        try:
            health = importlib.import_module("grpc_health.v1.health")
            reflection = importlib.import_module("grpc_reflection.v1alpha.reflection")
        except ImportError:
            return
        self._health = health.aio.HealthServicer()
        importlib.import_module("grpc_health.v1.health_pb2_grpc").add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection((*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME), self._server)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(1)
            self.lobby.sweep()

    async def close(self, reason: str) -> None:
        """Take nothing new, end matches as infrastructure, tell the bots, stop."""
        self._closing = self._streams.closing = True
        if self._health is not None:
            await self._health.enter_graceful_shutdown()
        for match in list(self.matches.values()):
            match.drop(Refusal("NODE_CLOSING", f"{match.spec.match}: {reason}", match=match.spec.match))
        self.lobby.close(reason)
        await self._server.stop(self.config.closing_wait)
        if self._sweeper is not None:
            self._sweeper.cancel()
        await self.launcher.close()
        self._pulse.stop()


class EngineServicer(EngineServiceServicer):
    """EngineService on a node; every call needs the internal key."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._key = tickets.internal_key(node.config.secret).encode()

    async def RunMatch(
        self, request: engine_v1.RunMatchRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncIterator[engine_v1.RunMatchResponse]:
        try:
            self._check_key(context)
            spec = convert.read_spec(request)
            run = self._node.run(spec, request.fence, request.absent_seats, request.withhold_seed)
            async with aclosing(run) as events:  # type: ignore[type-var]
                async for event in events:
                    yield _run_match_response(event)
        except FieldError as error:
            await refuse(context, Refusal.of_field(error))
        except Refusal as refusal:
            await refuse(context, refusal)

    async def GetNode(
        self, request: engine_v1.GetNodeRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> engine_v1.GetNodeResponse:
        try:
            self._check_key(context)
        except Refusal as refusal:
            await refuse(context, refusal)
        node, lobby = self._node, self._node.lobby
        return engine_v1.GetNodeResponse(
            node=node.config.name,
            slots=node.config.slots,
            running=len(node.matches),
            bot_versions=lobby.versions(),
            free_versions=lobby.free_versions(),
            invitable_versions=lobby.invitable_versions(),
            public_address=node.config.public_address,
        )

    async def InviteBot(
        self, request: engine_v1.InviteBotRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> engine_v1.InviteBotResponse:
        try:
            self._check_key(context)
            for field in ("bot_version", "match", "address"):
                if not getattr(request, field):
                    raise Refusal.of_field(FieldError(field, "empty", "give all three fields"))
        except Refusal as refusal:
            await refuse(context, refusal)
        invited = self._node.lobby.invite(request.bot_version, request.match, request.address)
        return engine_v1.InviteBotResponse(invited=invited)

    def _check_key(self, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        shown = dict(context.invocation_metadata() or ()).get(KEY, "")
        if not hmac.compare_digest(str(shown).encode(), self._key):
            raise Refusal("KEY_INVALID", f"metadata {KEY}: not the key of this installation; fix: use its secret")


def _run_match_response(event: int | Missing | Record | None) -> engine_v1.RunMatchResponse:
    if event is None or isinstance(event, int):
        return convert.progress(event)
    return convert.missing(event.versions) if isinstance(event, Missing) else convert.finished(records.dumps(event))


async def serve(config: NodeConfig) -> Node:
    """A node that is ready. Raises FieldError."""
    node = Node(config.checked())
    await node.start()
    return node
