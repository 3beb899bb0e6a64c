"""A bare grpc.aio echo: the least that a round trip can cost.

`python bench/echo.py server` or `python bench/echo.py client PORT STREAMS ASK ANSWER SECONDS`.

The client sends ASK bytes, the server replies ANSWER bytes, one round trip after another on each stream. Both processes use
uvloop and pass bytes: no message is built or read.
"""

from __future__ import annotations

import asyncio
import sys
import time

import grpc
import uvloop


async def serve() -> None:
    """Print the port, serve until killed. The first message of a stream says how long the replies are."""
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])

    async def play(_requests: object, context: grpc.aio.ServicerContext[bytes, bytes]) -> None:
        reply = b"x" * int(await context.read())
        while await context.read() is not grpc.aio.EOF:
            await context.write(reply)

    handlers = {"Play": grpc.stream_stream_rpc_method_handler(play)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("echo.Echo", handlers),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    await server.start()
    await server.wait_for_termination()


async def ask(port: int, streams: int, ask_bytes: int, answer_bytes: int, seconds: float) -> float:
    """Round trips a second; the CPU seconds of this process are printed beside them."""
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        began = time.monotonic()
        counts = [_one(channel, ask_bytes, answer_bytes, began + seconds) for _ in range(streams)]
        total = sum(await asyncio.gather(*counts))
        return total / (time.monotonic() - began)


async def _one(channel: grpc.aio.Channel, ask_bytes: int, answer_bytes: int, until: float) -> int:
    call = channel.stream_stream("/echo.Echo/Play")()
    await call.write(str(answer_bytes).encode())
    message, count = b"x" * ask_bytes, 0
    while time.monotonic() < until:
        await call.write(message)
        await call.read()
        count += 1
    call.cancel()
    return count


if __name__ == "__main__":
    if sys.argv[1] == "server":
        uvloop.run(serve())
    else:
        port, streams, ask_bytes, answer_bytes = map(int, sys.argv[2:6])
        print(uvloop.run(ask(port, streams, ask_bytes, answer_bytes, float(sys.argv[6]))), time.process_time())
