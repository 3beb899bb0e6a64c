"""Matches on this machine, in this process: the same referee, clock and bots as on a server, without one.

A bot of Python runs in a thread of its own seat. Programs (`cmd:`) need a node: see `local_node`.
"""

from __future__ import annotations

import hashlib
import secrets
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from hippodrome.bot import Bot, BotError, ClockInfo, MatchInfo, MatchResult
from hippodrome.engine.chance import bot_seed, commitment
from hippodrome.engine.clock import TimeControl
from hippodrome.engine.game import Game
from hippodrome.engine.record import Record
from hippodrome.engine.referee import Decision, MatchSpec, Policy, Receipt, Referee, Result, SeatSpec
from hippodrome.games.registry import get_game, read_ruleset
from hippodrome.workers.botfiles import BotSpec
from hippodrome.workers.local_seat import Reply, SeatThread

DEFAULT_CLOCK: Final = TimeControl(60_000_000, 100_000, 0, 10_000_000)
"""60 s + 0.1 s a decision, 10 s to start up."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What a bot did wrong, in full: `report` is for a terminal (the bot's traceback included)."""

    seat: int
    number: int
    report: str


@dataclass(frozen=True, slots=True)
class Played:
    """A match that was played: its record and the troubles of its bots, in order."""

    record: Record
    troubles: tuple[Trouble, ...]


PlayOne = Callable[[MatchSpec, Sequence[int]], Played]
"""Plays a match; the sequence tells for each seat the place of its bot in the list that the table was opened with."""


@contextmanager
def open_table(bots: Sequence[BotSpec], clock: TimeControl) -> Iterator[PlayOne]:
    """A place to play matches of `bots`, one after the other: threads of this process, or a node when one is a program."""
    if any(bot.command for bot in bots):
        from hippodrome.workers.local_node import NodeTable

        with NodeTable(bots, clock) as table:
            yield table.play
        return

    def play(spec: MatchSpec, order: Sequence[int]) -> Played:
        return play_one(spec, get_game(spec.ruleset.game), [bots[place] for place in order])

    yield play


def play_match(spec: MatchSpec, game: Game, seats: Sequence[BotSpec]) -> Record:
    """Play one match. Raises hippodrome.bot.UsageError or BotError when a bot cannot be loaded: nothing was played then."""
    return play_one(spec, game, seats).record


def play_one(
    spec: MatchSpec, game: Game, seats: Sequence[BotSpec], watch: Callable[[Referee], None] | None = None
) -> Played:
    """As `play_match`, telling the troubles too. `watch` is called after each decision. What bots print goes to stderr."""
    with redirect_stdout(sys.stderr):
        return Table(spec, game, [bot.load() for bot in seats]).play(watch)


def play_game(kind: type[Bot], ruleset: str = "antiquity-2p", seed: str = "test", clock: TimeControl = DEFAULT_CLOCK) -> Result:
    """For tests of bots: a whole game of `kind` against itself. Raises the first BotError, if the bot made one."""
    rules = read_ruleset(ruleset)
    game = get_game(rules.game)
    names = tuple(SeatSpec(kind.__name__, f"local/{kind.__name__}") for _ in range(rules.players))
    spec = MatchSpec("local/test", rules, names, clock, Policy(), match_seed(seed))
    table = Table(spec, game, [kind] * rules.players)
    table.play(None)
    if table.errors:
        raise table.errors[0]
    assert table.referee.result is not None
    return table.referee.result


