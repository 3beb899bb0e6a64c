"""Matches that go well: the wire carries them as the referee wants."""

from __future__ import annotations

import asyncio

import pytest

from hippodrome.engine.chance import bot_seed, commitment
from hippodrome.engine.referee import MatchSpec


async def test_two_bots_play_a_match_to_a_record_that_verifies(table):
    ann, ben = await table.two()
    spec = table.spec()
    record = await table.play(spec)
    assert record.closing["end"] == "rules"
    assert [line["seat"] for line in record.moves] == [d.view.antiquity.seat for d in _by_number(ann, ben)]
    for seat, bot in enumerate((ann, ben)):
        ended = await bot.until_told("match_ended")
        started = bot.of("match_started")[0]
        assert (started.match, started.seat, started.ruleset) == (spec.match, seat, "antiquity-2p")
        assert [s.bot_version for s in started.seats] == ["bots/ann/versions/1", "bots/ben/versions/1"]
        assert started.bot_seed == bot_seed(spec.seed, seat)
        assert started.clock.bank.ToSeconds() == 60
        assert not started.clock.HasField("cap")
        assert commitment(bytes.fromhex(ended.seed)) == started.commitment
        assert (ended.ending, list(ended.places), list(ended.scores)) == (
            "rules",
            record.closing["places"],
            record.closing["scores"],
        )


def _by_number(*bots):
    decisions = {d.number: d for bot in bots for d in bot.of("decision")}
    return [decisions[number] for number in sorted(decisions)]


@pytest.mark.parametrize("players", [3, 4])
async def test_more_players_play_over_the_wire(table, players):
    names = ["ann", "ben", "cid", "dot"][:players]
    for name in names:
        await table.bot(name).connect()
    record = await table.play(table.spec(*names))
    assert record.closing["end"] == "rules"
    assert len(record.closing["places"]) == players


async def test_a_decision_tells_the_bank_and_what_the_last_answer_cost(table):
    ann, _ = await table.two()
    record = await table.play(table.spec(clock="60s+0s/10s@5s"))
    decisions, charged = ann.of("decision"), [line["charged"] for line in record.moves if line["seat"] == 0]
    assert decisions[0].limit.ToSeconds() == 15
    assert not decisions[0].HasField("last_charge")
    assert decisions[1].limit.ToSeconds() == 10
    assert [d.last_charge.ToMicroseconds() for d in decisions[1:]] == charged[:-1]
    assert [d.bank.ToMicroseconds() for d in decisions[1:]] == [line["bank"] for line in record.moves if line["seat"] == 0][:-1]


async def test_32_matches_share_one_stream_of_each_bot_and_its_frames(table):
    ann, ben = await table.bot("ann", max_matches=32).connect(), await table.bot("ben", max_matches=32, seed=2).connect()
    records = await asyncio.gather(*(table.play(table.spec()) for _ in range(32)))
    assert {record.closing["end"] for record in records} == {"rules"}
    assert len(ann.of("match_started")) == len(ben.of("match_started")) == 32
    await ann.until_told("match_ended", 32)
    assert ann.frames < len(ann.events) / 2, "a frame carries what many matches have to say"


async def test_several_moves_in_one_answer_are_played_at_no_time_and_dropped_at_the_end_of_the_turn(table):
    ann, ben = await table.two()
    ann.choose = ben.choose = lambda decision: [decision.legal_moves[decision.number * 7 % len(decision.legal_moves)]]
    spec = table.spec()
    runs = _lines_of_seat_0((await table.play(spec)).moves)
    assert max(len(run) for run in runs) > 1, "the game has turns of several moves"
    ann.events.clear()
    ann.choose = _whole_turns(runs, "draw")
    record = await table.play(_again(spec))
    assert len(ann.of("decision")) == len(runs), "one decision a turn was asked"
    queued = [line for run in _lines_of_seat_0(record.moves) for line in run[1:]]
    assert {(line["charged"], line["received"] - line["sent"]) for line in queued} == {(0, 0)}


def _again(spec: MatchSpec) -> MatchSpec:
    return MatchSpec(spec.match + "x", spec.ruleset, spec.seats, spec.clock, spec.policy, spec.seed)


def _lines_of_seat_0(moves):
    runs, last = [], None
    for line in moves:
        if line["seat"] == 0:
            if last != 0:
                runs.append([])
            runs[-1].append(line)
        last = line["seat"]
    return runs


def _whole_turns(runs, surplus):
    """One answer for each whole turn, with one move too many behind it."""
    turns = iter(runs)
    return lambda decision: [*(line["move"] for line in next(turns)), surplus]


async def test_moves_answered_ahead_are_judged_like_any_other(table):
    ann, _ = await table.two()
    ann.choose = lambda decision: [decision.legal_moves[0], "no such move"]
    record = await table.play(table.spec())
    assert record.closing["end"] == "illegal_move"
    assert record.closing["faults"][0]["seat"] == 0


async def test_a_bot_built_for_a_newer_protocol_may_send_fields_and_events_we_do_not_know(table, raw):
    ann, ben = await table.two()
    unknown_event, unknown_field = b"\xfa\x01\x03abc", b"\xf8\x01\x07"
    await ann.call.write(raw.v1.PlayRequest.FromString(b"\x0a\x06" + unknown_event + unknown_field))
    odd = raw.v1.Answer.FromString(unknown_field)

    def choose(decision):
        odd.match, odd.decision, odd.moves[:] = decision.match, decision.number, [ann.rng.choice(decision.legal_moves)]
        asyncio.get_running_loop().create_task(ann.send(raw.v1.BotEvent(answer=odd)))

    ann.choose = choose
    record = await table.play(table.spec())
    assert record.closing["end"] == "rules"
    assert b"\xf8\x01\x07" in odd.SerializeToString()
    assert not ben.ended


async def test_an_answer_that_came_before_its_decision_was_opened_took_no_time_and_never_less(table, raw):
    """Two answers in one frame: the second is there before the first has led to its decision."""
    ann, _ = await table.two()
    both = []

    def choose(decision):
        if "draw" not in decision.legal_moves:
            return ann.random_move(decision)
        both.append(decision.number)
        pair = [raw.answer(decision.match, number, "draw") for number in (decision.number, decision.number + 1)]
        asyncio.get_running_loop().create_task(ann.send(*pair))
        return None

    ann.choose = choose
    record = await table.play(table.spec())
    lines = {line["n"]: line for line in record.body if "sent" in line}
    assert both
    assert all(line["sent"] <= line["received"] and line["credit"] >= 0 for line in lines.values())
    assert any(lines[n + 1]["charged"] == 0 and lines[n + 1]["seat"] == 0 for n in both if n + 1 in lines)
