"""One doorbell from claim to commit, against an engine node that a test makes say whatever it likes."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest

from hippodrome.engine.record import Record, dumps, seal
from hippodrome.engine.referee import MatchSpec, Receipt, Referee
from hippodrome.games.registry import get_game
from hippodrome.ladder import lifecycle, tournaments
from hippodrome.ladder.accounts import get_account
from hippodrome.ladder.db import Database, open_database, upgrade
from hippodrome.ladder.models import TABLES, utcnow
from hippodrome.ladder.settings import Settings
from hippodrome.service.convert import read_spec
from hippodrome.v1 import engine_service_pb2 as v1
from hippodrome.v1.engine_service_pb2_grpc import EngineServiceServicer, add_EngineServiceServicer_to_server
from hippodrome.workers.context import Context, open_context
from hippodrome.workers.house import OPERATOR, prepare_house
from hippodrome.workers.processes import wait_until
from hippodrome.workers.run import play_match

Reply = Callable[[v1.RunMatchRequest, Any], Iterator[v1.RunMatchResponse]]


class Node(EngineServiceServicer):
    """An engine node whose answer to RunMatch is `reply`."""

    def __init__(self) -> None:
        self.reply: Reply = honest
        self.requests: list[v1.RunMatchRequest] = []

    def RunMatch(self, request: v1.RunMatchRequest, context: Any) -> Iterator[v1.RunMatchResponse]:
        self.requests.append(request)
        yield from self.reply(request, context)

    def GetNode(self, request: v1.GetNodeRequest, context: Any) -> v1.GetNodeResponse:
        return v1.GetNodeResponse(node="test", slots=4)


def played(spec: MatchSpec) -> Record:
    """A whole match of random moves."""
    referee, chooser, now = Referee(spec, get_game("antiquity")), random.Random(1), 0
    while referee.decision is not None:
        referee.answer(chooser.choice(referee.decision.legal).text, Receipt(now, now + 50))
        now += 100
    assert referee.record is not None
    return referee.record


def finished(text: bytes) -> v1.RunMatchResponse:
    return v1.RunMatchResponse(finished=v1.MatchFinished(record=text))


def progress(moves: int) -> v1.RunMatchResponse:
    return v1.RunMatchResponse(progress=v1.MatchProgress(moves=moves, begun=True))


def honest(request: v1.RunMatchRequest, _context: Any) -> Iterator[v1.RunMatchResponse]:
    yield progress(3)
    yield finished(dumps(played(read_spec(request))).encode())


class Bench:
    """A database with a tournament of two matches, a node, and a worker's context."""

    def __init__(self, database: Database, context: Context, node: Node) -> None:
        self.database, self.context, self.node = database, context, node

    def play(self) -> str:
        return play_match(self.context, self.match().id)

    def match(self) -> Any:
        with self.database.read() as session:
            table = TABLES["match"]
            return session.execute(table.select().order_by(table.c.number)).first()

    def rows(self, table: str) -> list[Any]:
        with self.database.read() as session:
            return list(session.execute(TABLES[table].select()))

    def voided(self, reason: str, counts: bool) -> Any:
        """Play once; the attempt must be void for `reason`, its match ready to be played again."""
        before = self.match()
        assert self.play().startswith("void ")
        after, attempt = self.match(), self.rows("attempt")[-1]
        assert (after.state, after.strikes - before.strikes) == ("pending", int(counts))
        assert after.seed == before.seed
        assert (attempt.outcome, attempt.counted) == ("void", counts)
        assert reason in attempt.reason
        assert self.rows("result") == []
        return attempt


@pytest.fixture
def node() -> Iterator[tuple[Node, str]]:
    server, servicer = grpc.server(ThreadPoolExecutor(4), options=[("grpc.so_reuseport", 0)]), Node()
    add_EngineServiceServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield servicer, f"127.0.0.1:{port}"
    server.stop(None).wait()


def make_bench(home: Path, database_url: str, engines: str, node: Node, lease: str = "15") -> Bench:
    env = {"HIPPODROME_HOME": str(home), "HIPPODROME_DATABASE_URL": database_url, "HIPPODROME_ENGINES": engines}
    settings = Settings.load(env | {"HIPPODROME_LEASE": lease})
    upgrade(settings.database_url)
    database = open_database(settings.database_url)
    with database.write() as session:
        prepare_house(session, ("random", "random-2"))
        plan: dict[str, Any] = {"name": "run", "ruleset": "antiquity-2p", "entries": ("random", "random-2")}
        tournaments.create_tournament(session, account=get_account(session, OPERATOR), **plan)
    return Bench(database, open_context(settings), node)


