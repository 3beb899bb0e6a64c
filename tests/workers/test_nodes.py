"""Which engine node a worker asks: real nodes, a real bot at one of them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hippodrome.engine.clock import TimeControl
from hippodrome.engine.referee import MatchSpec, Policy, SeatSpec
from hippodrome.engine.tickets import Ticket, internal_key, issue
from hippodrome.games.registry import read_ruleset
from hippodrome.ladder.lifecycle import Claim
from hippodrome.workers.convert import Finished, Missing, NodeState, Progress
from hippodrome.workers.nodes import NodeError, Nodes
from hippodrome.workers.processes import end, python_module, start_tied, wait_until

SECRET = bytes(range(32))
BOT, RIVAL = "bots/random/versions/1", "bots/rival/versions/1"
BOTS = frozenset({BOT, RIVAL})
SPEC = MatchSpec(
    "matches/m1",
    read_ruleset("antiquity-2p"),
    (SeatSpec("random", BOT), SeatSpec("rival", RIVAL)),
    TimeControl.parse("60m+100ms"),
    Policy(),
    bytes(32),
)


CLAIM = Claim(SPEC, 1, (), seed_shared=False)


@dataclass
class Town:
    """Two engine nodes; both bots are connected to the second."""

    empty: str
    peopled: str
    processes: dict[str, subprocess.Popen[bytes]]

    def nodes(self, *addresses: str, secret: bytes = SECRET) -> Nodes:
        return Nodes(lambda: addresses, internal_key(secret))


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = tmp_path_factory.mktemp("town")
    (folder / "secret").write_text(SECRET.hex())
    started = {name: start_node(folder, name) for name in ("node-1", "node-2")}
    files = [folder / f"{name}.address" for name in started]
    assert wait_until(lambda: all(file.exists() for file in files), 60)
    empty, peopled = (file.read_text().strip() for file in files)
    bots = {name: start_bot(folder, name, peopled) for name in ("random", "rival")}
    yield Town(empty, peopled, started | bots)
    for process in (started | bots).values():
        process.send_signal(signal.SIGTERM)
    end([*bots.values(), *started.values()], 10)


def start_bot(folder: Path, name: str, address: str, program: str = "hippodrome.bots.random") -> subprocess.Popen[bytes]:
    ticket = issue(SECRET, Ticket(name, f"bots/{name}/versions/1", int(time.time()) + 600))
    env = os.environ | {"HIPPODROME_ADDRESS": address, "HIPPODROME_TICKET": ticket}
    return start_tied(python_module("hippodrome.bot", program), folder / f"{name}.log", env)


def start_node(folder: Path, name: str, seat_wait: float = 0.2) -> subprocess.Popen[bytes]:
    files = ("--secret-file", str(folder / "secret"), "--address-file", str(folder / f"{name}.address"))
    command = python_module("hippodrome.service", *files, "--name", name, "--seat-wait", f"{seat_wait:g}")
    return start_tied(command, folder / f"{name}.log", os.environ)


SILENT_BOT = """
import asyncio
from hippodrome.bot import Bot

class Silent(Bot):
    async def move(self, turn):
        await asyncio.Event().wait()
"""


@dataclass
class OwnNode:
    """A node of one test, which may kill it."""

    folder: Path
    address: str
    process: subprocess.Popen[bytes]
    bots: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start_silent_bot(self, name: str) -> None:
        """A bot that never answers."""
        (self.folder / "silent.py").write_text(SILENT_BOT)
        self.bots.append(start_bot(self.folder, name, self.address, str(self.folder / "silent.py")))

    def kill(self) -> None:
        self.process.kill()
        end([self.process], 5)


@pytest.fixture
def own_node(tmp_path: Path) -> Iterator[OwnNode]:
    (tmp_path / "secret").write_text(SECRET.hex())
    process, file = start_node(tmp_path, "node-3", seat_wait=600), tmp_path / "node-3.address"
    assert wait_until(file.exists, 60)
    made = OwnNode(tmp_path, file.read_text().strip(), process)
    yield made
    for bot in made.bots:
        bot.kill()
    made.kill()
    end(made.bots, 5)


def connected(nodes: Nodes, address: str) -> bool:
    state = nodes.state(address)
    return state is not None and state.versions >= BOTS


def test_the_node_where_the_bots_are_is_chosen(town: Town) -> None:
    nodes = town.nodes(town.empty, town.peopled)
    assert wait_until(lambda: connected(nodes, town.peopled), 60)
    assert nodes.choose(BOTS).address == town.peopled
    assert nodes.state(town.empty) == NodeState("node-1", 64, 0, frozenset())
    nodes.close()


def test_a_node_that_does_not_answer_is_passed_over(town: Town) -> None:
    nodes = town.nodes("127.0.0.1:1", town.empty)
    assert nodes.choose(frozenset()).address == town.empty
    nodes.close()


def test_no_node_that_answers_is_no_strike(town: Town) -> None:
    for addresses in ((), ("127.0.0.1:1", "127.0.0.1:2")):
        nodes = town.nodes(*addresses)
        with pytest.raises(NodeError, match="no engine node answers") as caught:
            nodes.choose(frozenset())
        assert not caught.value.counts
        nodes.close()


def test_a_match_is_played_where_the_bots_are(town: Town) -> None:
    nodes = town.nodes(town.peopled)
    assert wait_until(lambda: connected(nodes, town.peopled), 60)
    *_, last = nodes.run(town.peopled, CLAIM)
    assert isinstance(last, Finished)
    assert '"match":"matches/m1"' in last.record
    nodes.close()


def test_bots_that_are_not_at_the_node_are_named(town: Town) -> None:
    nodes = town.nodes(town.empty)
    *_, last = nodes.run(town.empty, CLAIM)
    assert last == Missing((BOT, RIVAL))
    nodes.close()


def test_a_foreign_key_is_refused_and_no_strike(town: Town) -> None:
    nodes = town.nodes(town.peopled, secret=bytes(32))
    with pytest.raises(NodeError, match="KEY_INVALID") as caught:
        list(nodes.run(town.peopled, CLAIM))
    assert not caught.value.counts
    nodes.close()


def test_a_node_that_is_killed_in_mid_match_is_a_strike(town: Town, own_node: OwnNode) -> None:
    """Perhaps the match killed it: five times, and an operator looks. Its bots never answer, so it cannot end before."""
    for name in ("random", "rival"):
        own_node.start_silent_bot(name)
    nodes = town.nodes(own_node.address)
    assert wait_until(lambda: connected(nodes, own_node.address), 60)
    events = iter(nodes.run(own_node.address, CLAIM))
    assert wait_until(lambda: next(events) == Progress(0, begun=True), 60)
    own_node.kill()
    with pytest.raises(NodeError, match="UNAVAILABLE") as caught:
        list(events)
    assert caught.value.counts
    nodes.close()


def test_a_node_that_goes_away_before_the_match_has_begun_is_no_strike(town: Town, own_node: OwnNode) -> None:
    nodes = town.nodes(own_node.address)
    events = iter(nodes.run(own_node.address, CLAIM))
    assert next(events) == Progress(0, begun=False), "it waits for the bots"
    own_node.kill()
    with pytest.raises(NodeError, match="UNAVAILABLE") as caught:
        list(events)
    assert not caught.value.counts
    with pytest.raises(NodeError, match="UNAVAILABLE") as caught:
        list(nodes.run(own_node.address, CLAIM))
    assert not caught.value.counts, "nor one that is not there at all"
    nodes.close()
