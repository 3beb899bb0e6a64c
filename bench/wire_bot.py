"""One bot process that plays both seats at random on two sessions: `python bench/wire_bot.py ADDRESS MATCHES TICKET TICKET`.

For each line on its standard input it prints how many moves it has made.
"""

from __future__ import annotations

import asyncio
import sys

import grpc
import uvloop
from echo import answers

from hippodrome.v1 import play_service_pb2 as v1
from hippodrome.v1.play_service_pb2_grpc import PlayServiceStub

moves = 0


async def play(channel: grpc.aio.Channel, ticket: str, matches: int) -> None:
    """One session, until the node ends it."""
    global moves
    call = PlayServiceStub(channel).Play()
    hello = v1.Hello(ticket=ticket, protocol_version=1, max_matches=matches)
    await call.write(v1.PlayRequest(events=[v1.BotEvent(hello=hello)]))
    while (frame := await call.read()) is not grpc.aio.EOF:
        said = answers(frame)
        moves += len(said.events)
        if said.events:
            await call.write(said)


def tell() -> None:
    """Answer a question for the number of moves."""
    if sys.stdin.readline():
        print(moves, flush=True)


async def main(address: str, matches: int, tickets: list[str]) -> None:
    """Both sessions on one channel."""
    asyncio.get_running_loop().add_reader(sys.stdin, tell)
    async with grpc.aio.insecure_channel(address) as channel:
        await asyncio.gather(*(play(channel, ticket, matches) for ticket in tickets))


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
