"""The referee of one match. It does no I/O and reads no clock: it is told what a seat answered and how long that took.

The service, the local runner and the verifier drive this same object:

    referee = Referee(spec)
    while (decision := referee.decision) is not None:
        verdict = referee.answer(text, Receipt(sent, received, credit))     or referee.fail("timeout", reason, receipt)
    referee.record

Order of judgement of an answer: deadline, malformed, illegal, rules. An infrastructure fault comes before all of them:
whoever drives the referee then drops it, for such an attempt says nothing about the bots.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hippodrome.engine.chance import Chance, commitment
from hippodrome.engine.clock import Clock, TimeControl
from hippodrome.engine.errors import FieldError, InvalidMove
from hippodrome.engine.game import TABLE, Game, Move, Outcome, Ruleset, State
from hippodrome.engine.record import FORMAT, Line, Record, seal, state_hash

FAULTS: Final = ("illegal_move", "timeout", "crash", "disconnect")
"""The ways a seat can fail."""
ANSWER_MAX: Final = 200
"""An answer of more characters is malformed; records keep no more of it than what shows that."""
POLICIES: Final = ("forfeit", "retry:N", "substitute:N")


@dataclass(frozen=True, slots=True)
class SeatSpec:
    """Who sits there: the bot's name and the resource name of its version."""

    bot: str
    version: str


@dataclass(frozen=True, slots=True)
class Policy:
    """What follows a failed answer. Text form: `forfeit`; `retry:2` (a seat may repeat an illegal or malformed answer, twice in
    a match, within the same clock); `substitute:3` (the neutral move stands in, the third strike makes the seat fail)."""

    name: str = "forfeit"
    count: int = 0

    def __str__(self) -> str:
        return f"{self.name}:{self.count}" if self.count else self.name

    @staticmethod
    def parse(text: str) -> Policy:
        """Read the text form. Raises FieldError."""
        name, _, count = text.partition(":")
        if text == "forfeit" or (name in ("retry", "substitute") and re.fullmatch("[1-9][0-9]{0,2}", count)):
            return Policy(name, int(count or 0))
        raise FieldError("policy", f"{text!r} is not known", "write forfeit, retry:N or substitute:N", POLICIES)


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """All that decides a match besides the answers. `seed` is 32 bytes."""

    match: str
    ruleset: Ruleset
    seats: tuple[SeatSpec, ...]
    clock: TimeControl
    policy: Policy
    seed: bytes

    def checked(self) -> MatchSpec:
        """Itself. Raises FieldError when the number of seats is not the ruleset's."""
        if len(self.seats) != self.ruleset.players:
            raise FieldError("seats", f"{len(self.seats)} given for {self.ruleset}", f"name {self.ruleset.players} bots")
        return self


@dataclass(frozen=True, slots=True)
class Receipt:
    """When a decision was handed to the transport and its answer arrived (microseconds since the match began), and the
    round trip of the network that the server measured and takes off, `credit`."""

    sent: int
    received: int
    credit: int = 0

    @property
    def took(self) -> int:
        return max(0, self.received - self.sent - self.credit)


