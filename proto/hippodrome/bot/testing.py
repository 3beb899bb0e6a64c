"""A fake referee for the tests of bot authors: it puts scripted decisions to a bot, directly or over real gRPC.

    from hippodrome.bot.testing import Ask, play
    from mybot import mybot

    def test_takes_the_only_move():
        assert play(mybot, [Ask(["pass"])]) == [["pass"]]

`play` raises BotError when the bot crashes or answers with something that is not legal. `play_over_grpc` does the same through
a server, a socket and the whole session. `FakeEngine` is that server: give it a script to try out lost streams and the like.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import grpc
import grpc.aio
from google.protobuf.any_pb2 import Any as Packed
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from hippodrome.bot._bot import Bot
from hippodrome.bot._player import Player
from hippodrome.bot._session import Options, connect
from hippodrome.v1.bot_service_pb2 import CreateBotSessionRequest, CreateBotSessionResponse
from hippodrome.v1.bot_service_pb2_grpc import BotServiceServicer, add_BotServiceServicer_to_server
from hippodrome.v1.errors_pb2 import ErrorInfo, ErrorStatus
from hippodrome.v1.match_pb2 import SeatInfo, TimeControl
from hippodrome.v1.play_service_pb2 import (
    Answer,
    BotEvent,
    Decision,
    EngineEvent,
    Hello,
    MatchEnded,
    MatchStarted,
    PlayRequest,
    PlayResponse,
    Welcome,
)
from hippodrome.v1.play_service_pb2_grpc import PlayServiceServicer, add_PlayServiceServicer_to_server
from hippodrome.v1.view_pb2 import View

MATCH: Final = "matches/test"
_PATIENCE: Final = 60.0
_SERVER: Final = (("grpc.so_reuseport", 0), ("grpc.http2.min_ping_interval_without_data_ms", 300))


@dataclass(frozen=True)
class Ask:
    """One decision to put to a bot: what is legal, what the seat sees (a message of a game or None), seconds it may take."""

    legal: Sequence[str]
    view: Message | None = None
    limit: float = 10.0


def play(
    kind: type[Bot], asks: Iterable[Ask], *, ruleset: str = "antiquity-2p", seat: int = 0, seed: str = "test"
) -> list[list[str]]:
    """The moves that the bot gives to each ask, in one match, without a network. Raises BotError."""
    return asyncio.run(_play(kind, list(asks), ruleset, seat, seed))


def play_over_grpc(
    kind: type[Bot], asks: Iterable[Ask], *, ruleset: str = "antiquity-2p", seat: int = 0, seed: str = "test"
) -> list[list[str]]:
    """As `play`, but through a real server and a real session. Raises BotError."""

    async def run() -> list[list[str]]:
        script = scripted(list(asks), ruleset=ruleset, seat=seat, seed=seed)
        async with FakeEngine(script) as engine:
            await connect(kind, replace(engine.options(), matches=1))
            return engine.moves(MATCH)

    return asyncio.run(run())


async def _play(kind: type[Bot], asks: list[Ask], ruleset: str, seat: int, seed: str) -> list[list[str]]:
    late: asyncio.Queue[BotEvent | None] = asyncio.Queue()
    player = Player(kind, send=late.put_nowait, stop=lambda: late.put_nowait(None))
    moves: list[list[str]] = []
    player.take(frame(started(ruleset=ruleset, seat=seat, seed=seed)))
    for number, ask in enumerate(asks, 1):
        answers = player.take(frame(decision(number, ask))) if player.failure is None else []
        answer = answers[0] if answers else await late.get() if player.failure is None else None
        if player.failure is not None:
            raise player.failure
        assert answer is not None
        moves.append(list(answer.answer.moves))
    player.take(frame(ended()))
    if player.failure is not None:
        raise player.failure
    return moves


def frame(*events: EngineEvent) -> PlayResponse:
    """A frame of the engine."""
    return PlayResponse(events=events)


def started(match: str = MATCH, *, ruleset: str = "antiquity-2p", seat: int = 0, seed: str = "test") -> EngineEvent:
    """The event that begins a match; the bot under test is called `me`, the others `other`."""
    players = int(ruleset.partition(".")[0].rpartition("-")[2].rstrip("p") or 2)
    seats = [SeatInfo(bot="me" if place == seat else "other") for place in range(players)]
    clock = TimeControl(bank=Duration(seconds=60), increment=Duration(), startup=Duration(seconds=10))
    return EngineEvent(
        match_started=MatchStarted(match=match, ruleset=ruleset, seat=seat, seats=seats, clock=clock, bot_seed=seed)
    )


def decision(number: int, ask: Ask, match: str = MATCH) -> EngineEvent:
    """The event that puts `ask` to the bot."""
    span = Duration(nanos=0)
    span.FromMilliseconds(round(ask.limit * 1000))
    view = View(**{_member(ask.view): cast(Any, ask.view)}) if ask.view is not None else None
    asked = Decision(match=match, number=number, legal_moves=ask.legal, view=view, bank=span, limit=span)
    return EngineEvent(decision=asked)


def ended(match: str = MATCH, *, ending: str = "rules", places: Sequence[int] = (1, 2)) -> EngineEvent:
    """The event that ends a match."""
    return EngineEvent(match_ended=MatchEnded(match=match, ending=ending, reason="the script is over", places=places))


def _member(view: Message) -> str:
    for member in View.DESCRIPTOR.fields:
        if member.message_type is view.DESCRIPTOR:
            return member.name
    raise ValueError(f"view: {view.DESCRIPTOR.full_name} is of no game; fix: give the view message of a game")


class BotGone(Exception):
    """The bot closed its side while the script waited for an answer. The stream of the script then ends."""


class FakeStream:
    """One stream of a bot, seen by a script."""

    def __init__(self, number: int, requests: AsyncIterator[PlayRequest], context: Any, answers: list[Answer]) -> None:
        self.number = number
        """Streams are counted from 1."""
        self._requests, self._context, self._answers = requests, context, answers
        self._ready: list[BotEvent] = []

    async def receive(self) -> BotEvent | None:
        """The next event of the bot, None when it has closed its side."""
        while not self._ready:
            request = await anext(self._requests, None)
            if request is None:
                return None
            self._ready += request.events
        event = self._ready.pop(0)
        if event.HasField("answer"):
            self._answers.append(event.answer)
        return event

    async def open(self, *, token: str = "session-1", resumed: bool = False, node: str = "fake") -> Hello:
        """Read the hello and say welcome."""
        event = await self.receive()
        assert event is not None
        assert event.HasField("hello"), f"the first event was {event}"
        welcome = Welcome(session_token=token, protocol_version=1, node=node, bot_version="bots/me/versions/1", resumed=resumed)
        await self.send(EngineEvent(welcome=welcome))
        return event.hello

    async def send(self, *events: EngineEvent) -> None:
        """Send one frame."""
        await self._context.write(frame(*events))

    async def answer(self) -> Answer:
        """The next answer; other events are passed over. Raises BotGone when the bot has closed its side."""
        while (event := await self.receive()) is not None:
            if event.HasField("answer"):
                return event.answer
        raise BotGone

    async def goodbye(self) -> list[BotEvent]:
        """Read until the bot says goodbye or closes its side; what came before. A script that ends then ends the stream."""
        events: list[BotEvent] = []
        while (event := await self.receive()) is not None and not event.HasField("goodbye"):
            events.append(event)
        return events

    async def abort(self, code: grpc.StatusCode, message: str, reason: str = "") -> None:
        """End the stream with an error; `reason` goes along as google.rpc.ErrorInfo."""
        await self._context.abort(code, message, _details(code, message, reason))


Script = Callable[[FakeStream], Awaitable[None]]


def scripted(asks: Sequence[Ask], *, ruleset: str = "antiquity-2p", seat: int = 0, seed: str = "test") -> Script:
    """The plain script: one match with these asks, then the end."""

    async def script(stream: FakeStream) -> None:
        await stream.open()
        await stream.send(started(ruleset=ruleset, seat=seat, seed=seed))
        for number, ask in enumerate(asks, 1):
            await stream.send(decision(number, ask))
            await stream.answer()
        await stream.send(ended())
        await stream.goodbye()

    return script


@dataclass
class FakeEngine:
    """A server on a free loopback port that plays `script` on every stream: `async with FakeEngine(script) as engine`.

    It serves BotService.CreateBotSession too, which gives its own address, or what `elsewhere` says.
    """

    script: Script
    elsewhere: Callable[[CreateBotSessionRequest], CreateBotSessionResponse] | None = None
    address: str = ""
    streams: int = 0
    answers: list[Answer] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Bot and authorization of each CreateBotSession."""

    async def __aenter__(self) -> FakeEngine:
        self._server = grpc.aio.server(options=_SERVER)
        add_PlayServiceServicer_to_server(_Play(self), self._server)
        add_BotServiceServicer_to_server(_Bots(self), self._server)  # type: ignore[abstract]  # the other calls: unimplemented
        port = self._server.add_insecure_port(self.address or "127.0.0.1:0")
        self.address = self.address or f"127.0.0.1:{port}"
        await self._server.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._server.stop(0)

    def options(self) -> Options:
        """Options that lead a bot straight here."""
        return Options(address=self.address, ticket="ticket")

    def moves(self, match: str) -> list[list[str]]:
        """The moves of each answer in `match`, in order of arrival."""
        return [list(answer.moves) for answer in self.answers if answer.match == match]


