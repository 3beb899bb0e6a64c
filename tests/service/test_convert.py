"""Messages as bytes: what is joined by hand is what protobuf would have written."""

from __future__ import annotations

import copy
import random

import pytest

from hippodrome.engine.clock import TimeControl
from hippodrome.engine.referee import MatchSpec, Policy, Receipt, Referee, SeatSpec
from hippodrome.games.registry import get_game, read_ruleset
from hippodrome.service import convert
from hippodrome.v1 import play_service_pb2 as v1


def start(ruleset: str) -> Referee:
    rules = read_ruleset(ruleset)
    seats = tuple(SeatSpec(f"b{seat}", f"bots/b{seat}/versions/1") for seat in range(rules.players))
    spec = MatchSpec("matches/m1", rules, seats, TimeControl.parse("60s+1ms/5s@2s"), Policy(), bytes(32))
    return Referee(spec, get_game(rules.game))


@pytest.mark.parametrize("ruleset", ["antiquity-2p", "antiquity-4p.power=true"])
def test_decisions_carry_the_whole_view_although_most_of_it_is_not_serialized_again(ruleset: str) -> None:
    referee, source, decisions = start(ruleset), random.Random(5), convert.Decisions("matches/m1", "antiquity")
    while (asked := referee.decision) is not None:
        view = referee.state.view(asked.seat)
        told = v1.EngineEvent.FromString(decisions.event(asked, view, asked.bank, asked.limit)).decision
        fresh = {"antiquity": copy.deepcopy(view)}
        expected = v1.Decision(match="matches/m1", number=asked.number, view=fresh)  # type: ignore[arg-type]
        expected.legal_moves.extend(move.text for move in asked.legal)
        expected.bank.FromMicroseconds(asked.bank)
        expected.limit.FromMicroseconds(asked.limit)
        if asked.last_charge is not None:
            expected.last_charge.FromMicroseconds(asked.last_charge)
        assert told == expected
        referee.answer(source.choice(asked.legal).text, Receipt(0, source.randrange(1_500)))


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16_383, 16_384, 3_000_000])
def test_a_frame_is_a_play_response_whatever_the_size_of_its_events(size: int) -> None:
    events = [v1.EngineEvent(draining=v1.Draining(reason=reason)) for reason in ("r" * size, "")]
    frame = convert.frame([event.SerializeToString() for event in events])
    assert list(v1.PlayResponse.FromString(frame).events) == events