@pytest.fixture
def bench(home: Path, database_url: str, node: tuple[Node, str]) -> Iterator[Bench]:
    made = make_bench(home, database_url, node[1], node[0])
    yield made
    made.context.close()
    made.database.close()


def test_an_honest_record_becomes_a_result(bench: Bench) -> None:
    assert bench.play().startswith("stored play=")
    assert bench.match().state == "done"
    [attempt] = bench.rows("attempt")
    assert (attempt.outcome, attempt.owner) == ("completed", bench.context.owner)
    request = bench.node.requests[0]
    assert (request.match, request.fence, len(request.seed)) == (f"matches/{bench.match().id}", 1, 32)
    assert request.withhold_seed, "the other match of its block has the same seed"


def test_a_second_doorbell_is_refused(bench: Bench) -> None:
    bench.play()
    assert bench.play() == "refused: done"
    assert play_match(bench.context, "m-unknown") == "refused: unknown"
    assert len(bench.node.requests) == 1


def changed(record: Record, **closing: Any) -> bytes:
    """The record with another closing line, sealed anew: its checksum is right."""
    body = {key: value for key, value in record.closing.items() if key != "sha256"} | closing
    return dumps(seal([record.header, *record.body], body)).encode()


def test_a_record_with_another_result_is_not_believed(bench: Bench) -> None:
    def lie(request: v1.RunMatchRequest, _context: Any) -> Iterator[v1.RunMatchResponse]:
        record = played(read_spec(request))
        yield finished(changed(record, places=list(reversed(record.closing["places"])), scores=[0, 0]))

    bench.node.reply = lie
    attempt = bench.voided("not verified: record line", counts=True)
    assert "re-execution gives" in attempt.evidence


def test_a_record_of_another_match_is_not_believed(bench: Bench) -> None:
    def other(request: v1.RunMatchRequest, _context: Any) -> Iterator[v1.RunMatchResponse]:
        request.seed = bytes(32)
        yield finished(dumps(played(read_spec(request))).encode())

    bench.node.reply = other
    bench.voided("it is not of the match that was asked for", counts=True)


@pytest.mark.parametrize("text", [b"", b"nonsense", b"\xff\xfe", b'{"record":"hippodrome/1"}\n', b"[]\n" * 1000])
def test_a_record_that_cannot_be_read_is_not_believed(bench: Bench, text: bytes) -> None:
    bench.node.reply = lambda *_: iter([finished(text)])
    bench.voided("not verified: record", counts=True)


def test_an_event_that_is_not_known_is_not_believed(bench: Bench) -> None:
    bench.node.reply = lambda *_: iter([v1.RunMatchResponse()])
    bench.voided("without an event known here", counts=True)


def test_a_stream_that_ends_without_a_record_counts(bench: Bench) -> None:
    bench.node.reply = lambda *_: iter([progress(1)])
    bench.voided("ended the attempt without a record", counts=True)


def test_an_error_inside_the_node_counts_and_is_kept_as_evidence(bench: Bench) -> None:
    def fail(_request: v1.RunMatchRequest, context: Any) -> Iterator[v1.RunMatchResponse]:
        yield progress(1)
        context.abort(grpc.StatusCode.INTERNAL, "a card fell under the table")

    bench.node.reply = fail
    assert bench.voided("INTERNAL", counts=True).evidence == "a card fell under the table"


