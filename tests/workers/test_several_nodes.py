"""A tournament over two real engine nodes: its bots are connected to different ones, and both nodes play."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hippodrome.engine.tickets import Ticket, issue
from hippodrome.ladder import lifecycle, refit, tournaments
from hippodrome.ladder.accounts import get_account
from hippodrome.ladder.db import open_database, upgrade
from hippodrome.ladder.models import TABLES, utcnow
from hippodrome.ladder.settings import Settings
from hippodrome.workers.context import Context, open_context
from hippodrome.workers.convert import NodeState
from hippodrome.workers.house import OPERATOR, prepare_house
from hippodrome.workers.nodes import INVITATION, Choice, Run, _preference
from hippodrome.workers.processes import end, python_module, start_tied, wait_until
from hippodrome.workers.run import play_match

NAMES = ("random", "random-2")
VERSIONS = frozenset(f"bots/{name}/versions/1" for name in NAMES)


@dataclass
class Site:
    """Two node processes, a bot at each, and a worker's context with a tournament of 16 matches."""

    context: Context
    addresses: tuple[str, str]

    def state(self, number: int) -> NodeState | None:
        return self.context.nodes.state(self.addresses[number])

    def rows(self, table: str) -> list[Any]:
        with self.context.database.read() as session:
            return list(session.execute(TABLES[table].select()))

    def due(self) -> list[str]:
        with self.context.database.read() as session:
            return lifecycle.due(session, utcnow(), 100)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    settings = Settings.load({"HIPPODROME_HOME": str(tmp_path)})
    (tmp_path / "node-secret").write_text(settings.secret.hex())
    started = [start_node(tmp_path, number) for number in range(2)]
    files = [tmp_path / f"node-{number}.address" for number in range(2)]
    assert wait_until(lambda: all(file.exists() for file in files), 60)
    addresses = files[0].read_text().strip(), files[1].read_text().strip()
    started += [start_bot(tmp_path, settings, *pair) for pair in zip(NAMES, addresses, strict=True)]
    context = open_context(Settings.load({"HIPPODROME_HOME": str(tmp_path), "HIPPODROME_ENGINES": ",".join(addresses)}))
    yield Site(context, addresses)
    context.close()
    for process in started:
        process.send_signal(signal.SIGTERM)
    end(started, 10)


def start_node(folder: Path, number: int) -> subprocess.Popen[bytes]:
    files = ("--secret-file", str(folder / "node-secret"), "--address-file", str(folder / f"node-{number}.address"))
    command = python_module("hippodrome.service", *files, "--name", f"node-{number}", "--slots", "8", "--seat-wait", "20")
    return start_tied(command, folder / f"node-{number}.log", os.environ)


def start_bot(folder: Path, settings: Settings, name: str, address: str) -> subprocess.Popen[bytes]:
    ticket = issue(settings.secret, Ticket(name, f"bots/{name}/versions/1", int(time.time()) + 600))
    env = os.environ | {"HIPPODROME_ADDRESS": address, "HIPPODROME_TICKET": ticket}
    return start_tied(python_module("hippodrome.bot", "hippodrome.bots.random", "-v"), folder / f"{name}.log", env)


def plan(settings: Settings, blocks: int) -> None:
    upgrade(settings.database_url)
    database = open_database(settings.database_url)
    with database.write() as session:
        prepare_house(session, NAMES)
        asked: dict[str, Any] = {"name": "run", "ruleset": "antiquity-2p", "entries": NAMES, "blocks": blocks}
        tournaments.create_tournament(session, account=get_account(session, OPERATOR), **asked)
    database.close()


def test_bots_of_different_nodes_meet_and_no_node_is_idle(site: Site) -> None:
    plan(site.context.settings, blocks=8)
    assert wait_until(lambda: all((s := site.state(n)) is not None and s.invitable for n in range(2)), 60)
    chosen: list[Choice] = []
    lock, choose = threading.Lock(), site.context.nodes.choose

    def noted(versions: frozenset[str]) -> Choice:
        choice = choose(versions)
        with lock:
            chosen.append(choice)
        return choice

    site.context.nodes.choose = noted  # type: ignore[method-assign]
    with ThreadPoolExecutor(8) as pool:
        deadline = time.monotonic() + 120
        while len(site.rows("result")) < 16 and time.monotonic() < deadline:
            list(pool.map(lambda match: play_match(site.context, match), site.due()))
            time.sleep(0.05)
    results = site.rows("result")
    assert len(results) == len({row.match_id for row in results}) == 16
    assert {row.ending for row in results} == {"rules"}
    assert {choice.address for choice in chosen} == set(site.addresses), "both nodes play"
    assert any(choice.invitations for choice in chosen)
    assert all(choice.connected == VERSIONS for choice in chosen)
    with site.context.database.write() as session:
        assert tournaments.get_tournament(session, "run").state == "finished"
        refit.refit(session, "antiquity-2p")
        assert refit.audit(session) == []


def test_a_bot_that_is_at_another_node_is_never_judged_absent(site: Site) -> None:
    """It was missed for too long where the match was to be played, perhaps because an invitation was lost."""
    plan(site.context.settings, blocks=1)
    assert wait_until(lambda: all((s := site.state(n)) is not None and s.invitable for n in range(2)), 60)
    long_ago = (utcnow() - timedelta(seconds=2 * lifecycle.NO_SHOW)).isoformat()
    with site.context.database.write() as session:
        session.execute(TABLES["match"].update().values(waiting=dict.fromkeys(VERSIONS, long_ago)))
    asked, run = [], site.context.nodes.run

    def noted(address: str, claim: lifecycle.Claim) -> Run:
        asked.append(claim.absent_seats)
        return run(address, claim)

    site.context.nodes.run = noted  # type: ignore[method-assign]
    first, _ = site.due()
    assert play_match(site.context, first).startswith("stored")
    assert asked == [()]
    assert [row.ending for row in site.rows("result")] == ["rules"]


def node(running: int, slots: int = 64, **bots: str) -> NodeState:
    """`here`, `free` and `follow` are names of bots, parted by spaces."""
    return NodeState("n", slots, running, *(frozenset(bots.get(kind, "").split()) for kind in ("here", "free", "follow")))


HOST = {"here": "a b", "free": "a b", "follow": "a b"}


@pytest.mark.parametrize(
    ("first", "second", "wanted", "story"),
    [
        (node(0, **HOST), node(0), 0, "nobody is invited for nothing"),
        (node(10, **HOST), node(0), 1, "a node that is less busy by more than two invitations"),
        (node(3, **HOST), node(0), 0, "a node that is not much less busy"),
        (node(64, **HOST), node(63), 1, "a free slot counts more than any invitation"),
        (node(60, here="a b", free="a b", follow="a"), node(0), 0, "a bot that does not follow is not sent for"),
        (node(60, here="a b", free="a b", follow="a"), node(0, here="b", free="b"), 1, "it is met where it is"),
        (node(60, here="a b", free="a"), node(0), 0, "a bot that is busy is waited for where it is"),
        (node(5), node(4), 1, "bots that are nowhere are waited for anywhere"),
    ],
)
def test_where_a_match_is_played(first: NodeState, second: NodeState, wanted: int, story: str) -> None:
    states = {"0": first, "1": second}
    chosen = min(states, key=lambda one: _preference(states, one, frozenset({"a", "b"})))
    assert (chosen, story) == (str(wanted), story)
    assert 3 / 64 < 2 * INVITATION < 10 / 64