class _Play(PlayServiceServicer):
    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine

    async def Play(self, request_iterator: Any, context: Any) -> None:  # type: ignore[override]
        engine = self._engine
        engine.streams += 1
        stream = FakeStream(engine.streams, aiter(request_iterator), context, engine.answers)
        with contextlib.suppress(asyncio.CancelledError, BotGone):
            async with asyncio.timeout(_PATIENCE):
                await engine.script(stream)


class _Bots(BotServiceServicer):
    def __init__(self, engine: FakeEngine) -> None:
        self._engine = engine

    async def CreateBotSession(self, request: CreateBotSessionRequest, context: Any) -> CreateBotSessionResponse:
        engine = self._engine
        authorization = dict(context.invocation_metadata()).get("authorization", "")
        engine.asked.append((request.bot, authorization))
        if engine.elsewhere is not None:
            return engine.elsewhere(request)
        return CreateBotSessionResponse(address=engine.address, ticket="ticket", bot_version=f"bots/{request.bot}/versions/1")


def _details(code: grpc.StatusCode, message: str, reason: str) -> tuple[tuple[str, bytes], ...]:
    if not reason:
        return ()
    info = ErrorInfo(reason=reason, domain="hippodrome", metadata={"reason": reason})
    packed = Packed(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=info.SerializeToString())
    status = ErrorStatus(code=code.value[0], message=message, details=[packed])
    return (("grpc-status-details-bin", status.SerializeToString()),)
