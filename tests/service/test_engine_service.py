"""EngineService as a worker sees it, and the node as a process."""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import grpc
import pytest

from hippodrome.engine import record as records
from hippodrome.engine import tickets, verify
from hippodrome.games import registry
from hippodrome.service import convert
from hippodrome.service.node import Missing
from hippodrome.v1 import engine_service_pb2 as v1
from hippodrome.v1 import match_pb2
from hippodrome.v1.engine_service_pb2_grpc import EngineServiceStub

KEY = (("x-hippodrome-key", tickets.internal_key(bytes(range(32)))),)


@pytest.fixture
async def worker(table):
    async with grpc.aio.insecure_channel(table.node.address) as channel:
        yield EngineServiceStub(channel)


def request_of(spec, **changes):
    fields = {
        "match": spec.match,
        "fence": 1,
        "ruleset": str(spec.ruleset),
        "seats": [match_pb2.SeatInfo(bot=s.bot, bot_version=s.version) for s in spec.seats],
        "clock": convert.time_control(spec.clock),
        "policy": str(spec.policy),
        "seed": spec.seed,
    }
    return v1.RunMatchRequest(**(fields | changes))


async def events_of(call):
    return [event async for event in call]


async def refusal(call, raw):
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await events_of(call)
    return raw.reason(error.value)


async def test_run_match_streams_progress_and_then_the_record(table, worker):
    ann, _ = await table.two()
    spec, held = table.spec(), asyncio.Event()

    def hold(decision):
        if len(ann.of("decision")) != 5:
            return ann.random_move(decision)
        asyncio.get_running_loop().create_task(_answer_when(held, ann, decision))
        return None

    ann.choose = hold
    call, moves, record = worker.RunMatch(request_of(spec), metadata=KEY), [], None
    async for event in call:
        if event.WhichOneof("event") == "progress":
            moves.append(event.progress.moves)
            if moves[-1] > 0 and len(moves) > 3:
                held.set()
        else:
            record = records.loads(event.finished.record.decode())
    assert moves == sorted(moves)
    assert moves.count(max(moves[:-1])) >= 2, "a heartbeat comes even when nothing has moved"
    assert verify.verify(record, registry.get_game("antiquity")).result.ending == "rules"
    assert records.dumps(record).startswith('{"record"')


@pytest.mark.parametrize("withheld", [False, True])
async def test_the_seed_is_told_with_the_end_unless_other_matches_have_it(table, worker, withheld):
    bots, spec = await table.two(), table.spec()
    await events_of(worker.RunMatch(request_of(spec, withhold_seed=withheld), metadata=KEY))
    for bot in bots:
        ended = await bot.until_told("match_ended")
        assert (ended.ending, ended.seed) == ("rules", "" if withheld else spec.seed.hex())
        assert spec.seed.hex() not in "".join(map(str, bot.events)) or not withheld


async def _answer_when(held, bot, decision):
    await held.wait()
    await bot.answer(decision.match, decision.number, *bot.random_move(decision))


@pytest.mark.parametrize("metadata", [(), (("x-hippodrome-key", "wrong"),)])
async def test_without_the_internal_key_nothing_is_told(table, worker, raw, metadata):
    info = await refusal(worker.RunMatch(request_of(table.spec()), metadata=metadata), raw)
    assert info.reason == "KEY_INVALID"
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await worker.GetNode(v1.GetNodeRequest(), metadata=metadata)
    assert error.value.code() is grpc.StatusCode.PERMISSION_DENIED


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"match": ""}, "match"),
        ({"seed": b"short"}, "seed"),
        ({"ruleset": "antikwity-2p"}, "game"),
        ({"ruleset": "antiquity-9p"}, "players"),
        ({"policy": "mercy"}, "policy"),
        ({"clock": match_pb2.TimeControl()}, "clock"),
        ({"seats": []}, "seats"),
        ({"absent_seats": [2]}, "absent_seats"),
    ],
)
async def test_a_wrong_request_names_the_field_and_the_fix(table, worker, raw, changes, field):
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await events_of(worker.RunMatch(request_of(table.spec(), **changes), metadata=KEY))
    assert error.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "fix: " in error.value.details()
    status = raw.errors_pb2.ErrorStatus.FromString(dict(error.value.trailing_metadata())["grpc-status-details-bin"])
    bad = raw.errors_pb2.BadRequest.FromString(status.details[1].value)
    assert [violation.field for violation in bad.field_violations] == [field]


