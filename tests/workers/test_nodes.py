"""Which engine node a worker asks: real nodes, a real bot at one of them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hippodrome.engine.clock import TimeControl
from hippodrome.engine.referee import MatchSpec, Policy, SeatSpec
from hippodrome.engine.tickets import Ticket, internal_key, issue
from hippodrome.games.registry import read_ruleset
from hippodrome.ladder.lifecycle import Claim
from hippodrome.workers.convert import Finished, Missing, NodeState
from hippodrome.workers.nodes import NodeError, Nodes
from hippodrome.workers.processes import end, python_module, start_tied, wait_until

SECRET = bytes(range(32))
BOT, RIVAL = "bots/random/versions/1", "bots/rival/versions/1"
BOTS = frozenset({BOT, RIVAL})
SPEC = MatchSpec(
    "matches/m1",
    read_ruleset("antiquity-2p"),
    (SeatSpec("random", BOT), SeatSpec("rival", RIVAL)),
    TimeControl.parse("60s+100ms/10s@5s"),
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


def start_bot(folder: Path, name: str, address: str) -> subprocess.Popen[bytes]:
    ticket = issue(SECRET, Ticket(name, f"bots/{name}/versions/1", int(time.time()) + 600))
    env = os.environ | {"HIPPODROME_ADDRESS": address, "HIPPODROME_TICKET": ticket}
    return start_tied(python_module("hippodrome.bot", "hippodrome.bots.random"), folder / f"{name}.log", env)


def start_node(folder: Path, name: str, seat_wait: float = 0.2) -> subprocess.Popen[bytes]:
    files = ("--secret-file", str(folder / "secret"), "--address-file", str(folder / f"{name}.address"))
    command = python_module("hippodrome.service", *files, "--name", name, "--seat-wait", f"{seat_wait:g}")
    return start_tied(command, folder / f"{name}.log", os.environ)


def connected(nodes: Nodes, address: str) -> bool:
    state = nodes.state(address)
    return state is not None and state.versions >= BOTS


def test_the_node_where_the_bots_are_is_chosen(town: Town) -> None:
    nodes = town.nodes(town.empty, town.peopled)
    assert wait_until(lambda: connected(nodes, town.peopled), 60)
    assert nodes.choose(BOTS) == town.peopled
    assert nodes.state(town.empty) == NodeState("node-1", 64, 0, frozenset())
    nodes.close()


def test_a_node_that_does_not_answer_is_passed_over(town: Town) -> None:
    nodes = town.nodes("127.0.0.1:1", town.empty)
    assert nodes.choose(frozenset()) == town.empty
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


def test_a_node_that_is_killed_in_mid_match_is_a_strike(town: Town, tmp_path: Path) -> None:
    """Perhaps the match killed it: five times, and an operator looks."""
    (tmp_path / "secret").write_text(SECRET.hex())
    process, file = start_node(tmp_path, "node-3", seat_wait=120), tmp_path / "node-3.address"
    assert wait_until(file.exists, 60)
    address = file.read_text().strip()
    nodes = town.nodes(address)
    events = iter(nodes.run(address, CLAIM))
    next(events)
    process.kill()
    end([process], 5)
    with pytest.raises(NodeError, match="UNAVAILABLE") as caught:
        list(events)
    assert caught.value.counts
    nodes.close()
