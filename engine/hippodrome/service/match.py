"""One running match: the referee's decisions go to the sessions, their answers and the clock go to the referee.

Nothing here waits. The match moves on when a session brings an answer, when its one timer fires or when a bot comes,
goes or dies; whoever runs it waits for `done`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from hippodrome.engine.chance import bot_seed
from hippodrome.engine.game import Game
from hippodrome.engine.reasons import Refusal
from hippodrome.engine.record import Record
from hippodrome.engine.referee import Decision, MatchSpec, Receipt, Referee, Verdict
from hippodrome.service import convert
from hippodrome.service.pulse import Pulse
from hippodrome.service.session import Session

UNASKED_LIMIT: Final = 50
"""Answers of a seat in one match that nobody asked for; one more is judged as an illegal move."""
ANSWER_CHARACTERS: Final = 200
"""What a record keeps of an answer that failed, so no more is judged: the verifier then sees what the referee saw."""
TIMER_SLACK: Final = 10_000
"""Microseconds the timer waits beyond a limit, so that an answer that already lies in the socket is read first."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """`grace` and `credit_cap` in microseconds."""

    grace: int
    credit_cap: int


class Place:
    """A seat in a running match and the session that plays it; None when its bot is not here, then `gone` says why."""

    __slots__ = ("credit", "gone", "match", "opened", "seat", "seen", "sent", "session", "stalled", "unasked")

    def __init__(self, match: Match, seat: int, session: Session | None) -> None:
        self.match, self.seat, self.session = match, seat, session
        self.gone: tuple[str, str] | None = None
        """Fault and reason by which each further decision is judged at once."""
        self.seen = 0
        """Number of the last decision that the bot was asked."""
        self.opened = 0
        """When the open decision was opened, microseconds of the match."""
        self.sent: int | None = None
        """When it was first handed to the transport."""
        self.credit = 0
        self.stalled = 0
        """The node's standstill when the decision was opened."""
        self.unasked = 0

    @property
    def away(self) -> bool:
        return self.session is None or not self.session.here

    @property
    def clock_start(self) -> int:
        """From when the open decision is charged: handed to the transport, or opened while the bot could not be told."""
        return self.opened if self.sent is None else self.sent

    def handed_over(self, now: int) -> None:
        """The transport takes the decision; `now` in monotonic nanoseconds. A repeated one goes on with its clock."""
        if self.sent is None:
            self.sent = self.match.since_start(now)