async def test_details_are_read_by_grpcio_status_too(table, worker):
    rpc_status = importlib.import_module("grpc_status.rpc_status")
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await worker.GetNode(v1.GetNodeRequest())
    status = rpc_status.from_call(error.value)
    details = importlib.import_module("google.rpc.error_details_pb2").ErrorInfo()
    assert status.details[0].Unpack(details)
    assert details.reason == "KEY_INVALID"


async def test_a_worker_that_cancels_voids_the_attempt_and_the_bots_are_told(table, worker):
    ann, ben = await table.two()
    ann.choose = lambda decision: None
    call = worker.RunMatch(request_of(table.spec()), metadata=KEY)
    await ann.until_told("decision")
    call.cancel()
    for bot in (ann, ben):
        ended = await bot.until_told("match_ended")
        assert (ended.ending, list(ended.places), ended.seed) == ("infrastructure", [], "")
    ann.choose = ann.random_move
    await table.all_is_well()


async def test_a_worker_killed_in_mid_match_voids_the_attempt(table, tmp_path):
    ann, ben = await table.two()
    ann.choose = lambda decision: None
    (tmp_path / "request").write_bytes(request_of(table.spec()).SerializeToString())
    program = (
        "import grpc, sys, pathlib\n"
        "from hippodrome.v1 import engine_service_pb2 as v1\n"
        "from hippodrome.v1.engine_service_pb2_grpc import EngineServiceStub\n"
        "request = v1.RunMatchRequest.FromString(pathlib.Path(sys.argv[2]).read_bytes())\n"
        "stub = EngineServiceStub(grpc.insecure_channel(sys.argv[1]))\n"
        "list(stub.RunMatch(request, metadata=(('x-hippodrome-key', sys.argv[3]),)))\n"
    )
    command = [sys.executable, "-c", program, table.node.address, str(tmp_path / "request"), KEY[0][1]]
    process = subprocess.Popen(command)
    try:
        await ann.until_told("decision")
    finally:
        process.kill()
        process.wait()
    assert (await ben.until_told("match_ended")).ending == "infrastructure"
    ann.choose = ann.random_move
    await table.all_is_well()


async def test_bots_that_are_not_here_are_named(open_table, raw):
    table = await open_table(seat_wait=0.2)
    ann = await table.bot("ann").connect()
    async with grpc.aio.insecure_channel(table.node.address) as channel:
        worker = EngineServiceStub(channel)
        events = await events_of(worker.RunMatch(request_of(table.spec("ann", "ben", "cid")), metadata=KEY))
    assert list(events[-1].missing.bot_versions) == ["bots/ben/versions/1", "bots/cid/versions/1"]
    assert not ann.of("match_started"), "nothing was played"


async def test_a_match_waits_a_little_for_its_bots(table):
    ann = await table.bot("ann").connect()
    match = asyncio.create_task(table.play(table.spec()))
    await asyncio.sleep(0.05)
    ben = await table.bot("ben").connect()
    assert (await match).closing["end"] == "rules"
    assert not ann.ended
    assert not ben.ended


async def test_absent_seats_are_judged_disconnected_at_their_first_decision(open_table):
    table = await open_table(settle=0)
    ann = await table.bot("ann").connect()
    record = await table.play(table.spec("ann", "ben"), absent=[1])
    assert record.closing["end"] == "disconnect"
    assert record.closing["places"] == [1, 2]
    assert "stayed away" in record.closing["reason"]
    assert (await ann.until_told("match_ended")).ending == "disconnect"
    assert list((await ann.until_told("match_ended")).places) == [1, 2]


async def test_a_node_that_has_just_started_takes_no_bot_for_gone(open_table):
    """Its bots were told to come back, whatever the calendar says of how long they have been away."""
    table = await open_table(seat_wait=0.2, settle=1.0)
    await table.bot("ann").connect()
    outcome = await table.node.play(table.spec("ann", "ben"), absent=[1])
    assert outcome == Missing(("bots/ben/versions/1",))
    async with asyncio.timeout(60):
        while isinstance(outcome, Missing):
            outcome = await table.node.play(table.spec("ann", "ben"), absent=[1])
    assert outcome.closing["end"] == "disconnect"


async def test_an_absent_seat_whose_bot_came_after_all_plays(table):
    await table.two()
    assert (await table.play(table.spec(), absent=[1])).closing["end"] == "rules"


