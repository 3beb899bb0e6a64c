"""One bot process that plays both seats at random on two sessions: `python bench/wire_bot.py ADDRESS MATCHES TICKET TICKET`.

For each line on its standard input it prints how many moves it has made.
"""

from __future__ import annotations

import asyncio
import random
import sys

import grpc
import uvloop

from hippodrome.v1 import play_service_pb2 as v1
from hippodrome.v1.play_service_pb2_grpc import PlayServiceStub

moves = 0


async def play(channel: grpc.aio.Channel, ticket: str, matches: int, seed: int) -> None:
    """One session, until the node ends it."""
    global moves
    choice = random.Random(seed).choice
    call = PlayServiceStub(channel).Play()
    hello = v1.Hello(ticket=ticket, protocol_version=1, max_matches=matches)
    await call.write(v1.PlayRequest(events=[v1.BotEvent(hello=hello)]))
    while (frame := await call.read()) is not grpc.aio.EOF:
        answers = v1.PlayRequest()
        for event in frame.events:
            if event.HasField("decision"):
                asked = event.decision
                answer = answers.events.add().answer
                answer.match, answer.decision = asked.match, asked.number
                answer.moves.append(choice(asked.legal_moves))
        moves += len(answers.events)
        if answers.events:
            await call.write(answers)


def tell() -> None:
    """Answer a question for the number of moves."""
    if sys.stdin.readline():
        print(moves, flush=True)


async def main(address: str, matches: int, tickets: list[str]) -> None:
    """Both sessions on one channel."""
    asyncio.get_running_loop().add_reader(sys.stdin, tell)
    async with grpc.aio.insecure_channel(address) as channel:
        await asyncio.gather(*(play(channel, ticket, matches, seed) for seed, ticket in enumerate(tickets)))


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
