"""Invitations to other nodes, as a bare client and a worker see them."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from hippodrome.engine import tickets
from hippodrome.engine.record import Record
from hippodrome.v1 import engine_service_pb2 as v1
from hippodrome.v1 import play_service_pb2 as play
from hippodrome.v1.engine_service_pb2_grpc import EngineServiceStub

KEY = (("x-hippodrome-key", tickets.internal_key(bytes(range(32)))),)
ANN = "bots/ann/versions/1"
ASKED = v1.InviteBotRequest(bot_version=ANN, match="matches/m1", address="there:7700")


@pytest.fixture
async def worker(table):
    async with grpc.aio.insecure_channel(table.node.address) as channel:
        yield EngineServiceStub(channel)


async def state(worker):
    node = await worker.GetNode(v1.GetNodeRequest(), metadata=KEY)
    return list(node.bot_versions), list(node.free_versions), list(node.invitable_versions)


async def until(true):
    async with asyncio.timeout(60):
        while not await true():
            await asyncio.sleep(0.01)


async def test_an_invitation_takes_a_place_until_the_bot_says_returned(table, worker):
    ann = await table.bot("ann", max_matches=2).connect(follows_invitations=True)
    assert await state(worker) == ([ANN], [ANN], [ANN])
    for _ in range(2):
        assert (await worker.InviteBot(ASKED, metadata=KEY)).invited
    told = await ann.until_told("invitation", 2)
    assert (told.match, told.address) == ("matches/m1", "there:7700")
    assert await state(worker) == ([ANN], [], [])
    assert not (await worker.InviteBot(ASKED, metadata=KEY)).invited, "both places are taken"
    await ann.send(play.BotEvent(returned=play.Returned()))
    await until(lambda: _is(worker, ([ANN], [ANN], [ANN])))
    await ann.send(*(play.BotEvent(returned=play.Returned()) for _ in range(5)))
    assert table.session("ann").free <= 2


async def _is(worker, wanted):
    return await state(worker) == wanted


async def test_the_ticket_of_an_invitation_opens_a_session_at_another_node(table, open_table, worker, raw):
    other = await open_table()
    home = await table.bot("ann").connect(follows_invitations=True)
    ben = await other.bot("ben").connect()
    await worker.InviteBot(ASKED, metadata=KEY)
    told = await home.until_told("invitation")
    guest = raw.RawBot(other.node.address, told.ticket, max_matches=1)
    other.bots.append(guest)
    await guest.connect()
    record = await other.play(other.spec("ann", "ben"))
    assert isinstance(record, Record)
    assert (await guest.until_told("match_ended")).ending == (await ben.until_told("match_ended")).ending == "rules"
    assert home.of("match_started") == []


async def test_a_bot_that_does_not_follow_is_not_invited(table, worker):
    ann = await table.bot("ann").connect()
    assert await state(worker) == ([ANN], [ANN], [])
    assert not (await worker.InviteBot(ASKED, metadata=KEY)).invited
    await table.bot("ben").connect()
    await table.all_is_well("ann", "ben")
    assert ann.of("invitation") == []


@pytest.mark.parametrize(("elsewhere", "free"), [(0, 2), (1, 1), (2, 0), (99, -97)])
async def test_a_bot_that_comes_back_says_how_many_places_it_has_taken_elsewhere(table, worker, elsewhere, free):
    ann = await table.bot("ann", max_matches=2).connect(follows_invitations=True)
    await worker.InviteBot(ASKED, metadata=KEY)
    await ann.until_told("invitation")
    await ann.break_off()
    await ann.connect(ann.of("welcome")[-1].session_token, follows_invitations=True, elsewhere=elsewhere)
    assert ann.of("welcome")[-1].resumed
    assert table.session("ann").free == free
    assert await state(worker) == ([ANN], [ANN] if free > 0 else [], [ANN] if free > 0 else [])


@pytest.mark.parametrize("field", ["bot_version", "match", "address"])
async def test_a_wrong_request_names_the_field(table, worker, raw, field):
    asked = v1.InviteBotRequest()
    asked.CopyFrom(ASKED)
    asked.ClearField(field)
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await worker.InviteBot(asked, metadata=KEY)
    assert error.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert error.value.details().startswith(f"{field}: ")
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await worker.InviteBot(ASKED)
    assert raw.reason(error.value).reason == "KEY_INVALID"
