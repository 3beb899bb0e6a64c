"""Checking a bot before it plays for something: start-up, protocol, legality, clock, repeatability.

Its games are ordinary local matches against `random`, the bot in every seat in turn; each of its decisions is one position.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from hippodrome.bot import Bot, BotError, HippodromeError
from hippodrome.bot.hosting import Hosted
from hippodrome.bot.testing import Ask, play_over_grpc
from hippodrome.bots import BUILTINS
from hippodrome.engine.chance import Chance
from hippodrome.engine.clock import TimeControl
from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import TABLE, Game, Ruleset
from hippodrome.engine.record import Line
from hippodrome.engine.referee import MatchSpec, Policy, Referee, SeatSpec
from hippodrome.workers.botfiles import BotSpec
from hippodrome.workers.local import DEFAULT_CLOCK, Table, Trouble, match_info, match_seed, open_table
from hippodrome.workers.local_seat import view_message

OK, WARNING, FAILED, SKIPPED = "ok", "warning", "FAIL", "not run"
_OPPONENT: Final = BotSpec("random", BUILTINS["random"])
_HANDSHAKE_LIMIT: Final = 30.0
_FAULTS_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One check: `state` is `ok`, `warning`, `FAIL` or `not run`; `text` says what was found."""

    name: str
    state: str
    text: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A position that went wrong: its number in the check (from 1), the decision in its match, a report, the position."""

    position: int
    decision: int
    report: str
    picture: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What `bot check` found. `ok` holds when nothing failed (warnings may be there)."""

    bot: str
    lines: tuple[CheckLine, ...]
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        return all(line.state in (OK, WARNING) for line in self.lines)


@dataclass(frozen=True, slots=True)
class _Seen:
    """One game as far as it was played: the lines of its record, the bot's seat, its troubles."""

    spec: MatchSpec
    seat: int
    lines: tuple[Line, ...]
    troubles: tuple[Trouble, ...]

    @property
    def own(self) -> list[Line]:
        return [line for line in self.lines if line.get("seat") == self.seat and line.get("by") != "referee"]

    @property
    def moves(self) -> list[str]:
        return [line["move"] for line in self.own if "move" in line]

    @property
    def faults(self) -> list[Line]:
        return [line for line in self.own if "fault" in line]


class _Enough(Exception):
    """As many positions as were asked for."""


def check_bot(
    bot: BotSpec,
    game: Game,
    ruleset: Ruleset,
    *,
    positions: int = 100,
    seed: str = "check",
    clock: TimeControl = DEFAULT_CLOCK,
) -> CheckReport:
    """Check a bot. Raises FieldError, or hippodrome.bot.UsageError when there is no such bot; all else is in the report."""
    if positions < 1:
        raise FieldError("positions", f"{positions} is too few", "give 1 or more")
    return _Check(bot, game, ruleset, positions, seed, clock).run()


