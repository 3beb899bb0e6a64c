"""The SDK at a real node, over a line that is cut again and again."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator
from dataclasses import replace

from hippodrome.bot import Bot, MatchInfo, Options, Turn, bot
from hippodrome.bot._session import Session
from hippodrome.engine import tickets
from hippodrome.engine.clock import TimeControl
from hippodrome.engine.record import Record
from hippodrome.engine.referee import MatchSpec, Policy, SeatSpec
from hippodrome.engine.tickets import Ticket
from hippodrome.engine.verify import verify
from hippodrome.games.registry import get_game
from hippodrome.service.config import NodeConfig
from hippodrome.service.node import Node, serve

GAME = get_game("antiquity")
SECRET = secrets.token_bytes(32)


@bot
def steady(turn: Turn) -> str:
    return turn.rng.choice(turn.legal)


class Line:
    """A line to a node that can be cut: a TCP relay on a loopback port."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._open: set[asyncio.StreamWriter] = set()
        self.connections = 0

    async def start(self) -> str:
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        for writer in self._open:
            writer.transport.abort()

    async def stop(self) -> None:
        self._server.close()
        self.cut()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        host, _, port = self._target.rpartition(":")
        there_reader, there_writer = await asyncio.open_connection(host, int(port))
        pair = {writer, there_writer}
        self._open |= pair
        await asyncio.gather(_pump(reader, there_writer), _pump(there_reader, writer))
        self._open -= pair


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


@contextlib.asynccontextmanager
async def node_and_line() -> AsyncIterator[tuple[Node, Line, str]]:
    node = await serve(NodeConfig(secret=SECRET, seat_wait=60.0))
    line = Line(node.address)
    try:
        yield node, line, await line.start()
    finally:
        await line.stop()
        await node.close("the test is over")


def options(address: str, name: str) -> Options:
    ticket = tickets.issue(SECRET, Ticket(name, f"bots/{name}/versions/1", int(time.time()) + 3600))
    return Options(address=address, ticket=ticket)


def spec(number: int) -> MatchSpec:
    seats = tuple(SeatSpec(name, f"bots/{name}/versions/1") for name in ("shaky", "steady"))
    clock = TimeControl.parse("120s+1s@30s")
    return MatchSpec(f"matches/{number}", GAME.ruleset(2), seats, clock, Policy(), bytes([number]) * 32)


async def test_matches_go_on_over_a_line_that_is_cut_again_and_again() -> None:
    class Shaky(Bot):
        max_matches = 4
        made = 0

        def start(self, match: MatchInfo) -> None:
            Shaky.made += 1

        async def move(self, turn: Turn) -> str:
            await asyncio.sleep(0.002)
            return turn.rng.choice(turn.legal)

    async with node_and_line() as (node, line, address):
        shaky, calm = Session(Shaky, options(address, "shaky")), Session(steady, options(node.address, "steady"))
        players = [asyncio.create_task(session.run()) for session in (shaky, calm)]
        matches = [asyncio.create_task(node.play(spec(number))) for number in range(4)]
        cuts = 0
        while not all(match.done() for match in matches):
            await asyncio.sleep(0.15)
            line.cut()
            cuts += 1
        records = [match.result() for match in matches]
        shaky.leave("done")
        calm.leave("done")
        await asyncio.wait_for(asyncio.gather(*players), 60)
    assert cuts >= 2
    assert shaky.reconnects >= 2
    for record in records:
        assert isinstance(record, Record)
        assert (record.closing["end"], record.closing["faults"]) == ("rules", [])
        verify(record, GAME)
    assert Shaky.made == 4


async def test_the_same_seed_gives_the_same_match_over_any_line() -> None:
    async def moves(cut: bool) -> list[str]:
        async with node_and_line() as (node, line, address):
            sessions = [Session(steady, options(address, name)) for name in ("shaky", "steady")]
            players = [asyncio.create_task(session.run()) for session in sessions]
            match = asyncio.create_task(node.play(spec(1)))
            while not match.done():
                await asyncio.sleep(0.1)
                if cut:
                    line.cut()
            for session in sessions:
                session.leave("done")
            await asyncio.wait_for(asyncio.gather(*players), 60)
            record = match.result()
            assert isinstance(record, Record)
            return [line["move"] for line in record.moves]

    assert await moves(cut=True) == await moves(cut=False)


async def test_a_node_that_closes_tells_its_bots_and_they_end_in_good_order() -> None:
    async with node_and_line() as (node, _, address):
        session = Session(steady, replace(options(address, "steady")))
        running = asyncio.create_task(session.run())
        while session.player.welcome is None:
            await asyncio.sleep(0.01)
        await node.close("update")
        summary = await asyncio.wait_for(running, 60)
    assert summary.endings == {}
