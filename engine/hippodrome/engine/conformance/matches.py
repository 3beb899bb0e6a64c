"""The check of whole matches: referee, record and verification, with seats that fail."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Final

from hippodrome.engine.clock import TimeControl
from hippodrome.engine.conformance.trial import Trial
from hippodrome.engine.errors import HippodromeError
from hippodrome.engine.record import dumps, loads
from hippodrome.engine.referee import MatchSpec, Policy, Receipt, Referee, SeatSpec
from hippodrome.engine.verify import positions, verify

_POLICIES: Final = ("forfeit", "retry:1", "retry:3", "substitute:1", "substitute:3")
_CLOCK: Final = TimeControl(2_000_000, 1_000, 1_000_000, 500_000)


def records_verify(trial: Trial) -> Iterator[str]:
    """Matches with and without failing seats, under every policy: the record reads back and verifies, the failed rank last."""
    for number, text in enumerate(_POLICIES):
        for failing in (0.0, 0.02, 0.3):
            source = random.Random(f"{trial.seed}/{number}/{failing}")
            try:
                yield from _match(trial, Policy.parse(text), failing, source)
            except HippodromeError as error:
                yield f"policy {text}: {error}"


def _match(trial: Trial, policy: Policy, failing: float, source: random.Random) -> Iterator[str]:
    seats = tuple(SeatSpec(f"bot{seat}", f"bots/bot{seat}/versions/1") for seat in range(trial.ruleset.players))
    referee = Referee(MatchSpec("trial", trial.ruleset, seats, _CLOCK, policy, source.randbytes(32)), trial.game)
    while referee.decision is not None:
        _answer(referee, trial, failing, source)
    record, result = referee.record, referee.result
    assert record is not None, "a match without an open decision is over"
    assert result is not None, "a match without an open decision is over"
    if loads(dumps(record)) != record:
        yield f"the record under {policy} does not read back"
    if verify(record, trial.game).result != result:
        yield f"the record under {policy} gives another result"
    if sum(1 for _ in positions(record, trial.game)) != result.moves + 1:
        yield f"the record under {policy} does not hold a position for each of its {result.moves} moves"
    failed = {fault.seat for fault in result.faults}
    if any(result.places[a] <= result.places[b] for a in failed for b in range(len(seats)) if b not in failed):
        yield f"a seat that failed under {policy} is not ranked behind those that did not: {result}"


def _answer(referee: Referee, trial: Trial, failing: float, source: random.Random) -> None:
    decision = referee.decision
    assert decision is not None
    quick, late = (Receipt(0, took) for took in (source.randrange(200), decision.limit + 1))
    move = source.choice(decision.legal).text
    illegal = trial.illegal(referee.state)
    faults: list[Callable[[], object]] = [
        lambda: referee.answer(move, late),
        lambda: referee.answer("no such move", quick),
        lambda: referee.answer("x" * 1000, late),
        lambda: referee.answer(source.choice(illegal).text if illegal else "", quick),
        lambda: referee.fail("timeout", "no answer", late),
        lambda: referee.fail("crash", "exit code 1", quick),
        lambda: referee.fail("disconnect", "gone", quick),
    ]
    source.choice(faults)() if source.random() < failing else referee.answer(move, quick)