class Match:
    """`seats` gives the session of each seat, or the fault and reason of a bot that is not here. With `withhold_seed` the bots
    are not told the seed at the end."""

    def __init__(
        self,
        spec: MatchSpec,
        game: Game,
        fence: int,
        seats: Mapping[int, Session | tuple[str, str]],
        limits: Limits,
        pulse: Pulse,
        withhold_seed: bool = False,
    ) -> None:
        self.spec, self.game, self.fence = spec, game, fence
        self.done: asyncio.Future[Record] = asyncio.get_running_loop().create_future()
        """The record, or the Refusal that says why the attempt is void."""
        self.moves = 0
        self.places = [Place(self, seat, None) for seat in range(len(spec.seats))]
        self._limits, self._pulse = limits, pulse
        self._decisions = convert.Decisions(spec.match, game.name)
        self._told_seed = "" if withhold_seed else spec.seed.hex()
        self._loop = asyncio.get_running_loop()
        self._began = time.monotonic_ns()
        self._queue: deque[str] = deque()
        self._queue_seat = -1
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due = 0
        self._begun = False
        self._referee: Referee
        for seat, who in seats.items():
            self._seat(self.places[seat], who)

    def _seat(self, place: Place, who: Session | tuple[str, str]) -> None:
        if isinstance(who, Session):
            place.session = who
            who.places[self.spec.match] = place
        else:
            place.gone = who

    # What happens to a match

    def begin(self) -> None:
        """Deal, tell the bots, open the first decision."""
        self._begun = True
        self._safely(self._begin)

    def answer(self, place: Place, number: int, moves: list[str], now: int) -> bool:
        """Judge an answer that arrived at `now` (monotonic nanoseconds). False if nobody asked for it: it is only counted."""
        asked = None if self.done.done() or not self._begun else self._referee.decision
        if asked is None or asked.number != number or asked.seat != place.seat or place.seen != number:
            self._safely(self._note_unasked, place)
            return False
        self._safely(self._answer, place, asked, moves or [""], self.since_start(now))
        return True

    def seat_away(self, place: Place) -> None:
        """The stream of the seat broke: its clock goes on, the grace clock starts."""
        self._safely(self._rearm)

    def tell_again(self, place: Place) -> None:
        """The session is back on a new stream: the match, and its open decision with the same number."""
        self._safely(self._tell_again, place)

    def seat_gone(self, place: Place, kind: str, reason: str) -> None:
        """The bot of the seat is gone for good, for example `crash` with its exit status."""
        place.gone = (kind, reason)
        self._safely(self._settle_gone)

    def drop(self, refusal: Refusal) -> None:
        """The attempt is void: nothing is said about the bots."""
        if self.done.done():
            return
        self._close()
        for place in self.places:
            self._farewell(place, convert.match_left(self.spec.match, "infrastructure", refusal.message))
        self.done.set_exception(refusal)
        self.done.exception()

    def since_start(self, now: int) -> int:
        """Monotonic nanoseconds as microseconds of this match."""
        return (now - self._began) // 1000

    # Steps

    def _safely(self, step: Callable[..., None], *args: object) -> None:
        """Run a step; an error in the game or in here voids the attempt and blames no bot."""
        if self.done.done() or not self._begun:
            return
        try:
            step(*args)
        except Exception as error:
            log.exception("%s: fence %d", self.spec.match, self.fence)
            text = f"{type(error).__name__}: {error}"[:300]
            self.drop(Refusal("GAME_FAILED", f"{self.spec.match}: {text}", match=self.spec.match, error=text))

    def _begin(self) -> None:
        self._referee = Referee(self.spec, self.game)
        for place in self.places:
            self._tell_started(place)
        self._advance()

    def _tell_started(self, place: Place) -> None:
        if place.session is not None:
            place.session.send(convert.match_started(self.spec, place.seat, bot_seed(self.spec.seed, place.seat)))

    def _answer(self, place: Place, asked: Decision, moves: list[str], received: int) -> None:
        # Behind another answer of its frame, one can have come before its decision was opened.
        took = max(0, received - place.clock_start)
        receipt = Receipt(place.clock_start, place.clock_start + took, min(self._credit(place), took))
        if place.session is not None and place.sent is not None:
            place.session.note_time(took)
        self._queue_seat = place.seat
        self._queue.clear()
        self._queue.extend(moves[1:])
        self._judge(place, asked, moves[0], receipt)
        self._advance()

    def _judge(self, place: Place, asked: Decision, text: str, receipt: Receipt) -> None:
        text = text[:ANSWER_CHARACTERS]
        verdict = self._referee.answer(text, receipt)
        if place.session is not None:
            place.session.asked.pop(place, None)
        if verdict.kind == "accepted":
            self.moves = asked.number
        else:
            self._report(place, asked.number, verdict, text)

    def _fail(self, place: Place, asked: Decision, kind: str, reason: str, receipt: Receipt) -> None:
        if place.session is not None:
            place.session.asked.pop(place, None)
        self._report(place, asked.number, self._referee.fail(kind, reason, receipt), "")

    def _report(self, place: Place, number: int, verdict: Verdict, text: str) -> None:
        """Tell the bot what became of an answer that was not accepted."""
        match = self.spec.match
        self._queue.clear()
        if place.session is None:
            return
        if verdict.kind == "rejected":
            place.session.send(convert.move_rejected(match, number, text, verdict.section, verdict.reason))
            return
        place.session.send(convert.decision_expired(match, number, verdict.reason))
        if self._referee.result is None and any(fault.seat == place.seat for fault in self._referee.faults):
            self._farewell(place, convert.match_left(match, verdict.fault, verdict.reason))

    def _advance(self) -> None:
        """Go on until a bot has to think or the match is over."""
        while (asked := self._referee.decision) is not None:
            place = self.places[asked.seat]
            if place.seat != self._queue_seat:
                self._queue.clear()
            if not self._settled(place, asked):
                self._ask(place, asked)
                return
        self._finish()

    def _settled(self, place: Place, asked: Decision) -> bool:
        """Whether the decision could be judged without asking: the bot is gone, or has answered ahead, at no time."""
        if place.gone is None and not self._queue and place.unasked <= UNASKED_LIMIT:
            return False
        now = self.since_start(time.monotonic_ns())
        if place.gone is not None:
            self._fail(place, asked, *place.gone, Receipt(now, now))
        elif place.unasked > UNASKED_LIMIT:
            self._judge(place, asked, f"({UNASKED_LIMIT + 1} answers that nobody asked for)", Receipt(now, now))
        else:
            self._judge(place, asked, self._queue.popleft(), Receipt(now, now))
        return True

    def _ask(self, place: Place, asked: Decision) -> None:
        """Open the decision: its clock starts when the writer takes it, or now if the bot is away."""
        place.opened, place.sent = self.since_start(time.monotonic_ns()), None
        place.stalled = self._pulse.stalled()
        place.seen = asked.number
        self._send_decision(place, asked, asked.bank, asked.limit)
        self._rearm()

    def _send_decision(self, place: Place, asked: Decision, bank: int, limit: int) -> None:
        if place.session is not None and place.session.here:
            view = self._referee.state.view(asked.seat)
            place.session.send(self._decisions.event(asked, view, bank, limit), place)

    def _tell_again(self, place: Place) -> None:
        self._tell_started(place)
        asked = self._referee.decision
        if asked is not None and asked.seat == place.seat:
            used = self.since_start(time.monotonic_ns()) - place.clock_start
            self._send_decision(place, asked, max(0, asked.bank - used), max(0, asked.limit - used))
            self._rearm()

    def _note_unasked(self, place: Place) -> None:
        place.unasked += 1
        asked = self._referee.decision
        if place.unasked == UNASKED_LIMIT + 1 and asked is not None and asked.seat == place.seat:
            self._advance()

    def _settle_gone(self) -> None:
        asked = self._referee.decision
        place = self.places[asked.seat] if asked is not None else None
        if asked is not None and place is not None and place.gone is not None:
            self._fail(place, asked, *place.gone, Receipt(place.clock_start, self.since_start(time.monotonic_ns())))
            self._advance()

    # Time

    def _credit(self, place: Place) -> int:
        """What is taken off an answer's time: the shortest answer seen on this session, for its round trip cannot be
        longer (nothing on loopback, never over the cap), and the time in which the node stood still."""
        session = place.session
        network = 0 if session is None or session.loopback else min(session.fastest, self._limits.credit_cap)
        return network + self._pulse.stalled() - place.stalled

    def _due(self, place: Place, asked: Decision, credit: int) -> int:
        """When the open decision runs out, in microseconds of the match."""
        clock = place.clock_start + asked.limit + credit
        if place.session is None or place.session.here:
            return clock
        return min(clock, max(self.since_start(place.session.away_since) + self._limits.grace, place.opened))

    def _rearm(self) -> None:
        """One timer a match: it is moved only when it would fire too late, else it looks again when it fires."""
        asked = self._referee.decision
        if asked is None:
            return
        place = self.places[asked.seat]
        if self._timer is not None and not place.away and self._timer_due <= place.clock_start + asked.limit:
            return
        due = self._due(place, asked, self._credit(place)) + TIMER_SLACK
        if self._timer is None or due < self._timer_due:
            self._set_timer(due)

    def _set_timer(self, due: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = due
        wait = due - self.since_start(time.monotonic_ns())
        self._timer = self._loop.call_later(max(0, wait) / 1e6, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._safely(self._look_at_clock)

    def _look_at_clock(self) -> None:
        asked = self._referee.decision
        if asked is None:
            return
        place, now = self.places[asked.seat], self.since_start(time.monotonic_ns())
        credit = self._credit(place)
        if now <= self._due(place, asked, credit):
            self._rearm()
            return
        receipt = Receipt(place.clock_start, now, min(credit, now - place.clock_start))
        self._fail(place, asked, *self._why_late(place, asked), receipt)
        self._advance()

    def _why_late(self, place: Place, asked: Decision) -> tuple[str, str]:
        if not place.away:
            return "timeout", f"no answer within {asked.limit / 1e6:.3f} s"
        return "disconnect", f"the bot was away when its time or the grace of {self._limits.grace / 1e6:g} s ran out"

    # The end

    def _finish(self) -> None:
        result, record = self._referee.result, self._referee.record
        assert result is not None
        assert record is not None
        self._close()
        for place in self.places:
            self._farewell(place, convert.match_ended(self.spec.match, result, self._told_seed))
        self.done.set_result(record)

    def _farewell(self, place: Place, event: bytes) -> None:
        session, place.session = place.session, None
        if session is not None:
            session.send_farewell(self.spec.match, event)

    def _close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