async def test_a_session_is_never_given_more_matches_than_it_asked_for(open_table):
    table = await open_table(seat_wait=60)
    ann, ben = await table.bot("ann", max_matches=3).connect(), await table.bot("ben", max_matches=20).connect()
    peak = 0

    def choose(decision):
        nonlocal peak
        peak = max(peak, len(ann.of("match_started")) - len(ann.of("match_ended")))
        return ann.random_move(decision)

    ann.choose = choose
    records_ = await asyncio.gather(*(table.play(table.spec()) for _ in range(10)))
    assert {record.closing["end"] for record in records_} == {"rules"}
    assert peak == 3
    assert not ben.ended


async def test_several_processes_of_a_bot_share_its_matches(open_table):
    table = await open_table(seat_wait=60)
    first, second = [await table.bot("ann", max_matches=2).connect() for _ in range(2)]
    await table.bot("ben", max_matches=4).connect()
    await asyncio.gather(*(table.play(table.spec()) for _ in range(4)))
    assert len(first.of("match_started")) == len(second.of("match_started")) == 2


async def test_a_bot_may_play_itself_from_two_sessions_but_not_from_one(open_table):
    table = await open_table(seat_wait=0.2)
    await table.bot("ann").connect()
    spec = table.spec("ann", "ann")
    assert (await table.node.play(spec)).versions == ("bots/ann/versions/1",)
    await table.bot("ann", seed=2).connect()
    assert (await table.play(spec)).closing["end"] == "rules"


async def test_matches_that_want_the_same_bots_in_any_order_do_not_block_each_other(open_table):
    table = await open_table(seat_wait=60)
    for name in ("ann", "ben", "cid"):
        await table.bot(name, max_matches=1).connect()
    pairs = [("ann", "ben"), ("ben", "cid"), ("cid", "ann"), ("ben", "ann"), ("cid", "ben"), ("ann", "cid")]
    played = await asyncio.wait_for(asyncio.gather(*(table.play(table.spec(*pair)) for pair in pairs)), 60)
    assert {record.closing["end"] for record in played} == {"rules"}


async def test_a_full_node_says_so_and_get_node_tells_how_busy_it_is(open_table, raw):
    table = await open_table(slots=1, seat_wait=0.2, name="node-7")
    ann, _ = await table.two()
    ann.choose = lambda decision: None
    async with grpc.aio.insecure_channel(table.node.address) as channel:
        worker = EngineServiceStub(channel)
        call = worker.RunMatch(request_of(table.spec()), metadata=KEY)
        await ann.until_told("decision")
        assert (await refusal(worker.RunMatch(request_of(table.spec()), metadata=KEY), raw)).reason == "NODE_FULL"
        node = await worker.GetNode(v1.GetNodeRequest(), metadata=KEY)
        assert (node.node, node.slots, node.running) == ("node-7", 1, 1)
        assert list(node.bot_versions) == ["bots/ann/versions/1", "bots/ben/versions/1"]
        call.cancel()


async def test_a_newer_fence_takes_a_match_over_and_an_older_one_is_refused(table, worker, raw):
    ann, _ = await table.two()
    ann.choose = lambda decision: None
    spec = table.spec()
    old = worker.RunMatch(request_of(spec, fence=1), metadata=KEY)
    await ann.until_told("decision")
    ann.choose = ann.random_move
    new = worker.RunMatch(request_of(spec, fence=2), metadata=KEY)
    assert (await refusal(old, raw)).reason == "ATTEMPT_SUPERSEDED"
    assert (await events_of(new))[-1].HasField("finished")
    assert ann.of("match_ended")[0].ending == "infrastructure"
    ann.choose = lambda decision: None
    running = worker.RunMatch(request_of(spec, fence=4), metadata=KEY)
    told = len(ann.of("decision"))
    await ann.until_told("decision", told + 1)
    assert (await refusal(worker.RunMatch(request_of(spec, fence=3), metadata=KEY), raw)).reason == "ATTEMPT_SUPERSEDED"
    running.cancel()


async def test_an_older_attempt_that_still_waits_for_its_bots_is_never_seated(open_table, raw):
    """Two attempts of one match with the same bots would take each other's answers, and a bot would pay for it."""
    table = await open_table(seat_wait=60)
    ann = await table.bot("ann").connect()
    spec = table.spec()
    async with grpc.aio.insecure_channel(table.node.address) as channel:
        worker = EngineServiceStub(channel)
        old = worker.RunMatch(request_of(spec, fence=1), metadata=KEY)
        await anext(aiter(old))
        new = worker.RunMatch(request_of(spec, fence=2), metadata=KEY)
        await anext(aiter(new))
        assert (await refusal(worker.RunMatch(request_of(spec, fence=1), metadata=KEY), raw)).reason == "ATTEMPT_SUPERSEDED"
        ben = await table.bot("ben").connect()
        assert (await events_of(new))[-1].HasField("finished")
        old.cancel()
    for bot in (ann, ben):
        assert len(bot.of("match_started")) == 1
        assert [event.ending for event in bot.of("match_ended")] == ["rules"]