def test_an_error_of_our_own_rules_counts_and_is_kept_as_evidence(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault in this program's copy of a game must not hold its matches until their leases run out, nor go untold."""

    def broken(record: Record, game: Any) -> None:
        raise KeyError("colosseum")

    monkeypatch.setattr("hippodrome.workers.run.verify", broken)
    attempt = bench.voided("KeyError: 'colosseum'", counts=True)
    assert 'raise KeyError("colosseum")' in attempt.evidence
    assert bench.match().owner is None


def test_a_node_that_is_not_there_does_not_count(home: Path, database_url: str) -> None:
    made = make_bench(home, database_url, "127.0.0.1:1", Node())
    try:
        made.voided("engine node 127.0.0.1:1: UNAVAILABLE", counts=False)
    finally:
        made.context.close()
        made.database.close()


@pytest.mark.parametrize("begun", [False, True])
def test_a_node_that_goes_away_counts_only_once_the_match_has_begun(bench: Bench, begun: bool) -> None:
    def away(_request: v1.RunMatchRequest, context: Any) -> Iterator[v1.RunMatchResponse]:
        yield v1.RunMatchResponse(progress=v1.MatchProgress(begun=begun))
        context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")

    bench.node.reply = away
    bench.voided("UNAVAILABLE", counts=begun)


def test_no_number_of_attempts_without_a_node_parks_a_match(home: Path, database_url: str) -> None:
    made = make_bench(home, database_url, "127.0.0.1:1,127.0.0.1:2", Node())
    try:
        for _ in range(lifecycle.STRIKES + 1):
            with made.database.write() as session:
                session.execute(TABLES["match"].update().values(not_before=None))
            made.voided("no engine node answers", counts=False)
    finally:
        made.context.close()
        made.database.close()


def test_missing_bots_are_no_attempt_at_all(bench: Bench) -> None:
    away = "bots/random/versions/1"
    bench.node.reply = lambda *_: iter([v1.RunMatchResponse(missing=v1.BotsMissing(bot_versions=[away]))])
    assert bench.play().startswith(f"waits for {away}")
    assert (bench.rows("attempt"), bench.match().attempts, list(bench.match().waiting)) == ([], 0, [away])
    assert bench.play() == "refused: early"


def slow(told: threading.Event, cancelled: threading.Event) -> Reply:
    """Progress for ever, until the caller cancels."""

    def reply(_request: v1.RunMatchRequest, context: Any) -> Iterator[v1.RunMatchResponse]:
        context.add_callback(cancelled.set)
        while context.is_active():
            yield progress(7)
            told.set()
            time.sleep(0.05)

    return reply


def in_background(bench: Bench) -> tuple[threading.Thread, list[str]]:
    outcome: list[str] = []
    thread = threading.Thread(target=lambda: outcome.append(bench.play()))
    thread.start()
    return thread, outcome


def test_a_lost_lease_ends_the_call_and_nothing_is_written(home: Path, database_url: str, node: tuple[Node, str]) -> None:
    made = make_bench(home, database_url, node[1], node[0], lease="1")
    told, cancelled = threading.Event(), threading.Event()
    made.node.reply = slow(told, cancelled)
    thread, outcome = in_background(made)
    assert told.wait(30)
    assert wait_until(lambda: made.match().moves == 7, 30)
    with made.database.write() as session:
        tournaments.cancel(session, "run")
    thread.join(30)
    assert outcome[0].startswith("superseded")
    assert cancelled.wait(30)
    assert (made.match().state, made.rows("result")) == ("cancelled", [])
    made.context.close()
    made.database.close()


def test_heartbeats_keep_the_lease(home: Path, database_url: str, node: tuple[Node, str]) -> None:
    made = make_bench(home, database_url, node[1], node[0], lease="1")
    told, cancelled = threading.Event(), threading.Event()
    made.node.reply = slow(told, cancelled)
    thread, outcome = in_background(made)
    assert told.wait(30)
    first = made.match().lease_until
    assert wait_until(lambda: made.match().lease_until > first, 30)
    with made.database.write() as session:
        assert lifecycle.claim(session, made.match().id, "another", utcnow(), 1) == lifecycle.Refused("leased")
    made.context.stop()
    thread.join(30)
    assert outcome[0].startswith("void")
    made.context.close()
    made.database.close()


def test_a_stopped_worker_gives_its_match_back_at_once(bench: Bench) -> None:
    told, cancelled = threading.Event(), threading.Event()
    bench.node.reply = slow(told, cancelled)
    thread, outcome = in_background(bench)
    assert told.wait(30)
    bench.context.stop()
    thread.join(30)
    assert outcome[0].startswith("void")
    assert cancelled.wait(30)
    match, [attempt] = bench.match(), bench.rows("attempt")
    assert (match.state, match.strikes, match.not_before) == ("pending", 0, None)
    assert (attempt.reason, attempt.counted) == ("the worker was stopped", False)


def test_the_fifth_strike_parks(bench: Bench) -> None:
    bench.node.reply = lambda *_: iter([progress(1)])
    for _ in range(lifecycle.STRIKES):
        with bench.database.write() as session:
            session.execute(TABLES["match"].update().values(not_before=None))
        assert bench.play().startswith("void")
    assert bench.match().state == "parked"
    assert bench.play() == "refused: parked"