@dataclass
class Table:
    """One match under way: the referee, a thread for each seat, and the moves that a seat gave in advance."""

    spec: MatchSpec
    game: Game
    kinds: Sequence[type[Bot]]
    referee: Referee = field(init=False)
    errors: list[BotError] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.referee = Referee(self.spec, self.game)
        infos = [match_info(self.spec, seat) for seat in range(len(self.spec.seats))]
        self._started = time.monotonic_ns()
        self._seats = [SeatThread(kind, info) for kind, info in zip(self.kinds, infos, strict=True)]
        self._advance: deque[str] = deque()
        """Further moves of the answer before, for the seat in `_ahead`."""
        self._ahead = -1

    def play(self, watch: Callable[[Referee], None] | None) -> Played:
        """Play to the end."""
        try:
            while (decision := self.referee.decision) is not None:
                self._decide(decision)
                if watch is not None:
                    watch(self.referee)
            self._say_goodbye()
        finally:
            for seat in self._seats:
                seat.drop()
        assert self.referee.record is not None
        return Played(self.referee.record, tuple(self.troubles))

    def _decide(self, decision: Decision) -> None:
        if self._ahead == decision.seat and self._advance:
            now = self._since_start(time.monotonic_ns())
            self._judge(self._advance.popleft(), Receipt(now, now))
            return
        sent, reply = self._seats[decision.seat].ask(decision, self.referee.state)
        self._advance.clear()
        if reply is None:
            self._note_timeout(decision, self._since_start(sent))
        else:
            self._note_reply(decision, Receipt(self._since_start(sent), self._since_start(reply.received)), reply)

    def _note_timeout(self, decision: Decision, sent: int) -> None:
        now = max(self._since_start(time.monotonic_ns()), sent + decision.limit + 1)
        self.referee.fail("timeout", f"no answer within {decision.limit / 1e6:.3f} s", Receipt(sent, now))

    def _note_reply(self, decision: Decision, receipt: Receipt, reply: Reply) -> None:
        if reply.error is None:
            self._ahead = decision.seat
            self._advance.extend(reply.moves[1:])
            self._judge(reply.moves[0], receipt)
            return
        self._note_trouble(decision.seat, decision.number, reply.error)
        if reply.error.code == "crash":
            self._note_crash(reply.error, decision, receipt)
        else:
            self._judge(reply.error.answer, receipt)

    def _note_crash(self, error: BotError, decision: Decision, receipt: Receipt) -> None:
        """A deadline comes before a crash in the order of judgement."""
        late = receipt.took > decision.limit
        kind, reason = ("timeout", "crashed after its time was up") if late else ("crash", error.problem)
        self.referee.fail(kind, reason, receipt)

    def _judge(self, text: str, receipt: Receipt) -> None:
        if self.referee.answer(text, receipt).kind != "accepted":
            self._advance.clear()

    def _note_trouble(self, seat: int, number: int, error: BotError) -> None:
        self.errors.append(error)
        self.troubles.append(Trouble(seat, number, error.report()))

    def _say_goodbye(self) -> None:
        result = self.referee.result
        assert result is not None
        for number, seat in enumerate(self._seats):
            seat.end(match_result(self.spec, result, number))
            if seat.ending is not None:
                self._note_trouble(number, 0, seat.ending)

    def _since_start(self, now: int) -> int:
        """Monotonic nanoseconds as microseconds of this match."""
        return (now - self._started) // 1000


def match_info(spec: MatchSpec, seat: int) -> MatchInfo:
    """What the bot of `seat` is told when the match begins."""
    clock = spec.clock
    cap = timedelta(microseconds=clock.cap) if clock.cap else None
    times = [timedelta(microseconds=us) for us in (clock.bank, clock.increment, clock.startup)]
    bots = tuple(sitting.bot for sitting in spec.seats)
    info = ClockInfo(times[0], times[1], cap, times[2])
    return MatchInfo(spec.match, str(spec.ruleset), seat, bots, info, commitment(spec.seed), bot_seed(spec.seed, seat))


def match_result(spec: MatchSpec, result: Result, seat: int) -> MatchResult:
    """What the bot of `seat` is told when the match is over."""
    return MatchResult(spec.match, seat, result.ending, result.reason, result.places, result.scores, spec.seed.hex())


def match_seed(text: str, block: int = 0) -> bytes:
    """The 32-byte seed of a block of a series: SHA-256 of `text/block`."""
    return hashlib.sha256(f"{text}/{block}".encode()).digest()


def random_seed() -> str:
    """A seed for a series when none was given, so that the series can be played again."""
    return secrets.token_hex(8)
