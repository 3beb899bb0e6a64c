"""PlayService: one coroutine that reads a stream, one that writes it. Bytes in, bytes out: messages are made in `convert`."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError

from hippodrome.engine.reasons import Refusal
from hippodrome.service import convert
from hippodrome.service.config import NodeConfig
from hippodrome.service.lobby import Lobby
from hippodrome.service.session import OPENING, Session, Stream, step
from hippodrome.v1 import play_service_pb2 as play_v1

log = logging.getLogger(__name__)
Context = grpc.aio.ServicerContext[Any, bytes]
_LOCAL: Final = ("ipv4:127.", "ipv6:%5B::1%5D", "ipv6:[::1]", "unix:")


async def refuse(context: grpc.aio.ServicerContext[Any, Any], refusal: Refusal) -> None:
    """End a call with the code, the message and the google.rpc details of a refusal."""
    details = (("grpc-status-details-bin", convert.status_details(refusal)),)
    await context.abort(grpc.StatusCode[refusal.code], refusal.message, details)


class PlayStreams:
    """The servicer. `closing` refuses new sessions."""

    def __init__(self, config: NodeConfig, lobby: Lobby) -> None:
        self._config, self._lobby = config, lobby
        self.closing = False

    def handler(self) -> grpc.GenericRpcHandler:
        """The service for a server, without (de)serializers."""
        play: Any = grpc.stream_stream_rpc_method_handler(self.play)
        return grpc.method_handlers_generic_handler("hippodrome.v1.PlayService", {"Play": play})

    async def play(self, _requests: AsyncIterator[bytes], context: Context) -> None:
        """One stream from hello to its end."""
        try:
            session, stream, rest = await self._open(context)
        except Refusal as refusal:
            await refuse(context, refusal)
            return
        refusal_or_none = await self._run(session, stream, rest, context)
        if refusal_or_none is not None:
            await refuse(context, refusal_or_none)

    async def _open(self, context: Context) -> tuple[Session, Stream, list[play_v1.BotEvent]]:
        """Read hello, find or open the session, put welcome into its outbox; with the events that came behind hello."""
        if self.closing:
            raise Refusal("NODE_CLOSING", "the node closes; fix: connect elsewhere")
        try:
            raw = await asyncio.wait_for(context.read(), self._config.hello_wait)
        except TimeoutError:
            text = f"no event within {self._config.hello_wait:g} s; fix: send hello first"
            raise Refusal("HELLO_EXPECTED", text, event="nothing", state=OPENING) from None
        events = [] if raw is grpc.aio.EOF else _parse(raw)
        step(OPENING, _kind(events[0]) if events else "nothing")
        hello = events[0].hello
        if hello.protocol_version != convert.PROTOCOL:
            text = f"protocol_version: {hello.protocol_version} is not spoken here; fix: use {convert.PROTOCOL}"
            raise Refusal("PROTOCOL_UNSUPPORTED", text, protocol_version=str(hello.protocol_version))
        loopback = context.peer().startswith(_LOCAL)
        session, resumed = self._lobby.open(hello.ticket, hello.session_token, hello.max_matches, loopback=loopback)
        session.follows, session.lent = hello.follows_invitations, hello.elsewhere
        stream = Stream()
        grace = self._config.grace
        session.attach(stream, convert.welcome(session.token, self._config.name, session.version, grace, resumed))
        log.info("session of %s: %s, sdk %s", session.version, "resumed" if resumed else "opened", hello.sdk[:60])
        return session, stream, events[1:]

    async def _run(self, session: Session, stream: Stream, rest: list[play_v1.BotEvent], context: Context) -> Refusal | None:
        """Read and write until one of them, or the node, ends the stream; the refusal to end it with."""
        reader = asyncio.create_task(self._read(session, rest, context))
        writer = asyncio.create_task(self._write(session, stream, context))
        try:
            self._lobby.seat_waiting()
            ends: tuple[asyncio.Future[Any], ...] = (reader, writer, stream.closing)
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            stream.close(reader.result() if reader.done() else None)
            refusal = stream.closing.result()
            if refusal is None:
                await asyncio.wait((writer,), timeout=self._config.closing_wait)
        except BaseException:
            writer.cancel()
            raise
        finally:
            reader.cancel()
            self._lobby.lost(session, stream)
            log.info("stream of %s ended: %s", session.version, session.counters)
        await writer  # a call cannot be given a status before its last write is done
        return refusal

    async def _read(self, session: Session, rest: list[play_v1.BotEvent], context: Context) -> Refusal | None:
        """Judge frames until the stream ends. A frame's events are all judged before the writer runs."""
        events = rest
        try:
            while True:
                self._judge(session, events)
                raw = await context.read()
                if raw is grpc.aio.EOF:
                    return None
                events = _parse(raw)
        except Refusal as refusal:
            return refusal

    def _judge(self, session: Session, events: list[play_v1.BotEvent]) -> None:
        now = time.monotonic_ns()
        session.counters.frames += 1
        for event in events:
            kind = _kind(event)
            if kind == "answer":
                _answer(session, event.answer, now)
            else:
                session.state = step(session.state, kind)
                session.lent -= kind == "returned" and session.lent > 0
                self._lobby.changed(session)
        session.ring()

    async def _write(self, session: Session, stream: Stream, context: Context) -> None:
        """Send what is ready when the bell rings, not what comes meanwhile; once the stream is to end, all that is left."""
        await stream.woken()
        while stream.may_write(session.stream):
            ready = session.take_outbox()
            while ready and stream.may_write(session.stream):
                stream.writing_since = now = time.monotonic_ns()
                await context.write(session.take_frame(ready, now))
                stream.writing_since = 0
            if stream.closing.done() and not session.outbox:
                return
            session.ring()
            await stream.woken()


def _answer(session: Session, answer: play_v1.Answer, now: int) -> None:
    session.counters.answers += 1
    place = session.places.get(answer.match)
    if place is not None and place.match.answer(place, answer.decision, list(answer.moves), now):
        session.unasked_in_a_row = 0
    else:
        session.note_unasked()


def _kind(event: play_v1.BotEvent) -> str:
    return event.WhichOneof("event") or "nothing"


def _parse(raw: bytes) -> list[play_v1.BotEvent]:
    """The events of a frame. Raises Refusal."""
    try:
        return list(play_v1.PlayRequest.FromString(raw).events)
    except DecodeError:
        raise Refusal("FRAME_INVALID", f"message of {len(raw)} bytes is no PlayRequest; fix: use the generated code") from None
