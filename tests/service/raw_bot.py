"""A bot on the generated stubs alone. As a program, `raw_bot.py ADDRESS TICKET`, it plays random moves until it is ended."""

from __future__ import annotations

import asyncio
import os
import random
import sys
from collections.abc import Callable
from typing import Any

import grpc

from hippodrome.v1 import errors_pb2
from hippodrome.v1 import play_service_pb2 as v1
from hippodrome.v1.play_service_pb2_grpc import PlayServiceStub

Moves = list[str] | None


class RawBot:
    """Answers each decision with what `choose` gives; None keeps silent. Everything it was told is in `events`."""

    def __init__(self, address: str, ticket: str, max_matches: int = 8, seed: int = 1) -> None:
        self.address, self.ticket, self.max_matches = address, ticket, max_matches
        self.rng = random.Random(seed)
        self.choose: Callable[[v1.Decision], Moves] = self.random_move
        self.events: list[v1.EngineEvent] = []
        self.frames = 0
        self.token = ""
        self.error: grpc.aio.AioRpcError | None = None
        self.ended = False
        self._news, self._writing = asyncio.Condition(), asyncio.Lock()

    def random_move(self, decision: v1.Decision) -> Moves:
        return [self.rng.choice(decision.legal_moves)]

    async def connect(self, token: str = "", **hello: Any) -> RawBot:
        """Open a stream and wait for welcome, or for the error in `error`."""
        self.error, self.ended, told = None, False, len(self.of("welcome"))
        self.channel = grpc.aio.insecure_channel(self.address, [("grpc.use_local_subchannel_pool", 1)])
        self.call = PlayServiceStub(self.channel).Play()
        said = {"ticket": self.ticket, "protocol_version": 1, "max_matches": self.max_matches, "session_token": token} | hello
        self.reader = asyncio.create_task(self._read())
        await self.send(v1.BotEvent(hello=v1.Hello(**said)))
        await self.until(lambda: self.ended or len(self.of("welcome")) > told)
        return self

    async def open_raw(self) -> RawBot:
        """A stream on which nothing was said."""
        self.channel = grpc.aio.insecure_channel(self.address, [("grpc.use_local_subchannel_pool", 1)])
        self.call = PlayServiceStub(self.channel).Play()
        self.reader = asyncio.create_task(self._read())
        return self

    async def resume(self) -> RawBot:
        return await self.connect(self.of("welcome")[-1].session_token)

    def of(self, kind: str) -> list[Any]:
        """All events of a kind so far."""
        return [getattr(event, kind) for event in self.events if event.WhichOneof("event") == kind]

    async def send(self, *events: v1.BotEvent) -> None:
        try:
            async with self._writing:
                await self.call.write(v1.PlayRequest(events=events))
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            pass  # the reader has the reason

    async def answer(self, match: str, number: int, *moves: str) -> None:
        await self.send(answer(match, number, *moves))

    async def until(self, true: Callable[[], Any], seconds: float = 60) -> None:
        """Wait until something holds of what was told."""
        async with asyncio.timeout(seconds), self._news:
            await self._news.wait_for(true)

    async def until_told(self, kind: str, count: int = 1) -> Any:
        await self.until(lambda: len(self.of(kind)) >= count)
        return self.of(kind)[count - 1]

    async def break_off(self) -> None:
        """The connection breaks: no goodbye."""
        self.call.cancel()
        await asyncio.gather(self.reader, return_exceptions=True)
        await self.channel.close()

    async def _read(self) -> None:
        try:
            while (frame := await self.call.read()) is not grpc.aio.EOF:
                await self._hear(frame)
            if await self.call.code() is not grpc.StatusCode.OK:
                self.error = await self._status()
        except grpc.aio.AioRpcError as error:
            self.error = error
        except asyncio.CancelledError:
            pass
        finally:
            self.ended = True
            async with self._news:
                self._news.notify_all()

    async def _status(self) -> grpc.aio.AioRpcError:
        call = self.call
        return grpc.aio.AioRpcError(
            await call.code(), await call.initial_metadata(), await call.trailing_metadata(), details=await call.details()
        )

    async def _hear(self, frame: v1.PlayResponse) -> None:
        self.frames += 1
        self.events += frame.events
        out = []
        for event in frame.events:
            if event.WhichOneof("event") == "decision":
                moves = self.choose(event.decision)
                if moves is not None:
                    out.append(answer(event.decision.match, event.decision.number, *moves))
        if out:
            await self.send(*out)
        async with self._news:
            self._news.notify_all()


async def error_of(call: Any) -> grpc.aio.AioRpcError:
    """Read a call of bytes until it ends with an error."""
    try:
        while await call.read() is not grpc.aio.EOF:
            pass
    except grpc.aio.AioRpcError as error:
        return error
    raise AssertionError("the call ended without an error")


def answer(match: str, number: int, *moves: str) -> v1.BotEvent:
    return v1.BotEvent(answer=v1.Answer(match=match, decision=number, moves=moves))


def reason(error: grpc.aio.AioRpcError | None) -> errors_pb2.ErrorInfo:
    """The ErrorInfo in the trailer of an error, read without any package but ours."""
    assert error is not None
    trailer = dict(error.trailing_metadata())["grpc-status-details-bin"]
    status = errors_pb2.ErrorStatus.FromString(trailer)
    assert status.code == error.code().value[0]
    assert status.message == error.details()
    assert status.details[0].type_url == "type.googleapis.com/google.rpc.ErrorInfo"
    return errors_pb2.ErrorInfo.FromString(status.details[0].value)


async def _main(address: str, ticket: str) -> None:
    bot = await RawBot(address, ticket, seed=os.getpid()).connect()
    await bot.until(lambda: bot.ended, 3600)


if __name__ == "__main__":
    asyncio.run(_main(*(sys.argv[1:] or [os.environ["HIPPODROME_ADDRESS"], os.environ["HIPPODROME_TICKET"]])))