class _Check:
    def __init__(
        self, bot: BotSpec, game: Game, ruleset: Ruleset, positions: int, seed: str, clock: TimeControl
    ) -> None:
        self._bot, self._game, self._ruleset = bot, game, ruleset
        self._positions, self._seed, self._clock = positions, seed, clock
        self._lines: list[CheckLine] = []
        self._problems: list[Problem] = []
        self._games: list[_Seen] = []

    def run(self) -> CheckReport:
        steps: tuple[tuple[str, Callable[[], tuple[str, str]]], ...] = (
            ("start-up", self._start_up),
            ("handshake", self._handshake),
            (f"{self._positions} positions", self._play),
            ("clock", self._time),
            ("same seed twice", self._again),
        )
        going = True
        for name, step in steps:
            state, text = step() if going else (SKIPPED, "after the failure above")
            self._lines.append(CheckLine(name, state, text))
            going = going and (state != FAILED or step in (self._play, self._time))
        return CheckReport(self._bot.name, tuple(self._lines), tuple(self._problems))

    def _start_up(self) -> tuple[str, str]:
        return _within((self._clock.startup + self._clock.bank) / 1e6, self._begin)

    def _begin(self) -> tuple[str, str]:
        began = time.monotonic()
        try:
            if self._bot.command:
                with open_table([self._bot], self._clock):
                    pass
            else:
                self._host()
        except BotError as error:
            return self._failed_early(error)
        except HippodromeError:
            raise
        except ValueError as error:
            return FAILED, str(error)
        return OK, f"{(time.monotonic() - began) * 1e3:.0f} ms"

    def _host(self) -> None:
        """Load the bot and let it begin a match."""
        kind = self._bot.load()
        with redirect_stdout(sys.stderr):
            Hosted(kind, match_info(self._spec(0), 0))

    def _failed_early(self, error: BotError) -> tuple[str, str]:
        self._problems.append(Problem(0, 0, error.report(), ""))
        return FAILED, error.problem

    def _handshake(self) -> tuple[str, str]:
        """A short match over a real connection; a program has shown it by coming to the table."""
        if self._bot.command:
            return OK, "protocol v1"
        return _within(_HANDSHAKE_LIMIT, lambda: self._talk(self._bot.load()))

    def _talk(self, kind: type[Bot]) -> tuple[str, str]:
        try:
            with redirect_stdout(sys.stderr):
                play_over_grpc(kind, self._asks(), ruleset=str(self._ruleset), seed=self._seed)
        except BotError as error:
            return self._failed_early(error)
        except HippodromeError as error:
            return FAILED, str(error)
        return OK, "protocol v1"

    def _asks(self) -> list[Ask]:
        """The first decisions of seat 0 in a random game."""
        state = self._game.new_state(self._ruleset, Chance(match_seed(self._seed)))
        source, asks = random.Random(self._seed), list[Ask]()
        while state.to_move != TABLE and len(asks) < 3:
            legal = state.legal_moves()
            if state.to_move == 0:
                asks.append(Ask([move.text for move in legal], view_message(state, 0), self._clock.bank / 1e6))
            state.apply(source.choice(legal))
        return asks

    def _play(self) -> tuple[str, str]:
        for spec, seat in self._specs():
            done = sum(len(seen.own) for seen in self._games)
            if done >= self._positions or sum(len(seen.faults) for seen in self._games) >= _FAULTS_SHOWN:
                break
            try:
                self._games.append(self._one(spec, seat, self._positions - done))
            except ValueError as error:
                return FAILED, str(error)
            self._note_faults(self._games[-1], done)
        return self._verdict()

    def _verdict(self) -> tuple[str, str]:
        kinds = [line["fault"] for seen in self._games for line in seen.faults]
        if not kinds:
            return OK, f"all answered by the rules (games: {len(self._games)})"
        return FAILED, ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds)))

    def _note_faults(self, seen: _Seen, before: int) -> None:
        reports = {trouble.number: trouble.report for trouble in seen.troubles if trouble.seat == seen.seat}
        for place, line in enumerate(seen.own, before + 1):
            if "fault" in line:
                report = reports.get(line["n"], f"error[{line['fault']}] {line['reason']}")
                self._problems.append(Problem(place, line["n"], report, self._picture(seen, line["n"])))

    def _picture(self, seen: _Seen, number: int) -> str:
        """The position before decision `number`, as the bot's seat saw it."""
        state = self._game.new_state(seen.spec.ruleset, Chance(seen.spec.seed))
        for line in seen.lines:
            if "move" in line and line["n"] < number:
                state.apply(self._game.parse(line["move"]))
        return self._game.text(state.view(seen.seat))

    def _time(self) -> tuple[str, str]:
        times = [line["received"] - line["sent"] for seen in self._games for line in seen.own if "received" in line]
        late = sum(line["fault"] == "timeout" for seen in self._games for line in seen.faults)
        if not times:
            return FAILED, "no answer was measured"
        text = f"slowest {max(times) / 1e3:.1f} ms, median {median(times) / 1e3:.1f} ms, clock {self._clock}"
        return (FAILED, f"{late} too late; {text}") if late else (OK, text)

    def _again(self) -> tuple[str, str]:
        """The first game once more: the same seed should give the same moves."""
        first = self._games[0]
        again = self._one(first.spec, first.seat, len(first.own))
        for number, (then, now) in enumerate(zip(first.moves, again.moves, strict=False), 1):
            if then != now:
                fix = "draw from turn.rng, do not look at the clock"
                return WARNING, f"answer {number} differs: {then}, then {now}; fix: {fix}"
        return OK, "same moves"

    def _specs(self) -> Iterator[tuple[MatchSpec, int]]:
        game = 0
        while True:
            yield self._spec(game), game % self._ruleset.players
            game += 1

    def _spec(self, game: int) -> MatchSpec:
        mine = game % self._ruleset.players
        names = [self._bot.name if seat == mine else f"opponent-{seat}" for seat in range(self._ruleset.players)]
        seats = tuple(SeatSpec(name, f"local/{name}") for name in names)
        return MatchSpec(f"check/{game + 1}", self._ruleset, seats, self._clock, Policy(), match_seed(self._seed, game))

    def _one(self, spec: MatchSpec, seat: int, most: int) -> _Seen:
        """One game, stopped (where that can be done) after `most` decisions of the bot."""
        names = [sitting.bot for sitting in spec.seats]
        bots = [self._bot if place == seat else replace(_OPPONENT, name=name) for place, name in enumerate(names)]
        if self._bot.command:
            with open_table(bots, self._clock) as play:
                played = play(spec, range(len(bots)))
            return _Seen(spec, seat, played.record.body, played.troubles)
        table = Table(spec, self._game, [bot.load() for bot in bots])

        def watch(referee: Referee) -> None:
            if sum(line.get("seat") == seat for line in referee.lines) >= most:
                raise _Enough

        with suppress(_Enough), redirect_stdout(sys.stderr):
            table.play(watch)
        return _Seen(spec, seat, tuple(table.referee.lines), tuple(table.troubles))


def _within(seconds: float, work: Callable[[], tuple[str, str]]) -> tuple[str, str]:
    """What `work` gives or raises, or a failure when it does not come back; the thread is then left behind."""
    done: Future[tuple[str, str]] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, name="check", daemon=True).start()
    try:
        return done.result(seconds)
    except FutureTimeout:
        return FAILED, f"no end after {seconds:g} s"
