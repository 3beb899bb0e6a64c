"""Bots that do wrong: the ending says what happened and why, the opponent is not harmed, the node plays the next match."""

from __future__ import annotations

import asyncio
import signal
import time

import grpc
import pytest


class Misbehaving:
    """Plays at random until decision `at` of its own, then does `act` once and goes on at random."""

    def __init__(self, bot, at, act):
        self.bot, self.at, self.act, self.count = bot, at, act, 0

    def __call__(self, decision):
        self.count += 1
        return self.act(decision) if self.count == self.at else self.bot.random_move(decision)


def misbehave(bot, act, at=3):
    bot.choose = Misbehaving(bot, at, act)


def silent(decision):
    return None


async def lost_by_ann(table, ann, ben, kind, *, clock="60s+1s"):
    """Play a match that ann loses by a fault at her third decision; the record's fault."""
    record = await table.play(table.spec(clock=clock))
    fault = record.closing["faults"][0]
    assert (record.closing["end"], record.closing["places"]) == (kind, [2, 1])
    assert (fault["seat"], fault["kind"], len(record.closing["faults"])) == (0, kind, 1)
    assert record.closing["reason"] == f"seat 0: {fault['reason']}"
    ended = await ben.until_told("match_ended")
    assert (ended.ending, list(ended.places)) == (kind, [2, 1])
    assert fault["reason"] in ended.reason
    return fault


async def test_garbage_text_is_malformed_and_the_reason_names_the_notation(table):
    ann, ben = await table.two()
    misbehave(ann, lambda decision: ["\x00\u2028 ; drop table 'matches' \U0001f40e" * 40])
    fault = await lost_by_ann(table, ann, ben, "illegal_move")
    assert fault["reason"].startswith("malformed: ")
    expired = await ann.until_told("decision_expired")
    assert expired.number == fault["n"]
    await table.all_is_well()


async def test_an_empty_answer_is_malformed(table):
    ann, ben = await table.two()
    misbehave(ann, lambda decision: [])
    fault = await lost_by_ann(table, ann, ben, "illegal_move")
    assert fault["reason"].startswith("malformed: ")
    await table.all_is_well()


async def test_an_illegal_move_ends_with_section_and_reason(table):
    ann, ben = await table.two()
    every = {f"take {name}-{n}" for name in ("petra", "zeus", "akropolis") for n in range(1, 10)}
    misbehave(ann, lambda decision: [sorted(every - set(decision.legal_moves))[0]])
    fault = await lost_by_ann(table, ann, ben, "illegal_move")
    assert "is not legal" in fault["reason"]
    await table.all_is_well()


async def test_silence_runs_out_of_time(table):
    ann, ben = await table.two()
    misbehave(ann, silent)
    fault = await lost_by_ann(table, ann, ben, "timeout", clock="60s+1s/400ms")
    assert fault["reason"] == "no answer within 0.400 s"
    assert (await ann.until_told("decision_expired")).reason == fault["reason"]
    await table.all_is_well()


async def test_a_late_answer_is_ignored_and_counted(table):
    ann, ben = await table.two()
    asked = []
    misbehave(ann, lambda decision: asked.append(decision))
    await lost_by_ann(table, ann, ben, "timeout", clock="60s+1s/300ms")
    await ann.answer(asked[0].match, asked[0].number, asked[0].legal_moves[0])
    await table.all_is_well()
    assert table.session("ann").counters.unasked == 1


async def test_a_late_answer_in_a_match_that_goes_on_is_ignored_and_counted(table):
    ann, _ben = await table.two()
    asked = []
    misbehave(ann, lambda decision: asked.append(decision))
    match = asyncio.create_task(table.play(table.spec(clock="60s+1s/300ms", policy="substitute:3")))
    expired = await ann.until_told("decision_expired")
    await ann.answer(expired.match, expired.number, asked[0].legal_moves[0])
    record = await match
    assert record.closing["end"] == "rules"
    assert [line["fault"] for line in record.body if "fault" in line] == ["timeout"]
    assert table.session("ann").counters.unasked == 1
    await table.all_is_well()


async def test_a_doubled_answer_counts_once(table, raw):
    ann, _ = await table.two()

    def twice(decision):
        moves = ann.random_move(decision)
        asyncio.get_running_loop().create_task(
            ann.send(*[raw.answer(decision.match, decision.number, *moves) for _ in range(2)])
        )

    misbehave(ann, twice)
    record = await table.play(table.spec())
    assert record.closing["end"] == "rules"
    assert record.closing["faults"] == []
    assert table.session("ann").counters.unasked == 1
    await table.all_is_well()