@pytest.mark.parametrize("where", ["new_state", "apply"])
async def test_an_error_inside_a_game_ends_the_attempt_and_blames_nobody(table, worker, raw, monkeypatch, where):
    ann, ben = await table.two()
    game = registry.get_game("antiquity")
    broken = _broken_state if where == "new_state" else _breaks_at_the_third_move
    monkeypatch.setattr(type(game), "new_state", broken(type(game).new_state))
    info = await refusal(worker.RunMatch(request_of(table.spec()), metadata=KEY), raw)
    assert info.reason == "GAME_FAILED"
    assert info.metadata["error"] == "ZeroDivisionError: a bug"
    for bot in (ann, ben):
        assert (await bot.until_told("match_ended")).ending == "infrastructure"
    monkeypatch.undo()
    await table.all_is_well()


def _broken_state(_original):
    def new_state(self, ruleset, chance):
        raise ZeroDivisionError("a bug")

    return new_state


def _breaks_at_the_third_move(original):
    def new_state(self, ruleset, chance):
        state, count = original(self, ruleset, chance), SimpleNamespace(moves=0)

        class Breaking(type(state)):
            __slots__ = ()

            def apply(self, move):
                count.moves += 1
                if count.moves == 3:
                    raise ZeroDivisionError("a bug")
                super().apply(move)

        state.__class__ = Breaking
        return state

    return new_state


async def test_a_launched_program_plays_and_its_end_before_the_answer_is_a_crash(table, raw):
    ben = await table.bot("ben").connect()
    launch, address = table.node.launcher.launch, table.node.address
    process = launch([sys.executable, raw.__file__], address, "ann", "bots/ann/versions/1")
    assert (await table.play(table.spec())).closing["end"] == "rules"
    asked = []

    def kill(decision):
        asked.append(decision)
        if len(asked) == 3:
            os.kill(process.pid, signal.SIGKILL)
        return ben.random_move(decision)

    ben.choose = kill
    record = await table.play(table.spec())
    assert record.closing["end"] == "crash"
    assert record.closing["faults"][0]["seat"] == 0
    assert "SIGKILL" in record.closing["reason"]


async def test_a_program_that_ends_before_it_connects_is_a_crash_with_its_exit_status(table):
    await table.bot("ben").connect()
    version = "bots/ann/versions/1"
    table.node.launcher.launch([sys.executable, "-c", "raise SystemExit(7)"], table.node.address, "ann", version)
    record = await table.play(table.spec())
    assert record.closing["end"] == "crash"
    assert "exit status 7" in record.closing["reason"]


async def test_sigterm_drains_the_bots_voids_the_matches_and_exits_with_0(table, node_process, raw):
    node = node_process("--name", "node-9")
    address = await node.address()
    ann, ben = [await raw.RawBot(address, table.ticket(name)).connect() for name in ("ann", "ben")]
    ann.choose = lambda decision: None
    async with grpc.aio.insecure_channel(address) as channel:
        call = EngineServiceStub(channel).RunMatch(request_of(table.spec()), metadata=KEY)
        running = asyncio.create_task(refusal(call, raw))
        await ann.until_told("decision")
        node.terminate()
        assert (await running).reason == "NODE_CLOSING"
        for bot in (ann, ben):
            assert (await bot.until_told("match_ended")).ending == "infrastructure"
            assert "stop" in (await bot.until_told("draining")).reason
            await bot.until(lambda bot=bot: bot.ended)
            assert bot.error is None
    assert await node.ended() == 0
    for bot in (ann, ben):
        await bot.break_off()


async def test_a_node_process_plays_a_match_for_a_worker(table, node_process, bot_process):
    address = await node_process().address()
    for name in ("ann", "ben"):
        bot_process(address, name)
    async with grpc.aio.insecure_channel(address) as channel:
        events = await events_of(EngineServiceStub(channel).RunMatch(request_of(table.spec()), metadata=KEY))
    record = records.loads(events[-1].finished.record.decode())
    assert verify.verify(record, registry.get_game("antiquity")).result.ending == "rules"
