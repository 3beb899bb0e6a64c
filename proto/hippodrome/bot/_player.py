"""The matches of one process: events of the engine in, events of the bot out. No I/O and no clock.

The live session, the fake referee and the tests drive this same object.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Final

from hippodrome.bot._bot import Bot, checked, crash, is_async
from hippodrome.bot._errors import BotError
from hippodrome.bot._types import (
    MatchInfo,
    MatchResult,
    Turn,
    WireSource,
    keeps_commitment,
    lost_match,
    match_info,
    match_result,
)
from hippodrome.v1.play_service_pb2 import (
    Answer,
    BotEvent,
    Decision,
    DecisionExpired,
    Draining,
    EngineEvent,
    Invitation,
    MatchEnded,
    MatchStarted,
    MoveRejected,
    PlayResponse,
    Welcome,
)

log = logging.getLogger("hippodrome.bot")


class Place:
    """One match of this process: the bot's instance and its last answer. `broken` once the bot has failed in it."""

    __slots__ = ("answered", "bot", "broken", "info", "number", "thinking")

    bot: Bot

    def __init__(self, info: MatchInfo) -> None:
        self.info = info
        self.number = 0
        self.answered: BotEvent | None = None
        self.broken = False
        self.thinking: asyncio.Task[None] | None = None


