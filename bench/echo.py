"""Two bare grpc.aio echoes: what a round trip costs at least.

`python bench/echo.py server FRAME` or `python bench/echo.py client KIND PORT STREAMS ANSWER SECONDS`. FRAME and ANSWER are
files: a frame of a node with one decision, and a frame of a bot with one answer.

The client sends the answer, the server replies with the frame, one round trip after another on each stream, on uvloop. KIND
`bytes`: both are passed as they are, nobody looks into them. KIND `messages`: both are built and read with the generated
code, as every service has to; the server still decides nothing and sends the same message again and again.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import uvloop

from hippodrome.v1 import play_service_pb2 as v1
from hippodrome.v1.play_service_pb2_grpc import PlayServiceServicer, PlayServiceStub, add_PlayServiceServicer_to_server

_choice = random.Random(1).choice


class Messages(PlayServiceServicer):
    """The echo of messages, a play service that plays nothing."""

    def __init__(self, frame: bytes) -> None:
        self._reply = v1.PlayResponse.FromString(frame)

    async def Play(  # type: ignore[override]
        self, _requests: object, context: grpc.aio.ServicerContext[Any, Any]
    ) -> None:
        while (request := await context.read()) is not grpc.aio.EOF:
            for event in request.events:
                if event.WhichOneof("event") != "answer" or not event.answer.moves[0]:
                    raise ValueError("no answer")
            await context.write(self._reply)


async def serve(frame: bytes) -> None:
    """Print the port, serve until killed."""
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])

    async def play(_requests: object, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        while await context.read() is not grpc.aio.EOF:
            await context.write(frame)

    handlers: Any = {"Play": grpc.stream_stream_rpc_method_handler(play)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("echo.Bytes", handlers),))
    add_PlayServiceServicer_to_server(Messages(frame), server)
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    await server.start()
    await server.wait_for_termination()


def answers(frame: v1.PlayResponse) -> v1.PlayRequest:
    """A random answer to each decision of a frame."""
    said = v1.PlayRequest()
    for event in frame.events:
        if event.HasField("decision"):
            asked = event.decision
            answer = said.events.add().answer
            answer.match, answer.decision = asked.match, asked.number
            answer.moves.append(_choice(asked.legal_moves))
    return said


async def ask(kind: str, port: int, streams: int, answer: bytes, seconds: float) -> float:
    """Round trips a second."""
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        began = time.monotonic()
        counts = [_one(*_client(kind, channel, answer), began + seconds) for _ in range(streams)]
        total = sum(await asyncio.gather(*counts))
        return total / (time.monotonic() - began)


def _client(kind: str, channel: grpc.aio.Channel, answer: bytes) -> tuple[Any, Any, Callable[[Any], Any]]:
    """A call, the first thing to say, and what to say to a reply."""
    if kind == "messages":
        return PlayServiceStub(channel).Play(), v1.PlayRequest.FromString(answer), answers
    return channel.stream_stream("/echo.Bytes/Play")(), answer, lambda _reply: answer


async def _one(call: Any, said: Any, respond: Callable[[Any], Any], until: float) -> int:
    count = 0
    while time.monotonic() < until:
        await call.write(said)
        said = respond(await call.read())
        count += 1
    call.cancel()
    return count


if __name__ == "__main__":
    if sys.argv[1] == "server":
        uvloop.run(serve(Path(sys.argv[2]).read_bytes()))
    else:
        kind, port, streams, answer, seconds = sys.argv[2:]
        rate = uvloop.run(ask(kind, int(port), int(streams), Path(answer).read_bytes(), float(seconds)))
        print(rate, time.process_time())