async def test_answers_to_an_unknown_match_and_number_are_ignored_and_counted(table):
    ann, _ = await table.two()

    def elsewhere(decision):
        tasks = asyncio.get_running_loop().create_task
        tasks(ann.answer("matches/never", 1, "draw"))
        tasks(ann.answer(decision.match, 4_000_000_000, "draw"))
        return ann.random_move(decision)

    misbehave(ann, elsewhere)
    record = await table.play(table.spec())
    assert record.closing["end"] == "rules"
    assert table.session("ann").counters.unasked == 2
    await table.all_is_well()


async def test_a_bot_cannot_answer_for_its_opponent(table):
    ann, ben = await table.two()
    original = ben.choose

    def meddle(decision):
        asyncio.get_running_loop().create_task(ann.answer(decision.match, decision.number, "no such move"))
        return original(decision)

    ben.choose = Misbehaving(ben, 2, meddle)
    record = await table.play(table.spec())
    assert record.closing["end"] == "rules"
    await table.all_is_well()


async def test_an_oversized_message_breaks_the_stream_and_the_clock_decides(table):
    ann, ben = await table.two()
    misbehave(ann, lambda decision: ["x" * 300_000])
    match = asyncio.create_task(lost_by_ann(table, ann, ben, "disconnect", clock="60s+1s/500ms"))
    await ann.until(lambda: ann.ended)
    assert ann.error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    await match
    await ann.resume()
    await table.all_is_well()


async def test_a_frame_of_garbage_bytes_is_refused_and_the_bot_may_come_back(table, raw):
    ann, ben = await table.two()
    misbehave(ann, silent)
    match = asyncio.create_task(table.play(table.spec()))
    await ann.until(lambda: getattr(ann.choose, "count", 0) == 3)
    await ann.break_off()
    async with grpc.aio.insecure_channel(table.node.address) as channel:
        call = channel.stream_stream("/hippodrome.v1.PlayService/Play")()
        hello = raw.v1.Hello(ticket=ann.ticket, protocol_version=1, session_token=ann.of("welcome")[0].session_token)
        await call.write(raw.v1.PlayRequest(events=[raw.v1.BotEvent(hello=hello)]).SerializeToString())
        await call.read()
        await call.write(b"\xff\xff\xff\xffgarbage")
        assert raw.reason(await raw.error_of(call)).reason == "FRAME_INVALID"
    await ann.resume()
    record = await match
    assert record.closing["end"] == "rules"
    assert not ben.ended
    await table.all_is_well()


async def test_more_than_50_unasked_answers_in_a_match_are_an_illegal_move(table, raw):
    ann, ben = await table.two()

    def flood(decision):
        events = [raw.answer(decision.match, decision.number + 1000, "draw")] * 51
        asyncio.get_running_loop().create_task(ann.send(*events))

    misbehave(ann, flood)
    await lost_by_ann(table, ann, ben, "illegal_move")
    assert table.session("ann").counters.unasked == 51
    await table.all_is_well()


@pytest.mark.parametrize("policy", ["retry:2", "substitute:2"])
async def test_a_flood_ends_under_every_policy(table, raw, policy):
    ann, _ben = await table.two()

    def flood(decision):
        events = [raw.answer(decision.match, decision.number + 1000, "draw")] * 51
        asyncio.get_running_loop().create_task(ann.send(*events))

    misbehave(ann, flood)
    record = await table.play(table.spec(policy=policy))
    assert (record.closing["end"], record.closing["faults"][0]["seat"]) == ("illegal_move", 0)
    await table.all_is_well()


async def test_an_endless_flood_without_a_match_ends_the_stream(table, raw):
    ann, _ = await table.two()
    await ann.send(*[raw.answer("matches/never", 1, "draw")] * 1001)
    await ann.until(lambda: ann.ended)
    assert raw.reason(ann.error).reason == "EVENT_FLOOD"
    await ann.resume()
    await table.all_is_well()


async def test_a_bot_process_killed_in_mid_match_is_a_disconnect_after_the_grace(open_table, bot_process):
    table = await open_table(grace=0.5)
    process = bot_process(table.node.address, "ann")
    ben = await table.bot("ben").connect()
    ben.choose = Misbehaving(ben, 3, lambda decision: process.send_signal(signal.SIGKILL) or ben.random_move(decision))
    record = await table.play(table.spec())
    assert (record.closing["end"], record.closing["places"]) == ("disconnect", [2, 1])
    assert "away" in record.closing["reason"]
    assert (await ben.until_told("match_ended")).ending == "disconnect"
    bot_process(table.node.address, "ann")
    await table.all_is_well()


