"""Sessions: hello, tickets, broken and replaced streams, the state table."""

from __future__ import annotations

import asyncio
from pathlib import Path

import grpc
import pytest

from hippodrome.engine.reasons import REASONS, Refusal
from hippodrome.service.session import CLOSED, NEXT, OPENING, READY, step


async def refused(bot, raw, reason):
    """The bot's stream was ended for `reason`, with its code."""
    await bot.until(lambda: bot.ended)
    info = raw.reason(bot.error)
    assert (info.reason, info.domain) == (reason, "hippodrome")
    assert bot.error.code().name == REASONS[reason].code
    return bot.error


async def test_welcome_says_who_and_where(table):
    ann = await table.bot("ann").connect()
    welcome = ann.of("welcome")[0]
    assert (welcome.protocol_version, welcome.node, welcome.bot_version) == (1, "node-1", "bots/ann/versions/1")
    assert welcome.grace.ToSeconds() == 30
    assert len(welcome.session_token) >= 32
    assert not welcome.resumed


async def test_a_stream_without_hello_is_refused(open_table, raw):
    table = await open_table(hello_wait=0.2)
    ann = await table.bot("ann").open_raw()
    error = await refused(ann, raw, "HELLO_EXPECTED")
    assert "hello" in error.details()


@pytest.mark.parametrize("event", ["answer", "goodbye", "nothing"])
async def test_another_first_event_is_refused(table, raw, event):
    ann = await table.bot("ann").open_raw()
    await ann.send(raw.v1.BotEvent(**({} if event == "nothing" else {event: {}})))
    await refused(ann, raw, "HELLO_EXPECTED")
    assert raw.reason(ann.error).metadata["event"] == event


async def test_an_empty_first_frame_is_refused(table, raw):
    ann = await table.bot("ann").open_raw()
    await ann.send()
    await refused(ann, raw, "HELLO_EXPECTED")


async def test_a_second_hello_is_refused_and_the_session_may_be_resumed(table, raw):
    ann, _ = await table.two()
    await ann.send(raw.v1.BotEvent(hello=raw.v1.Hello(ticket=ann.ticket, protocol_version=1)))
    await refused(ann, raw, "HELLO_REPEATED")
    await ann.resume()
    assert ann.of("welcome")[-1].resumed
    await table.all_is_well()


async def test_an_unknown_protocol_is_refused(table, raw):
    ann = await table.bot("ann").connect(protocol_version=2)
    error = await refused(ann, raw, "PROTOCOL_UNSUPPORTED")
    assert "use 1" in error.details()


async def test_a_wrong_ticket_is_refused(table, raw):
    for ticket in ("", "nonsense", "ä.ö", table.ticket("ann") + "x", "." + table.ticket("ann").split(".")[1]):
        error = await refused(await table.bot("ann").connect(ticket=ticket), raw, "TICKET_INVALID")
        assert "CreateBotSession" in error.details()
    assert table.node.lobby.sessions == {}


async def test_an_expired_ticket_opens_no_session_but_resumes_one(table, raw):
    old = table.ticket("ann", expires=-5)
    await refused(await table.bot("ann").connect(ticket=old), raw, "TICKET_EXPIRED")
    ann = await table.bot("ann").connect()
    await ann.break_off()
    ann.ticket = old
    await ann.resume()
    assert ann.of("welcome")[-1].resumed


async def test_an_unknown_session_token_opens_a_new_session(table):
    ann = await table.bot("ann").connect("no-such-token")
    assert not ann.of("welcome")[0].resumed


async def test_the_session_token_of_another_bot_is_refused_and_does_it_no_harm(table, raw):
    ann, _ben = await table.two()
    eve = await table.bot("eve").connect(ann.of("welcome")[0].session_token)
    await refused(eve, raw, "SESSION_FOREIGN")
    assert not ann.ended
    await table.all_is_well()


async def test_reconnecting_in_mid_match_goes_on_with_the_same_decision_number(table):
    ann, _ = await table.two()
    ann.choose = lambda decision: None
    match = asyncio.create_task(table.play(table.spec()))
    first = await ann.until_told("decision")
    await ann.break_off()
    ann.choose = ann.random_move
    await ann.resume()
    again = await ann.until_told("decision", 2)
    assert ann.of("welcome")[-1].resumed
    assert [m.match for m in ann.of("match_started")] == [first.match] * 2
    assert (again.number, list(again.legal_moves), again.view) == (first.number, list(first.legal_moves), first.view)
    assert again.bank.ToMicroseconds() < first.bank.ToMicroseconds(), "the clock went on"
    record = await match
    assert record.closing["end"] == "rules"
    assert record.moves[0]["charged"] >= first.bank.ToMicroseconds() - again.bank.ToMicroseconds()
    await table.all_is_well()


