"""The referee: order of judgement, policies, forfeits of two to four seats, receipts; failing never pays."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hippodrome.engine.chance import commitment
from hippodrome.engine.clock import TimeControl
from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import Game
from hippodrome.engine.referee import ACCEPTED, MatchSpec, Policy, Receipt, Referee, SeatSpec
from hippodrome.engine.verify import verify

Start = Callable[..., Referee]
Finish = Callable[[Referee], Referee]
QUICK = Receipt(0, 1_000)
LATE = Receipt(0, 60_000_000)
NO_MOVE, NOT_NOW = "jump", "stop"
FAILURES: dict[str, Callable[[Referee], object]] = {
    "illegal": lambda referee: referee.answer(NOT_NOW, QUICK),
    "malformed": lambda referee: referee.answer(NO_MOVE, QUICK),
    "overlong": lambda referee: referee.answer("roll " * 50, QUICK),
    "late": lambda referee: referee.answer("roll", LATE),
    "silent": lambda referee: referee.fail("timeout", "no answer", LATE),
    "crash": lambda referee: referee.fail("crash", "exit code 1", QUICK),
    "disconnect": lambda referee: referee.fail("disconnect", "gone for 30 s", QUICK),
}


def roll_until(referee: Referee, seat: int) -> Referee:
    """Rolls for every seat until `seat` is to move."""
    while referee.decision is not None and referee.decision.seat != seat:
        referee.answer("roll", QUICK)
    return referee


@pytest.mark.parametrize("text", ["forfeit", "retry:1", "retry:999", "substitute:3"])
def test_a_policy_reads_back(text: str) -> None:
    assert str(Policy.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "forfeit:1",
        "forfeit:",
        "retry",
        "retry:",
        "retry:0",
        "retry:01",
        "retry:1000",
        "retry:-1",
        "retry:\u00b2",
        "replay:2",
        "Forfeit",
    ],
)
def test_a_text_that_is_no_policy_is_refused(text: str) -> None:
    with pytest.raises(FieldError) as caught:
        Policy.parse(text)
    assert caught.value.field == "policy"


def test_a_match_has_as_many_bots_as_its_ruleset(race: Game) -> None:
    seats = (SeatSpec("a", "bots/a/versions/1"),)
    with pytest.raises(FieldError, match="seats: 1 given for race-2p"):
        Referee(MatchSpec("m", race.ruleset(2), seats, TimeControl(1), Policy(), bytes(32)), race)


def test_a_match_without_faults_ends_by_the_rules(start: Start, play_on: Finish) -> None:
    referee = play_on(start(players=3))
    assert referee.result is not None
    assert referee.record is not None
    assert (referee.result.ending, referee.result.faults) == ("rules", ())
    assert referee.result.scores == tuple(referee.state.outcome().scores)  # type: ignore[union-attr]
    assert referee.record.header["commitment"] == commitment(referee.spec.seed)
    assert referee.record.closing["seed"] == referee.spec.seed.hex()
    with pytest.raises(RuntimeError, match="no open decision"):
        referee.answer("roll", QUICK)
    with pytest.raises(RuntimeError, match="no open decision"):
        referee.fail("crash", "", QUICK)


def test_decisions_are_numbered_and_carry_the_clock(start: Start) -> None:
    referee = start(clock="10s+5ms@1s")
    assert referee.decision is not None
    assert (referee.decision.number, referee.decision.seat, referee.decision.limit) == (1, 0, 11_000_000)
    assert referee.decision.last_charge is None
    assert referee.answer("roll", Receipt(0, 1_500_000)) is ACCEPTED
    referee.answer("roll", QUICK)
    assert (referee.decision.number, referee.decision.seat) == (3, 0)
    assert (referee.decision.bank, referee.decision.limit) == (9_505_000, 9_505_000)
    assert next(line["bank"] for line in referee.lines if line.get("n") == 1) == 9_505_000
    charge: int | None = referee.decision.last_charge
    assert charge == 500_000


@pytest.mark.parametrize(
    ("text", "receipt", "fault", "reason"),
    [
        (NO_MOVE, LATE, "timeout", "answered after 60.000 s"),
        (NOT_NOW, LATE, "timeout", "answered after 60.000 s"),
        ("x" * 1000, LATE, "timeout", "answered after 60.000 s"),
        (NO_MOVE, QUICK, "illegal_move", "malformed: "),
        ("x" * 1000, QUICK, "illegal_move", "malformed: is longer than 200 characters"),
        (NOT_NOW, QUICK, "illegal_move", "stop is not legal: no card was played in this turn (§Push)"),
    ],
)
def test_order_of_judgement_late_then_malformed_then_illegal(
    start: Start, text: str, receipt: Receipt, fault: str, reason: str
) -> None:
    referee = start()
    verdict = referee.answer(text, receipt)
    assert (verdict.kind, verdict.fault) == ("expired", fault)
    assert verdict.reason.startswith(reason)
    assert referee.result is not None
    assert (referee.result.ending, referee.result.places) == (fault, (2, 1))
    assert referee.lines[-1]["answer"] == text[:201]


def test_an_illegal_answer_names_the_section(start: Start) -> None:
    assert start().answer(NOT_NOW, QUICK).section == "§Push"


@pytest.mark.parametrize(("kind", "took"), [("illegal_move", 1), ("rules", 1), ("", 1), ("timeout", 10_000_000)])
def test_a_seat_cannot_fail_for_what_it_did_not_do(start: Start, kind: str, took: int) -> None:
    """A timeout needs a limit that is over; an illegal move needs an answer."""
    referee = start()
    with pytest.raises(ValueError, match="fault: "):
        referee.fail(kind, "", Receipt(0, took))
    assert referee.decision is not None
    assert referee.clock.bank == [10_000_000, 10_000_000]


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failing_seat_loses_a_match_of_two(start: Start, failure: str) -> None:
    for seat in (0, 1):
        referee = roll_until(start(), seat)
        FAILURES[failure](referee)
        assert referee.result is not None
        assert referee.record is not None
        assert referee.decision is None
        assert referee.result.places == ((2, 1) if seat == 0 else (1, 2))
        assert referee.result.scores == ()
        assert [fault.seat for fault in referee.result.faults] == [seat]
        assert referee.result.reason.startswith(f"seat {seat}: ")


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("failure", FAILURES)
def test_a_failing_seat_of_more_than_two_ranks_last_and_is_played_on(
    start: Start, play_on: Finish, players: int, failure: str
) -> None:
    referee = roll_until(start(players=players), 1)
    FAILURES[failure](referee)
    assert referee.decision is not None
    assert referee.decision.seat == 2
    play_on(referee)
    assert referee.result is not None
    assert referee.record is not None
    assert referee.result.ending == "rules"
    assert referee.result.places[1] == players
    assert len(referee.result.scores) == players
    own = [line for line in referee.record.moves if line["seat"] == 1]
    assert [line["move"] for line in own if "by" not in line] == []
    assert {line["by"] for line in own} == {"referee"}
    assert {line["move"] for line in own} == {"roll"}


def test_the_first_to_fail_ranks_last_and_the_last_seat_standing_wins(start: Start) -> None:
    referee = start(players=4)
    for seat in (0, 1, 2):
        assert referee.decision is not None
        assert referee.decision.seat == seat
        referee.fail("crash", "exit code 1", QUICK)
    assert referee.result is not None
    assert referee.result.places == (4, 3, 2, 1)
    assert (referee.result.ending, referee.result.reason) == ("crash", "seat 2: exit code 1")
    assert [fault.seat for fault in referee.result.faults] == [0, 1, 2]


def test_two_of_four_may_fail_and_the_others_finish(start: Start, play_on: Finish) -> None:
    referee = start(players=4)
    referee.fail("disconnect", "gone", QUICK)
    roll_until(referee, 3).answer(NO_MOVE, QUICK)
    play_on(referee)
    assert referee.result is not None
    assert referee.result.ending == "rules"
    assert (referee.result.places[0], referee.result.places[3]) == (4, 3)
    assert sorted(referee.result.places[1:3]) in ([1, 1], [1, 2])


def test_retry_opens_the_same_decision_on_the_same_clock(start: Start) -> None:
    referee = start(policy="retry:2", clock="1s+10ms")
    verdict = referee.answer(NOT_NOW, Receipt(0, 300_000))
    assert (verdict.kind, verdict.fault, verdict.section) == ("rejected", "illegal_move", "§Push")
    assert referee.decision is not None
    assert (referee.decision.number, referee.decision.seat, referee.decision.limit) == (1, 0, 700_000)
    assert referee.answer(NO_MOVE, Receipt(0, 300_000)).kind == "rejected"
    assert referee.answer("roll", Receipt(0, 300_000)) is ACCEPTED
    assert referee.clock.bank[0] == 110_000
    assert referee.faults == []
    roll_until(referee, 0)
    assert referee.answer(NO_MOVE, QUICK).kind == "expired"
    assert referee.result is not None
    assert referee.result.ending == "illegal_move"


def test_retry_time_runs_out_within_the_same_clock(start: Start) -> None:
    referee = start(policy="retry:9", clock="1s")
    referee.answer(NO_MOVE, Receipt(0, 900_000))
    assert referee.answer("roll", Receipt(0, 100_001)).fault == "timeout"
    assert referee.result is not None
    assert referee.result.ending == "timeout"


def test_retries_are_counted_for_each_seat(start: Start) -> None:
    referee = start(policy="retry:1")
    for _ in range(2):
        assert referee.answer(NO_MOVE, QUICK).kind == "rejected"
        referee.answer("roll", QUICK)
    assert referee.answer(NO_MOVE, QUICK).kind == "expired"


@pytest.mark.parametrize("policy", ["retry:5", "substitute:5"])
@pytest.mark.parametrize("kind", ["crash", "disconnect"])
def test_a_seat_that_is_gone_fails_at_once_under_every_policy(start: Start, policy: str, kind: str) -> None:
    referee = start(policy=policy)
    referee.fail(kind, "gone", QUICK)
    assert referee.result is not None
    assert (referee.result.ending, referee.result.places) == (kind, (2, 1))


@pytest.mark.parametrize("failure", ["illegal", "malformed", "overlong", "late", "silent"])
def test_substitute_plays_the_neutral_move_until_the_last_strike(start: Start, failure: str) -> None:
    referee = start(policy="substitute:3", clock="10s+1s")
    for _ in range(2):
        roll_until(referee, 0)
        bank = referee.clock.bank[0]
        FAILURES[failure](referee)
        assert referee.result is None
        assert referee.clock.bank[0] <= bank
        move = next(line for line in reversed(referee.lines) if "move" in line)
        assert (move["seat"], move["move"], move["by"]) == (0, "roll", "referee")
    roll_until(referee, 0)
    FAILURES[failure](referee)
    assert referee.result is not None
    assert referee.result.places == (2, 1)
    assert len(referee.result.faults) == 1


def test_the_credit_of_the_network_is_taken_off_and_never_turns_into_time(start: Start) -> None:
    referee = start(clock="1s")
    assert referee.answer("roll", Receipt(5, 1_200_005, 250_000)) is ACCEPTED
    line = next(line for line in referee.lines if "move" in line)
    assert {k: line[k] for k in ("sent", "received", "credit", "charged", "bank")} == {
        "sent": 5,
        "received": 1_200_005,
        "credit": 250_000,
        "charged": 950_000,
        "bank": 50_000,
    }
    assert Receipt(0, 100, 500).took == 0
    referee.answer("roll", Receipt(0, 100, 500))
    assert referee.clock.bank[1] == 1_000_000


def test_the_first_seat_to_fail_on_its_own_seat_is_not_asked_again(start: Start) -> None:
    referee = start(players=3)
    referee.fail("crash", "exit code 1", QUICK)
    asked = set()
    while referee.decision is not None:
        asked.add(referee.decision.seat)
        referee.answer("roll", QUICK)
    assert asked == {1, 2}


deeds = st.lists(st.tuples(st.sampled_from(["move"] * 6 + list(FAILURES)), st.integers(0, 9)), min_size=1, max_size=60)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(2, 4),
    st.sampled_from(["forfeit", "retry:1", "retry:2", "substitute:1", "substitute:2"]),
    deeds,
    st.integers(0, 99),
)
def test_failing_never_pays(start: Start, players: int, policy: str, plan: list[tuple[str, int]], seed: int) -> None:
    """Whatever happens: who failed ranks behind everyone who did not, the first to fail last, and the record verifies."""
    referee = start(players=players, policy=policy, seed=seed)
    for deed, pick in itertools.cycle(plan):
        if referee.decision is None:
            break
        if deed == "move":
            referee.answer(referee.decision.legal[pick % len(referee.decision.legal)].text, QUICK)
        else:
            FAILURES[deed](referee)
        if all(name != "move" for name, _ in plan) and policy.startswith("retry") and len(referee.lines) > 1000:
            pytest.fail("a seat that only fails was asked for ever")
    assert referee.result is not None
    _assert_fair(referee)


def _assert_fair(referee: Referee) -> None:
    result: Any = referee.result
    failed, living = [fault.seat for fault in result.faults], set(range(len(result.places))) - {f.seat for f in result.faults}
    assert all(result.places[seat] > max((result.places[s] for s in living), default=0) for seat in failed)
    assert [result.places[seat] for seat in failed] == list(range(len(result.places), len(living), -1))
    assert len(set(failed)) == len(failed)
    assert living
    assert referee.record is not None
    assert verify(referee.record, referee.state.game).result == result


def test_a_late_answer_is_said_to_be_later_than_its_limit(start: Start) -> None:
    reason = start(clock="10s").answer("roll", Receipt(0, 10_000_001)).reason
    assert reason == "answered after 10.001 s, the limit was 10.000 s"
