"""What a bot is told: the match, each turn, the result."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any, Protocol

from google.protobuf.message import Message

from hippodrome.bot._errors import ProtocolError
from hippodrome.v1.play_service_pb2 import Decision, MatchEnded, MatchStarted
from hippodrome.v1.view_pb2 import View


@dataclass(frozen=True, slots=True)
class ClockInfo:
    """The clock of every seat. `cap` is None when only the bank limits a decision."""

    bank: timedelta
    increment: timedelta
    cap: timedelta | None
    startup: timedelta


@dataclass(frozen=True, slots=True)
class MatchInfo:
    """A match that begins. `seat` counts from 0; `bots` are the names of all seats in order; `seed` is this seat's own, the
    same in each replay of the match; `commitment` is the SHA-256 of the match's seed in hex."""

    match: str
    ruleset: str
    seat: int
    bots: tuple[str, ...]
    clock: ClockInfo
    commitment: str
    seed: str

    @property
    def game(self) -> str:
        """The name of the game: the ruleset `antiquity-3p.power=true` is of `antiquity`."""
        return self.ruleset.partition(".")[0].rpartition("-")[0]

    @property
    def players(self) -> int:
        return len(self.bots)


@dataclass(frozen=True, slots=True)
class MatchResult:
    """How a match ended for this bot. `ending` is `rules`, `illegal_move`, `timeout`, `crash`, `disconnect`, `infrastructure`
    (says nothing about the bots; played again) or `lost` (the service forgot the match). `places` by seat, 1 is best, equal
    numbers share, empty after the last two; `scores` by seat, empty when the rules did not count; `seed` in hex, empty
    when the match goes on without this bot, or when other matches have the same seed: then it is in the record, later."""

    match: str
    seat: int
    ending: str
    reason: str
    places: tuple[int, ...]
    scores: tuple[int, ...]
    seed: str

    @property
    def place(self) -> int | None:
        """This bot's place, None when the match counts for nothing."""
        return self.places[self.seat] if self.places else None

    @property
    def won(self) -> bool:
        """Whether this bot alone is first."""
        return self.place == 1 and self.places.count(1) == 1


class Source(Protocol):
    """Where a turn gets what few bots ask for; built only when asked."""

    def view(self) -> Message: ...
    def bank(self) -> timedelta: ...
    def limit(self) -> timedelta: ...
    def last_charge(self) -> timedelta | None: ...


class Turn:
    """One decision: choose one of `legal` (texts in the game's notation, in a fixed order). `number` counts decisions of all
    seats from 1. The rest is made when first asked for."""

    def __init__(self, match: MatchInfo, number: int, legal: tuple[str, ...], source: Source) -> None:
        self.match, self.number, self.legal, self._source = match, number, legal, source

    @property
    def seat(self) -> int:
        """This bot's place at the table, from 0."""
        return self.match.seat

    @property
    def ruleset(self) -> str:
        """The ruleset in text form, for example `antiquity-3p`."""
        return self.match.ruleset

    @cached_property
    def view(self) -> Any:
        """What this seat sees: the message of the game, for example an AntiquityView. `view_dict` makes a tree of it."""
        return self._source.view()

    @cached_property
    def bank(self) -> timedelta:
        """Time left in the bank, for information: the engine measures."""
        return self._source.bank()

    @cached_property
    def limit(self) -> timedelta:
        """The longest this answer may take."""
        return self._source.limit()

    @cached_property
    def last_charge(self) -> timedelta | None:
        """What the last answer was charged, None before the first."""
        return self._source.last_charge()

    @cached_property
    def rng(self) -> random.Random:
        """A generator for this decision, seeded from the seat's seed and the number: the same in each replay."""
        return random.Random(f"{self.match.seed}/{self.number}")

    def __repr__(self) -> str:
        return f"<Turn {self.number} of {self.match.match}, seat {self.seat}, {len(self.legal)} legal>"


class WireSource:
    """The rest of a turn out of a decision message."""

    __slots__ = ("_decision",)

    def __init__(self, decision: Decision) -> None:
        self._decision = decision

    def view(self) -> Message:
        return game_view(self._decision.view)

    def bank(self) -> timedelta:
        return self._decision.bank.ToTimedelta()

    def limit(self) -> timedelta:
        return self._decision.limit.ToTimedelta()

    def last_charge(self) -> timedelta | None:
        return self._decision.last_charge.ToTimedelta() if self._decision.HasField("last_charge") else None


def game_view(view: View) -> Message:
    """The member that is set. Raises ProtocolError when this SDK does not know the game."""
    name = view.WhichOneof("game")
    if name is None:
        raise ProtocolError(
            "view: of a game that this SDK does not know; fix: install a newer hippodrome, or play by turn.legal alone"
        )
    message: Message = getattr(view, name)
    return message


def match_info(started: MatchStarted) -> MatchInfo:
    """A `match_started` event as MatchInfo."""
    clock = started.clock
    cap = clock.cap.ToTimedelta() if clock.HasField("cap") else None
    times = ClockInfo(clock.bank.ToTimedelta(), clock.increment.ToTimedelta(), cap, clock.startup.ToTimedelta())
    bots = tuple(seat.bot for seat in started.seats)
    return MatchInfo(started.match, started.ruleset, started.seat, bots, times, started.commitment, started.bot_seed)


def match_result(ended: MatchEnded, seat: int) -> MatchResult:
    """A `match_ended` event as MatchResult."""
    return MatchResult(ended.match, seat, ended.ending, ended.reason, tuple(ended.places), tuple(ended.scores), ended.seed)


def lost_match(info: MatchInfo) -> MatchResult:
    """The result of a match that the service no longer knows."""
    return MatchResult(info.match, info.seat, "lost", "the new session does not know this match", (), (), "")


def keeps_commitment(info: MatchInfo, result: MatchResult) -> bool:
    """Whether the seed published after the match is the one committed to before it (or none was published)."""
    if not result.seed or not info.commitment:
        return True
    try:
        return hashlib.sha256(bytes.fromhex(result.seed)).hexdigest() == info.commitment
    except ValueError:
        return False