async def test_reconnecting_again_and_again_plays_every_decision_once(table):
    ann, _ = await table.two()
    match, breaks = asyncio.create_task(table.play(table.spec())), 0
    while not match.done():
        await asyncio.sleep(0.02)
        await ann.break_off()
        await ann.resume()
        breaks += 1
    record = await match
    assert breaks > 1
    assert record.closing["end"] == "rules"
    assert [line["n"] for line in record.moves] == list(range(1, len(record.moves) + 1))
    await ann.until_told("match_ended")


async def test_a_bot_that_was_away_when_its_match_ended_is_told_when_it_is_back(open_table):
    table = await open_table()
    ann, _ben = await table.two()
    ann.choose = lambda decision: None
    match = asyncio.create_task(table.play(table.spec(clock="60s+1s/500ms")))
    await ann.until_told("decision")
    await ann.break_off()
    record = await match
    assert record.closing["end"] == "disconnect"
    assert not ann.of("match_ended")
    await ann.resume()
    assert (await ann.until_told("match_ended")).ending == "disconnect"
    ann.choose = ann.random_move
    await table.all_is_well()


async def test_the_grace_ends_a_match_whose_clock_has_much_time_left(open_table):
    table = await open_table(grace=0.3)
    ann, _ben = await table.two()
    ann.choose = lambda decision: None
    match = asyncio.create_task(table.play(table.spec(clock="600s+0s")))
    await ann.until_told("decision")
    await ann.break_off()
    record = await match
    assert (record.closing["end"], record.closing["places"]) == ("disconnect", [2, 1])
    assert "grace" in record.closing["reason"]


async def test_a_session_without_matches_is_forgotten_after_the_grace(open_table):
    table = await open_table(grace=0.2)
    ann = await table.bot("ann").connect()
    await ann.break_off()
    async with asyncio.timeout(30):
        while table.node.lobby.sessions:
            await asyncio.sleep(0.05)
    await ann.resume()
    assert not ann.of("welcome")[-1].resumed


async def test_a_newer_stream_replaces_the_older_and_the_match_goes_on(table, raw):
    ann, _ = await table.two()
    ann.choose = lambda decision: None
    match = asyncio.create_task(table.play(table.spec()))
    first = await ann.until_told("decision")
    newer = await table.bot("ann").connect(ann.of("welcome")[0].session_token)
    await refused(ann, raw, "STREAM_REPLACED")
    assert (await newer.until_told("decision")).number == first.number
    assert (await match).closing["end"] == "rules"
    assert len(table.node.lobby.sessions) == 2
    await table.all_is_well()


async def test_a_bot_that_never_reads_is_cut_off(open_table, raw):
    table = await open_table(grace=0.3, slots=200, closing_wait=0.3)
    ben = await table.bot("ben", max_matches=200).connect()
    narrow = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 1024)]
    async with grpc.aio.insecure_channel(table.node.address, narrow) as channel:
        call = channel.stream_stream("/hippodrome.v1.PlayService/Play")()
        hello = raw.v1.Hello(ticket=table.ticket("ann"), protocol_version=1, max_matches=200)
        await call.write(raw.v1.PlayRequest(events=[raw.v1.BotEvent(hello=hello)]).SerializeToString())
        await call.read()
        records = await asyncio.gather(*(table.play(table.spec(clock="60s+0s")) for _ in range(200)))
        assert {(record.closing["end"], record.closing["places"][0]) for record in records} == {("disconnect", 2)}
        assert raw.reason(await raw.error_of(call)).reason == "STREAM_STUCK"
    assert not ben.ended


def test_every_state_is_reached_and_every_refusal_is_a_known_reason():
    for (state, event), after in NEXT.items():
        if after.isupper():
            with pytest.raises(Refusal) as refusal:
                step(state, event)
            assert refusal.value.reason == after
            assert after in REASONS
        else:
            assert step(state, event) == after
    reached, frontier = {OPENING}, [OPENING]
    while frontier:
        here = frontier.pop()
        for (state, _), after in NEXT.items():
            if state == here and not after.isupper() and after not in reached:
                reached.add(after)
                frontier.append(after)
    assert reached == {state for state, _ in NEXT} | {CLOSED}


def test_each_state_answers_to_all_that_a_bot_can_say():
    streaming = (OPENING, READY, "leaving")
    assert all((state, event) in NEXT for state in streaming for event in ("hello", "answer", "goodbye", "nothing", "returned"))


def test_the_protocol_page_shows_the_table_and_the_reasons():
    page = (Path(__file__).parents[2] / "proto" / "README.md").read_text(encoding="utf-8")
    for (state, event), after in NEXT.items():
        assert f"| {state} | {event} | {after} |" in page
    for name, reason in REASONS.items():
        assert f"| {name} | {reason.code} | {reason.meaning} | {reason.remedy} |" in page
