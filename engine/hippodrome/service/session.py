"""One bot session: its states, its outbox, its places in matches. Streams come and go; the session stays.

States and what each event does to them are the table `NEXT`; proto/README.md shows it as a diagram.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hippodrome.engine.reasons import Refusal
from hippodrome.service import convert

if TYPE_CHECKING:
    from hippodrome.service.match import Place

FRAME_BYTES: Final = 65_536
"""A frame is closed when it is longer than this, so that no reader's limit is met."""
PATIENCE: Final = 5_000_000
"""Nanoseconds: as long as a bot was asked something less than this ago, more is kept back for one frame."""
UNREAD_EVENTS: Final = 1000
"""Answers that nobody asked for, in a row, after which the stream is closed."""

Outbox = deque[tuple[bytes, "Place | None"]]
OPENING, READY, LEAVING, AWAY, LEAVING_AWAY, CLOSED = "opening", "ready", "leaving", "away", "leaving_away", "closed"

NEXT: Final[dict[tuple[str, str], str]] = {
    (OPENING, "hello"): READY,
    (OPENING, "answer"): "HELLO_EXPECTED",
    (OPENING, "goodbye"): "HELLO_EXPECTED",
    (OPENING, "nothing"): "HELLO_EXPECTED",
    (OPENING, "returned"): "HELLO_EXPECTED",
    (READY, "hello"): "HELLO_REPEATED",
    (READY, "answer"): READY,
    (READY, "goodbye"): LEAVING,
    (READY, "nothing"): READY,
    (READY, "returned"): READY,
    (READY, "lost"): AWAY,
    (READY, "resumed"): READY,
    (LEAVING, "hello"): "HELLO_REPEATED",
    (LEAVING, "answer"): LEAVING,
    (LEAVING, "goodbye"): LEAVING,
    (LEAVING, "nothing"): LEAVING,
    (LEAVING, "returned"): LEAVING,
    (LEAVING, "lost"): LEAVING_AWAY,
    (LEAVING, "resumed"): LEAVING,
    (LEAVING, "idle"): CLOSED,
    (AWAY, "resumed"): READY,
    (AWAY, "forgotten"): CLOSED,
    (LEAVING_AWAY, "resumed"): LEAVING,
    (LEAVING_AWAY, "forgotten"): CLOSED,
    (LEAVING_AWAY, "idle"): CLOSED,
}
"""(state, event) -> the next state, or the reason (upper case) why the stream is refused.

`nothing` is an event without a member known here; `idle` says that no match is left."""

_REFUSALS: Final = {
    "HELLO_EXPECTED": "events[0]: the first event was {event!r}; fix: send hello first",
    "HELLO_REPEATED": "events: a second hello; fix: send it once, as the first event of the stream",
}


def step(state: str, event: str) -> str:
    """The state after `event`. Raises Refusal when the protocol does not allow it."""
    after = NEXT[state, event]
    if after.isupper():
        raise Refusal(after, _REFUSALS[after].format(event=event), event=event, state=state)
    return after


@dataclass(slots=True)
class Counters:
    """What a session has done: frames and answers in, answers nobody asked for, lost streams."""

    frames: int = 0
    answers: int = 0
    unasked: int = 0
    lost: int = 0


