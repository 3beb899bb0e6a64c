"""The SDK follows invitations: real nodes, one bot at each."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from hippodrome.bot import Bot, BotError, Options, Turn, bot
from hippodrome.bot import _guests as guests
from hippodrome.bot._session import Session, Summary
from hippodrome.engine import tickets
from hippodrome.engine.clock import TimeControl
from hippodrome.engine.reasons import Refusal
from hippodrome.engine.record import Record
from hippodrome.engine.referee import MatchSpec, Policy, SeatSpec
from hippodrome.engine.tickets import Ticket
from hippodrome.engine.verify import verify
from hippodrome.games.registry import get_game
from hippodrome.service.config import NodeConfig
from hippodrome.service.node import Node, serve

GAME = get_game("antiquity")
SECRET = secrets.token_bytes(32)


@bot(max_matches=2)
def steady(turn: Turn) -> str:
    return turn.rng.choice(turn.legal)


def version(name: str) -> str:
    return f"bots/{name}/versions/1"


@dataclass
class Pair:
    """Two nodes, and sessions of bots at them."""

    home: Node
    other: Node
    sessions: list[Session] = field(default_factory=list)
    running: list[asyncio.Task[Summary]] = field(default_factory=list)
    matches: int = 0

    async def connect(self, name: str, node: Node, kind: type[Bot] = steady, **more: Any) -> Session:
        ticket = tickets.issue(SECRET, Ticket(name, version(name), int(time.time()) + 3600))
        session = Session(kind, replace(Options(address=node.address, ticket=ticket), **more))
        self.sessions.append(session)
        self.running.append(asyncio.create_task(session.run()))
        await until(lambda: node.lobby.connected(version(name)))
        return session

    def play(self, node: Node) -> asyncio.Task[Any]:
        self.matches += 1
        seats = tuple(SeatSpec(name, version(name)) for name in ("ann", "ben"))
        clock, seed = TimeControl.parse("120s+1s"), bytes([self.matches]) * 32
        spec = MatchSpec(f"matches/{self.matches}", GAME.ruleset(2), seats, clock, Policy(), seed)
        return asyncio.create_task(node.play(spec))

    def places(self) -> int:
        """Ann's free places at home."""
        return sum(s.free for s in self.home.lobby.sessions.values() if s.version == version("ann"))


async def until(true: Callable[[], Any]) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.01)


def well(record: Any) -> None:
    assert isinstance(record, Record), record
    assert (record.closing["end"], record.closing["faults"]) == ("rules", [])
    verify(record, GAME)


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    nodes = [await serve(NodeConfig(secret=SECRET, seat_wait=60.0, name=name)) for name in ("home", "other")]
    made = Pair(*nodes)
    yield made
    for session in made.sessions:
        session.leave("the test is over")
    await asyncio.wait_for(asyncio.gather(*made.running, return_exceptions=True), 60)
    for node in nodes:
        await node.close("the test is over")


async def test_a_bot_plays_where_it_is_invited_and_comes_back_when_idle(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guests, "IDLE", 600.0)
    ann, _ = await pair.connect("ann", pair.home), await pair.connect("ben", pair.other)
    first = pair.play(pair.other)
    assert pair.home.lobby.invite(version("ann"), "matches/1", pair.other.address)
    assert pair.places() == 1
    well(await asyncio.wait_for(first, 60))
    well(await asyncio.wait_for(pair.play(pair.other), 60))
    assert pair.home.lobby.connected(version("ann")), "the session at home stays"
    monkeypatch.setattr(guests, "IDLE", 0.1)
    await until(lambda: not pair.other.lobby.connected(version("ann")))
    await until(lambda: pair.places() == 2)
    ann.leave("done")
    assert (await asyncio.wait_for(pair.running[0], 60)).endings == {"rules": 2}


async def test_a_bot_that_leaves_plays_its_matches_elsewhere_to_their_end(pair: Pair) -> None:
    hold = asyncio.Event()

    class Held(Bot):
        async def move(self, turn: Turn) -> str:
            await hold.wait()
            return turn.legal[0]

    ann, _ = await pair.connect("ann", pair.home, Held), await pair.connect("ben", pair.other)
    match = pair.play(pair.other)
    pair.home.lobby.invite(version("ann"), "matches/1", pair.other.address)
    await until(lambda: pair.other.matches)
    ann.leave("enough")
    await until(lambda: not pair.home.lobby.connected(version("ann")))
    hold.set()
    well(await asyncio.wait_for(match, 60))
    assert (await asyncio.wait_for(pair.running[0], 60)).endings == {"rules": 1}


async def test_matches_elsewhere_count_towards_those_it_was_asked_to_play(pair: Pair) -> None:
    await pair.connect("ann", pair.home, matches=1)
    await pair.connect("ben", pair.other)
    match = pair.play(pair.other)
    pair.home.lobby.invite(version("ann"), "matches/1", pair.other.address)
    well(await asyncio.wait_for(match, 60))
    assert (await asyncio.wait_for(pair.running[0], 60)).endings == {"rules": 1}


async def test_an_invitation_to_nowhere_gives_its_place_back(pair: Pair) -> None:
    await pair.connect("ann", pair.home, patience=timedelta(seconds=0.5))
    await pair.connect("ben", pair.home)
    pair.home.lobby.invite(version("ann"), "matches/9", "127.0.0.1:1")
    assert pair.places() == 1
    await until(lambda: pair.places() == 2)
    well(await asyncio.wait_for(pair.play(pair.home), 60))


async def test_a_bot_that_fails_elsewhere_fails_as_it_would_at_home(pair: Pair) -> None:
    @bot
    def broken(turn: Turn) -> str:
        raise RuntimeError("no idea")

    await pair.connect("ann", pair.home, broken)
    await pair.connect("ben", pair.other)
    match = pair.play(pair.other)
    pair.home.lobby.invite(version("ann"), "matches/1", pair.other.address)
    with pytest.raises(BotError, match="no idea"):
        await asyncio.wait_for(pair.running[0], 60)
    match.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await match


async def test_places_taken_elsewhere_are_told_when_the_line_to_the_home_node_breaks(pair: Pair) -> None:
    hold = asyncio.Event()

    class Held(Bot):
        max_matches = 2

        async def move(self, turn: Turn) -> str:
            await hold.wait()
            return turn.legal[0]

    await pair.connect("ann", pair.home, Held)
    await pair.connect("ben", pair.other)
    match = pair.play(pair.other)
    pair.home.lobby.invite(version("ann"), "matches/1", pair.other.address)
    await until(lambda: pair.other.matches)
    [session] = [s for s in pair.home.lobby.sessions.values() if s.version == version("ann")]
    session.lent = 0
    assert session.stream is not None
    broken = session.stream
    broken.close(Refusal("NODE_CLOSING", "the line broke"))
    await until(lambda: session.stream not in (None, broken))
    assert pair.places() == 1
    hold.set()
    well(await asyncio.wait_for(match, 60))