class Player:
    """Plays for one kind of bot. `send` is called with answers that are ready only after `take` has returned, `stop` when the
    bot has failed and nothing more shall be answered."""

    def __init__(
        self,
        kind: type[Bot],
        *,
        send: Callable[[BotEvent], None],
        stop: Callable[[], None],
        keep_going: bool = False,
        invited: Callable[[Invitation], None] | None = None,
    ) -> None:
        self.kind = kind
        self.welcome: Welcome | None = None
        """Of the newest stream."""
        self.draining = False
        self.places: dict[str, Place] = {}
        self.ended: dict[str, int] = {}
        """Endings -> how often."""
        self.failure: BotError | None = None
        """The first fault of the bot; the session ends unless `keep_going`."""
        self._send, self._stop, self._keep_going, self._follow = send, stop, keep_going, invited
        self._later = is_async(kind) or kind.threads
        self._async = is_async(kind)

    @property
    def stopped(self) -> bool:
        """Whether the bot has failed and nothing more shall be answered."""
        return self.failure is not None and not self._keep_going

    def take(self, frame: PlayResponse) -> list[BotEvent]:
        """Handle all events of a frame; the answers to it. Events that are not known are ignored."""
        answers: list[BotEvent] = []
        for event in frame.events:
            answer = self._event(event)
            if answer is not None:
                answers.append(answer)
            if self.stopped:
                break
        return answers

    def _event(self, event: EngineEvent) -> BotEvent | None:
        name = event.WhichOneof("event")
        if name == "decision":
            return self._decide(event.decision)
        handler = _HANDLERS.get(name or "")
        if handler is not None:
            handler(self, getattr(event, name or ""))
        return None

    def _welcomed(self, welcome: Welcome) -> None:
        self.welcome, self.draining = welcome, False
        log.info("connected to %s as %s%s", welcome.node, welcome.bot_version, " again" if welcome.resumed else "")
        if not welcome.resumed:
            self.forget_all()

    def forget_all(self) -> None:
        """The service does not know the matches under way any more: they are over, `lost`."""
        for place in list(self.places.values()):
            self._finish(place, lost_match(place.info))

    def _started(self, started: MatchStarted) -> None:
        if started.match in self.places:
            return
        info = match_info(started)
        log.info("%s: %s, seat %d of %s", info.match, info.ruleset, info.seat, ", ".join(info.bots))
        place = self.places[info.match] = Place(info)
        try:
            place.bot = self.kind()
            place.bot.start(info)
        except (Exception, SystemExit) as error:
            self._break(place, crash(self.kind, error, "start"))

    def _decide(self, decision: Decision) -> BotEvent | None:
        place = self.places.get(decision.match)
        if place is None or place.broken:
            return None
        if place.number == decision.number:
            return place.answered
        turn = Turn(place.info, decision.number, tuple(decision.legal_moves), WireSource(decision))
        place.number, place.answered = decision.number, None
        if self._later:
            place.thinking = asyncio.create_task(self._think(place, turn, place.thinking))
            return None
        return self._answer(place, turn, lambda: place.bot.move(turn))

    def _answer(self, place: Place, turn: Turn, choose: Callable[[], Any]) -> BotEvent | None:
        try:
            moves = checked(self.kind, turn, choose())
        except BotError as error:
            self._break(place, error)
        except (Exception, SystemExit) as error:
            self._break(place, crash(self.kind, error, "move"))
        else:
            answer = BotEvent(answer=Answer(match=turn.match.match, decision=turn.number, moves=moves))
            if place.number == turn.number:
                place.answered = answer
            return answer
        return None

    async def _think(self, place: Place, turn: Turn, before: asyncio.Task[None] | None) -> None:
        """Answer when the bot has; one decision of a match after the other, for the instance is one."""
        if before is not None:
            await asyncio.wait([before])
        outcome = await self._outcome(place, turn)
        answer = self._answer(place, turn, lambda: _given(outcome))
        if answer is not None and place.number == turn.number and self.places.get(place.info.match) is place:
            self._send(answer)

    async def _outcome(self, place: Place, turn: Turn) -> Any:
        """What the bot chose, or the error that it let through."""
        try:
            given = place.bot.move(turn) if self._async else in_thread(place.bot.move, turn)
            return await given if isinstance(given, Awaitable) else given
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return crash(self.kind, error, "move")
        except (Exception, SystemExit) as error:
            return error

    def _rejected(self, rejected: MoveRejected) -> None:
        """The decision comes again, with the same number: the kept answer is no answer."""
        log.warning("%s decision %d: %r rejected: %s", rejected.match, rejected.number, rejected.move, rejected.reason)
        place = self.places.get(rejected.match)
        if place is not None:
            place.number, place.answered = 0, None

    def _expired(self, expired: DecisionExpired) -> None:
        log.warning("%s decision %d: %s", expired.match, expired.number, expired.reason)

    def _ended(self, ended: MatchEnded) -> None:
        place = self.places.get(ended.match)
        if place is not None:
            self._finish(place, match_result(ended, place.info.seat))

    def _finish(self, place: Place, result: MatchResult) -> None:
        del self.places[result.match]
        self.ended[result.ending] = self.ended.get(result.ending, 0) + 1
        log.info("%s: %s", result.match, _sentence(result))
        if not keeps_commitment(place.info, result):
            log.error("%s: the seed is not the one that was committed to", result.match)
        if place.broken:
            return
        try:
            place.bot.end(result)
        except (Exception, SystemExit) as error:
            self._fail(crash(self.kind, error, "end"))

    def _drain(self, draining: Draining) -> None:
        log.info("the node takes no new matches: %s", draining.reason)
        self.draining = True

    def _invited(self, invitation: Invitation) -> None:
        if self._follow is not None:
            self._follow(invitation)

    def _break(self, place: Place, error: BotError) -> None:
        place.broken = True
        self._fail(error)

    def _fail(self, error: BotError) -> None:
        if self.failure is None or self._keep_going:
            log.error("%s", error.report())
        self.failure = self.failure or error
        if self.stopped:
            self._stop()


_HANDLERS: Final[dict[str, Callable[[Player, Any], None]]] = {
    "welcome": Player._welcomed,
    "match_started": Player._started,
    "move_rejected": Player._rejected,
    "decision_expired": Player._expired,
    "match_ended": Player._ended,
    "draining": Player._drain,
    "invitation": Player._invited,
}


def in_thread(function: Callable[[Turn], Any], turn: Turn) -> asyncio.Future[Any]:
    """Call `function` in a thread of its own, which never keeps the process alive."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def work() -> None:
        try:
            result = function(turn)
        except BaseException as error:
            result = error
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, future, result)

    threading.Thread(target=work, name=f"move {turn.number} of {turn.match.match}", daemon=True).start()
    return future


def _settle(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():
        future.set_result(result)


def _given(outcome: Any) -> Any:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _sentence(result: MatchResult) -> str:
    place = f", place {result.place} of {len(result.places)}" if result.place else ""
    return f"{result.ending}{place}: {result.reason}"