@dataclass(slots=True)
class Session:
    """A bot process. `places` are its seats in running matches, by match name: one seat a match."""

    token: str
    bot: str
    version: str
    capacity: int
    changed: Callable[[Session], None]
    """Called when a place became free."""
    state: str = READY
    stream: Stream | None = None
    away_since: int = 0
    """When the last stream broke, monotonic nanoseconds."""
    loopback: bool = True
    fastest: int = 0
    """The shortest time an answer took, in microseconds: no less than the round trip of the network. 0: none yet."""
    places: dict[str, Place] = field(default_factory=dict)
    outbox: Outbox = field(default_factory=deque)
    """Events to send; a place comes with those that start its clock."""
    farewells: list[bytes] = field(default_factory=list)
    """Matches that ended while the stream was away."""
    asked: dict[Place, int] = field(default_factory=dict)
    """Decisions the bot has to answer, and when it was given them (monotonic nanoseconds), the youngest last."""
    counters: Counters = field(default_factory=Counters)
    unasked_in_a_row: int = 0
    follows: bool = False
    """Whether the bot follows invitations to other nodes."""
    lent: int = 0
    """Places that it has taken there."""

    @property
    def here(self) -> bool:
        return self.stream is not None

    @property
    def free(self) -> int:
        """Matches it may still be given."""
        return self.capacity - self.lent - len(self.places) if self.state == READY else 0

    def send(self, event: bytes, clocked: Place | None = None) -> None:
        """Put an event into the outbox; while the stream is away it is dropped, for a resumed session is told all again."""
        if self.stream is not None:
            self.outbox.append((event, clocked))
            self.ring()

    def ring(self) -> None:
        """Have the outbox written: now, or in a moment if the bot was asked something else just now and will soon answer.

        Without this patience two sides that are equally fast settle at one event a frame. A bot that thinks for long about
        one match is not waited for: what it was asked lies too far back.
        """
        if self.stream is None or not self.outbox:
            return
        if self.stream.closing.done():
            self.stream.wake()
            return
        wait = next(reversed(self.asked.values())) + PATIENCE - time.monotonic_ns() if self.asked else 0
        if wait > 0:
            self.stream.wake_soon(wait)
        else:
            self.stream.wake()

    def send_farewell(self, match: str, event: bytes) -> None:
        """The last event of a match; kept for a bot that is away."""
        place = self.places.pop(match, None)
        if place is not None:
            self.asked.pop(place, None)
        if self.stream is not None:
            self.send(event)
        else:
            self.farewells.append(event)
        self.changed(self)

    def attach(self, stream: Stream, event: bytes) -> None:
        """Take a stream, say welcome and tell it everything that is under way."""
        if self.stream is not None:
            text = "session: a newer stream took it over; fix: keep one stream a session"
            self.stream.close(Refusal("STREAM_REPLACED", text))
        self.stream = stream
        self.outbox.clear()
        self.asked.clear()
        self.send(event)
        while self.farewells:
            self.send(self.farewells.pop(0))
        for place in list(self.places.values()):
            place.match.tell_again(place)

    def lose(self, stream: Stream, now: int) -> None:
        """The stream broke at `now` (monotonic nanoseconds), unless it had been replaced already. Clocks go on."""
        if self.stream is not stream:
            return
        self.stream, self.away_since = None, now
        self.counters.lost += 1
        self.outbox.clear()
        self.asked.clear()
        if self.state != CLOSED:
            self.state = step(self.state, "lost")
        for place in list(self.places.values()):
            place.match.seat_away(place)

    def note_time(self, took: int) -> None:
        """An answer took so long, in microseconds."""
        self.fastest = min(self.fastest or took, max(1, took))

    def take_outbox(self) -> Outbox:
        """All events that are ready."""
        ready, self.outbox = self.outbox, deque()
        return ready

    def take_frame(self, ready: Outbox, now: int) -> bytes:
        """The next frame of `ready`; `now` (monotonic nanoseconds) starts the clocks of the decisions in it."""
        events: list[bytes] = []
        size = 0
        while ready and size < FRAME_BYTES:
            event, place = ready.popleft()
            events.append(event)
            size += len(event)
            if place is not None:
                place.handed_over(now)
                self.asked[place] = now
        return convert.frame(events)

    def note_unasked(self) -> None:
        """Count an answer that nobody asked for. Raises Refusal after very many in a row."""
        self.counters.unasked += 1
        self.unasked_in_a_row += 1
        if self.unasked_in_a_row > UNREAD_EVENTS:
            text = f"events: over {UNREAD_EVENTS} answers in a row that nobody asked for; fix: answer open decisions only"
            raise Refusal("EVENT_FLOOD", text, answers=str(self.unasked_in_a_row))


class Stream:
    """One RPC of a session, as far as the session needs it: a bell for the writer, and a way to end it."""

    __slots__ = ("_bell", "_loop", "_soon", "closing", "writing_since")

    def __init__(self) -> None:
        self._bell = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._soon: asyncio.TimerHandle | None = None
        self.closing: asyncio.Future[Refusal | None] = self._loop.create_future()
        """Set when the stream is to end: with a refusal, or None for a good end."""
        self.writing_since = 0
        """When the write under way began, monotonic nanoseconds; 0 when there is none."""

    def wake(self) -> None:
        """There is something to write."""
        self._bell.set()

    def wake_soon(self, wait: int) -> None:
        """There will be more to write within `wait` nanoseconds."""
        if self._soon is None and not self._bell.is_set():
            self._soon = self._loop.call_later(wait / 1e9, self.wake)

    async def woken(self) -> None:
        """Wait until there is something to write."""
        await self._bell.wait()
        self._bell.clear()
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None

    def close(self, refusal: Refusal | None) -> None:
        """End the stream; the first call counts."""
        if not self.closing.done():
            self.closing.set_result(refusal)
            self.wake()

    def may_write(self, current: Stream | None) -> bool:
        """Whether frames still go out: this is the session's stream and was not refused."""
        return current is self and not (self.closing.done() and self.closing.result() is not None)

    def stuck(self, now: int, span: int) -> bool:
        """Whether one write has been under way for longer than `span` nanoseconds."""
        return 0 < self.writing_since < now - span