@dataclass(frozen=True, slots=True)
class Decision:
    """Seat `seat` must choose one of `legal` now. `number` counts decisions from 1. `limit` is in microseconds."""

    number: int
    seat: int
    legal: Sequence[Move]
    bank: int
    last_charge: int | None
    limit: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer led to: `accepted`, `rejected` (the same decision is open again), `expired` (the seat failed)."""

    kind: str
    fault: str = ""
    section: str = ""
    reason: str = ""


ACCEPTED: Final = Verdict("accepted")


@dataclass(frozen=True, slots=True)
class Fault:
    """Seat `seat` failed at decision `number`."""

    seat: int
    number: int
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Result:
    """How a match ended. `ending` is `rules` or the kind of the fault that ended it; `places` by seat, 1 is best;
    `scores` by seat, empty when the rules did not get to count them."""

    ending: str
    reason: str
    places: tuple[int, ...]
    scores: tuple[int, ...]
    faults: tuple[Fault, ...]
    moves: int


class Referee:
    """One match. `decision` is the open decision, None when the match is over and `result` and `record` are there."""

    def __init__(self, spec: MatchSpec, game: Game) -> None:
        self.spec = spec.checked()
        self._chance = Chance(spec.seed)
        self.state: State = game.new_state(spec.ruleset, self._chance)
        self.clock = Clock(spec.clock, len(spec.seats))
        self.lines: list[Line] = [_header(spec, game)]
        self.faults: list[Fault] = []
        """The faults that made a seat fail, in order."""
        self.result: Result | None = None
        self.record: Record | None = None
        self.decision: Decision | None = None
        self._game = game
        self._strikes = [0] * len(spec.seats)
        self._failed: set[int] = set()
        self._number = 0
        self._note_chance()
        self._next()

    def answer(self, text: str, receipt: Receipt) -> Verdict:
        """Judge `text` as the answer to the open decision."""
        decision = self._open()
        if not self.clock.charge(decision.seat, receipt.took):
            return self._fault("timeout", "", _late(decision, receipt), receipt, text)
        try:
            move = self._parse(text)
        except InvalidMove as error:
            return self._fault("illegal_move", "", f"malformed: {error.reason}", receipt, text)
        if not self.state.is_legal(move):
            section, reason = self.state.explain(move)
            return self._fault("illegal_move", section, f"{move} is not legal: {reason} ({section})", receipt, text)
        self._accept(move, receipt)
        return ACCEPTED

    def fail(self, kind: str, reason: str, receipt: Receipt) -> Verdict:
        """The seat gave no answer: `kind` is `timeout`, `crash` or `disconnect`. The clock takes the time all the same.

        Raises ValueError for a kind that is none of these, and for a timeout while there is time left.
        """
        decision = self._open()
        if kind not in FAULTS[1:] or (kind == "timeout" and receipt.took <= decision.limit):
            raise ValueError(f"fault: {kind!r} after {receipt.took} us with a limit of {decision.limit} us")
        self.clock.charge(decision.seat, receipt.took)
        return self._fault(kind, "", reason, receipt, None)

    def _parse(self, text: str) -> Move:
        """An over-long answer never reaches the game: what the record keeps of it must be judged the same way again."""
        if len(text) > ANSWER_MAX:
            raise InvalidMove(text, f"is longer than {ANSWER_MAX} characters")
        return self._game.parse(text)

    def _open(self) -> Decision:
        if self.decision is None:
            raise RuntimeError("the match is over: there is no open decision")
        return self.decision

    def _accept(self, move: Move, receipt: Receipt) -> None:
        decision = self._open()
        self.state.apply(move)
        self.clock.reward(decision.seat)
        self.lines.append(
            {
                "n": decision.number,
                "seat": decision.seat,
                "move": move.text,
                **self._times(decision.seat, receipt),
                "hash": state_hash(self.state.key()),
            }
        )
        self._note_chance()
        self._next()

    def _fault(self, kind: str, section: str, reason: str, receipt: Receipt, answer: str | None) -> Verdict:
        """Record a failed answer and do what the policy says."""
        decision = self._open()
        line: Line = {"n": decision.number, "seat": decision.seat, "fault": kind, "reason": reason}
        if answer is not None:
            line["answer"] = answer[: ANSWER_MAX + 1]
        self.lines.append(line | self._times(decision.seat, receipt))
        self._strikes[decision.seat] += 1
        if self._retries(kind, decision.seat):
            self._offer()
            return Verdict("rejected", kind, section, reason)
        if not self._substitutes(kind, decision.seat):
            self._forfeit(Fault(decision.seat, decision.number, kind, reason))
        if self.result is None:
            self._play_neutral()
            self._next()
        return Verdict("expired", kind, section, reason)

    def _retries(self, kind: str, seat: int) -> bool:
        policy = self.spec.policy
        return policy.name == "retry" and kind == "illegal_move" and self._strikes[seat] <= policy.count

    def _substitutes(self, kind: str, seat: int) -> bool:
        """Whether the neutral move stands in for this answer. A seat that crashed or is gone fails at once."""
        policy = self.spec.policy
        return policy.name == "substitute" and kind in ("illegal_move", "timeout") and self._strikes[seat] < policy.count

    def _forfeit(self, fault: Fault) -> None:
        self.faults.append(fault)
        self._failed.add(fault.seat)
        if len(self.spec.seats) - len(self._failed) <= 1:
            self._close(fault.kind, f"seat {fault.seat}: {fault.reason}", None)

    def _next(self) -> None:
        """Play for failed seats until a living one must choose or the game is over."""
        while self.result is None:
            if self.state.to_move == TABLE:
                outcome = self.state.outcome()
                assert outcome is not None, "a state over has an outcome"
                self._close("rules", outcome.reason, outcome)
            elif self.state.to_move in self._failed:
                self._number += 1
                self._play_neutral()
            else:
                self._number += 1
                self._offer()
                return
        self.decision = None

    def _offer(self) -> None:
        seat, clock = self.state.to_move, self.clock
        legal = self.state.legal_moves()
        self.decision = Decision(self._number, seat, legal, clock.bank[seat], clock.charged[seat], clock.limit(seat))

    def _play_neutral(self) -> None:
        """The neutral policy plays on for the seat to move (documented at each game's `neutral_move`)."""
        seat, move = self.state.to_move, self.state.neutral_move()
        self.state.apply(move)
        hash_ = state_hash(self.state.key())
        self.lines.append({"n": self._number, "seat": seat, "move": move.text, "by": "referee", "hash": hash_})
        self._note_chance()

    def _note_chance(self) -> None:
        self.lines += [{"chance": name, "result": result} for name, result in self._chance.take_log()]

    def _times(self, seat: int, receipt: Receipt) -> Line:
        return {
            "sent": receipt.sent,
            "received": receipt.received,
            "credit": receipt.credit,
            "charged": self.clock.charged[seat],
            "bank": self.clock.bank[seat],
        }

    def _close(self, ending: str, reason: str, outcome: Outcome | None) -> None:
        moves = sum("move" in line for line in self.lines)
        scores = outcome.scores if outcome else ()
        places = _rank(len(self.spec.seats), outcome, self.faults)
        self.result = Result(ending, reason, places, scores, tuple(self.faults), moves)
        self.decision = None
        self.record = seal(self.lines, _closing(self.result, self.spec.seed))


def _rank(seats: int, outcome: Outcome | None, faults: Sequence[Fault]) -> tuple[int, ...]:
    """Places: the living by the rules, then the failed, the first to fail last of all: failing never gains a place."""
    failed = {fault.seat: order for order, fault in enumerate(faults)}
    keys = [(1, -failed[s]) if s in failed else (0, outcome.places[s] if outcome else 0) for s in range(seats)]
    return tuple(1 + sum(other < key for other in keys) for key in keys)


def _late(decision: Decision, receipt: Receipt) -> str:
    """Rounded so that the first number is the greater one."""
    return f"answered after {-(-receipt.took // 1000) / 1000:.3f} s, the limit was {decision.limit // 1000 / 1000:.3f} s"


def _header(spec: MatchSpec, game: Game) -> Line:
    return {
        "record": FORMAT,
        "match": spec.match,
        "ruleset": str(spec.ruleset),
        "rules": game.rules_version,
        "seats": [{"bot": seat.bot, "version": seat.version} for seat in spec.seats],
        "clock": str(spec.clock),
        "policy": str(spec.policy),
        "commitment": commitment(spec.seed),
    }


def _closing(result: Result, seed: bytes) -> Line:
    return {
        "end": result.ending,
        "reason": result.reason,
        "places": list(result.places),
        "scores": list(result.scores),
        "faults": [{"seat": f.seat, "n": f.number, "kind": f.kind, "reason": f.reason} for f in result.faults],
        "moves": result.moves,
        "seed": seed.hex(),
    }