async def test_a_frozen_bot_runs_out_of_time(table, bot_process):
    process = bot_process(table.node.address, "ann")
    ben = await table.bot("ben").connect()
    ben.choose = Misbehaving(ben, 3, lambda decision: process.send_signal(signal.SIGSTOP) or ben.random_move(decision))
    record = await table.play(table.spec(clock="60s+1s/1s"))
    assert (record.closing["end"], record.closing["places"]) == ("timeout", [2, 1])
    process.send_signal(signal.SIGCONT)
    await table.all_is_well()


async def test_goodbye_in_mid_match_plays_it_to_its_end_and_takes_no_other(open_table, raw):
    table = await open_table(seat_wait=0.3)
    ann, _ben = await table.two()

    def leave(decision):
        asyncio.get_running_loop().create_task(ann.send(raw.v1.BotEvent(goodbye=raw.v1.Goodbye(reason="lunch"))))
        return ann.random_move(decision)

    misbehave(ann, leave)
    record = await table.play(table.spec())
    assert record.closing["end"] == "rules"
    await ann.until(lambda: ann.ended)
    assert ann.error is None, "the stream ended in good order"
    assert ann.of("match_ended")
    missing = await table.node.play(table.spec())
    assert missing.versions == ("bots/ann/versions/1",)
    await ann.connect()
    await table.all_is_well()


async def test_goodbye_without_a_match_ends_the_session_at_once(table, raw):
    ann, _ = await table.two()
    await ann.send(raw.v1.BotEvent(goodbye=raw.v1.Goodbye()))
    await ann.until(lambda: ann.ended)
    assert ann.error is None
    assert [s.bot for s in table.node.lobby.sessions.values()] == ["ben"]


async def test_retry_lets_the_bot_answer_again_within_the_same_clock(table):
    ann, _ben = await table.two()
    ann.choose = lambda decision: ["nonsense"] if len(ann.of("move_rejected")) < 2 else ann.random_move(decision)
    record = await table.play(table.spec(policy="retry:2", clock="60s+0s"))
    assert record.closing["end"] == "rules"
    rejected, decisions = ann.of("move_rejected"), ann.of("decision")
    assert [(r.number, r.move, r.kind) for r in rejected] == [(rejected[0].number, "nonsense", "malformed")] * 2
    asked = [d for d in decisions if d.number == rejected[0].number]
    assert len(asked) == 3, "the decision comes again with the same number"
    assert list(asked[0].legal_moves) == list(asked[2].legal_moves)
    assert asked[0].bank.ToMicroseconds() > asked[2].bank.ToMicroseconds()
    await table.all_is_well()


async def test_retry_is_not_for_ever(table):
    ann, _ben = await table.two()
    ann.choose = lambda decision: ["nonsense"]
    record = await table.play(table.spec(policy="retry:2"))
    assert (record.closing["end"], record.closing["places"]) == ("illegal_move", [2, 1])
    assert len(ann.of("move_rejected")) == 2
    ann.choose = ann.random_move
    await table.all_is_well()


async def test_substitute_plays_the_neutral_move_and_the_third_strike_loses(table):
    ann, _ben = await table.two()
    misbehave(ann, lambda decision: ["nonsense"])
    record = await table.play(table.spec(policy="substitute:3"))
    assert record.closing["end"] == "rules"
    assert len([line for line in record.moves if line.get("by") == "referee"]) == 1
    assert len(ann.of("decision_expired")) == 1
    ann.choose = lambda decision: ["nonsense"]
    record = await table.play(table.spec(policy="substitute:3"))
    assert record.closing["end"] == "illegal_move"
    await ann.until_told("decision_expired", 4)
    ann.choose = ann.random_move
    await table.all_is_well()


async def test_with_three_players_the_others_finish_a_real_game_without_the_one_that_failed(table):
    bots = [await table.bot(name).connect() for name in ("ann", "ben", "cid")]
    misbehave(bots[1], lambda decision: ["nonsense"])
    record = await table.play(table.spec("ann", "ben", "cid"))
    assert record.closing["end"] == "rules"
    assert record.closing["places"][1] == 3
    await bots[1].until_told("match_ended")
    left = bots[1].of("match_ended")
    assert [(e.ending, list(e.places), e.seed) for e in left] == [("illegal_move", [], "")]
    assert (await bots[0].until_told("match_ended")).seed
    bots[1].choose = bots[1].random_move
    await table.all_is_well("ann", "ben", "cid")


async def test_time_in_which_the_node_stood_still_is_not_charged_to_a_bot(table):
    ann, _ = await table.two()
    misbehave(ann, lambda decision: time.sleep(1.0) or ann.random_move(decision))
    record = await table.play(table.spec(clock="60s+1s/500ms"))
    assert record.closing["end"] == "rules", "node and bot share a loop here: the sleep stops both"
    assert max(line["credit"] for line in record.moves) > 500_000
