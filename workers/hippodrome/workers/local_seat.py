"""One seat of a local match: a bot in a thread of its own, so that a hang is a timeout and an exception a crash."""

from __future__ import annotations

import ctypes
import threading
import time
from dataclasses import dataclass
from datetime import timedelta
from queue import Empty, SimpleQueue
from typing import Any, Final

from google.protobuf.message import Message

from hippodrome.bot import Bot, BotError, MatchInfo, MatchResult
from hippodrome.bot.hosting import Hosted, game_view
from hippodrome.engine.game import State
from hippodrome.engine.referee import Decision
from hippodrome.v1.view_pb2 import View

_MARGIN: Final = 0.01
"""Seconds that an answer given in time may take to arrive here."""
_FAREWELL: Final = 2.0
"""Seconds that a bot may take over `end`."""


class _Stopped(BaseException):
    """Raised inside a bot that hangs."""


@dataclass(frozen=True, slots=True)
class Reply:
    """`moves` or `error`; `received` in monotonic nanoseconds, taken the moment the bot returned."""

    number: int
    received: int
    moves: list[str]
    error: BotError | None = None


class Look:
    """What a bot may ask about its decision; good only while the decision is open."""

    __slots__ = ("_decision", "_seat", "_state")

    def __init__(self, decision: Decision, state: State) -> None:
        self._decision, self._seat = decision, decision.seat
        self._state: State | None = state

    def view(self) -> Message:
        if self._state is None:
            raise RuntimeError("turn.view: the decision is over; fix: look at turn.view inside move()")
        return view_message(self._state, self._seat)

    def bank(self) -> timedelta:
        return timedelta(microseconds=self._decision.bank)

    def limit(self) -> timedelta:
        return timedelta(microseconds=self._decision.limit)

    def last_charge(self) -> timedelta | None:
        charge = self._decision.last_charge
        return None if charge is None else timedelta(microseconds=charge)

    def close(self) -> None:
        """The decision is over."""
        self._state = None


def view_message(state: State, seat: int) -> Message:
    """What `seat` sees, as the message that a bot gets over the wire."""
    tree: Any = {state.game.name: state.view(seat)}
    return game_view(View(**tree))


class SeatThread:
    """The thread of one bot in one match."""

    def __init__(self, kind: type[Bot], info: MatchInfo) -> None:
        self._kind, self._info = kind, info
        self._asked: SimpleQueue[tuple[Decision, Look] | MatchResult | None] = SimpleQueue()
        self._replies: SimpleQueue[Reply] = SimpleQueue()
        self._hangs = False
        self.ending: BotError | None = None
        """What went wrong in `end`: no fault of the match, but worth telling."""
        self._thread = threading.Thread(target=self._run, name=f"{info.match} seat {info.seat}", daemon=True)
        self._thread.start()

    def ask(self, decision: Decision, state: State) -> tuple[int, Reply | None]:
        """When the decision was handed over (monotonic nanoseconds) and the reply, None when none came within the limit."""
        look = Look(decision, state)
        sent = time.monotonic_ns()
        self._asked.put((decision, look))
        reply = self._wait(decision.number, sent / 1e9 + decision.limit / 1e6 + _MARGIN)
        look.close()
        self._hangs = reply is None
        if self._hangs:
            self._interrupt()
        return sent, reply

    def end(self, result: MatchResult) -> None:
        """Tell the bot, unless it hangs or has crashed; a thread that does not end is left behind."""
        self._asked.put(result)
        self._thread.join(0 if self._hangs else _FAREWELL)

    def drop(self) -> None:
        """Let the thread end: nothing more is asked."""
        self._asked.put(None)

    def _wait(self, number: int, until: float) -> Reply | None:
        """The reply to this decision; those to earlier ones came too late and are passed over."""
        while (left := until - time.monotonic()) > 0:
            try:
                reply = self._replies.get(timeout=left)
            except Empty:
                return None
            if reply.number in (number, 0):
                return reply
        return None

    def _interrupt(self) -> None:
        """Stop a loop of Python code; what waits inside C code goes on and is left behind."""
        if self._thread.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread.ident), ctypes.py_object(_Stopped))

    def _run(self) -> None:
        try:
            hosted = Hosted(self._kind, self._info)
        except BotError as error:
            self._replies.put(Reply(0, time.monotonic_ns(), [], error))
            return
        except _Stopped:
            return
        while True:
            try:
                if not self._serve(hosted):
                    return
            except _Stopped:
                continue

    def _serve(self, hosted: Hosted) -> bool:
        """One request; False after the last."""
        asked = self._asked.get()
        if asked is None:
            return False
        if isinstance(asked, MatchResult):
            self._farewell(hosted, asked)
            return False
        self._replies.put(_reply(hosted, *asked))
        return True

    def _farewell(self, hosted: Hosted, result: MatchResult) -> None:
        try:
            hosted.end(result)
        except BotError as error:
            self.ending = error


def _reply(hosted: Hosted, decision: Decision, look: Look) -> Reply:
    legal = tuple([move.text for move in decision.legal])
    try:
        moves, fault = hosted.move(decision.number, legal, look), None
    except BotError as error:
        moves, fault = [], error
    return Reply(decision.number, time.monotonic_ns(), moves, fault)
