"""A series of local matches: the plan, the results, the numbers.

Matches of one block share a seed and give every bot every seat, so that luck and the order of seats cancel. Numbers come from
blocks: the mean pair score of a block is one observation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median, variance
from typing import Final

from hippodrome.engine.clock import TimeControl
from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import Outcome, Ruleset
from hippodrome.engine.record import Record, dumps
from hippodrome.engine.referee import MatchSpec, Policy, SeatSpec
from hippodrome.workers.botfiles import BotSpec
from hippodrome.workers.local import DEFAULT_CLOCK, Played, Trouble, match_seed, random_seed

_Z95: Final = 1.959964


@dataclass(frozen=True)
class SeriesSpec:
    """`games` matches of `bots` at one table. `seed` is any text; the same seed gives the same series."""

    ruleset: Ruleset
    bots: tuple[BotSpec, ...]
    games: int = 1
    clock: TimeControl = DEFAULT_CLOCK
    policy: Policy = field(default_factory=Policy)
    seed: str = field(default_factory=random_seed)

    def checked(self) -> SeriesSpec:
        """Itself. Raises FieldError."""
        if len(self.bots) != self.ruleset.players:
            fix = f"name {self.ruleset.players} bots"
            raise FieldError("bots", f"{len(self.bots)} given for {self.ruleset}", fix)
        if self.games < 1:
            raise FieldError("games", f"{self.games} is too few", "give 1 or more")
        return self


@dataclass(frozen=True, slots=True)
class Planned:
    """Match `number` (from 1) of a series; `order[seat]` is the place of a bot in `SeriesSpec.bots`."""

    number: int
    block: int
    spec: MatchSpec
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Elo:
    """An Elo difference to the other bots with its 95 % interval. None: without bound, as after winning everything."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """One bot of a series. `points` is the sum of pair scores (1 for each opponent behind, 1/2 for each equal, divided by their
    number); `score` their mean; `faults` by kind; times of its own answers in microseconds, None when it made none."""

    bot: str
    games: int
    wins: int
    shared: int
    points: float
    score: float
    elo: Elo
    faults: dict[str, int]
    median_us: float | None
    slowest_us: int | None


def plan(series: SeriesSpec) -> Iterator[Planned]:
    """All matches in order: a block after the other, in each the bots move one seat on from match to match."""
    players = series.ruleset.players
    for number in range(series.games):
        block, turn = divmod(number, players)
        order = tuple((seat + turn) % players for seat in range(players))
        seats = tuple(SeatSpec(series.bots[bot].name, f"local/{series.bots[bot].name}") for bot in order)
        seed = match_seed(series.seed, block)
        spec = MatchSpec(f"local/{number + 1}", series.ruleset, seats, series.clock, series.policy, seed)
        yield Planned(number + 1, block, spec, order)


@dataclass
class Series:
    """The results of a series, match by match."""

    spec: SeriesSpec
    matches: int = 0
    troubles: list[tuple[str, int, Trouble]] = field(default_factory=list)
    """(bot, match number, what it did wrong)."""

    def __post_init__(self) -> None:
        self._tallies = [_Tally() for _ in self.spec.bots]

    def add(self, planned: Planned, played: Played) -> None:
        """Count a match."""
        self.matches += 1
        values = pair_scores(played.record)
        for seat, bot in enumerate(planned.order):
            self._tallies[bot].add(planned.block, seat, values[seat], played.record)
        self.troubles += [(self.spec.bots[planned.order[t.seat]].name, planned.number, t) for t in played.troubles]

    def rows(self) -> list[Row]:
        """The bots in the order they were named."""
        return [tally.row(bot.name) for bot, tally in zip(self.spec.bots, self._tallies, strict=True)]


@dataclass
class _Tally:
    places: list[bool] = field(default_factory=list)
    wins: int = 0
    shared: int = 0
    blocks: dict[int, list[float]] = field(default_factory=dict)
    faults: Counter[str] = field(default_factory=Counter)
    times: list[int] = field(default_factory=list)

    def add(self, block: int, seat: int, value: float, record: Record) -> None:
        places = record.closing["places"]
        alone = places.count(1) == 1
        self.wins += places[seat] == 1 and alone
        self.shared += places[seat] == 1 and not alone
        self.blocks.setdefault(block, []).append(value)
        mine = [line for line in record.body if line.get("seat") == seat]
        self.faults.update(line["fault"] for line in mine if "fault" in line)
        self.times += [line["received"] - line["sent"] - line["credit"] for line in mine if "received" in line]

    def row(self, bot: str) -> Row:
        values = [value for block in self.blocks.values() for value in block]
        score = fmean(values) if values else 0.5
        elo = elo_of([fmean(block) for block in self.blocks.values()], score)
        middle, slowest = (median(self.times), max(self.times)) if self.times else (None, None)
        return Row(bot, len(values), self.wins, self.shared, sum(values), score, elo, dict(self.faults), middle, slowest)


def save_record(folder: Path, planned: Planned, played: Played) -> Path:
    """Write the record of a match into `folder` (made if need be) as `match-0012.jsonl`; the file. Raises FieldError."""
    path = folder / f"match-{planned.number:04}.jsonl"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(dumps(played.record), encoding="ascii")
    except OSError as error:
        raise FieldError("out", f"{path}: {error.strerror}", "name a folder that can be written") from None
    return path


def pair_scores(record: Record) -> list[float]:
    """Each seat's mean pair score in [0, 1]."""
    places = tuple(record.closing["places"])
    outcome = Outcome(places, (), "")
    return [outcome.value(seat) for seat in range(len(places))]


def elo_of(blocks: Sequence[float], score: float) -> Elo:
    """The Elo difference of a mean score: 400 log10(s / (1 - s)), its interval from the spread of the blocks.

    One made-up block of 0 and one of 1 are added for the interval only, so that a few equal results claim no certainty
    (the rule of Agresti and Coull, The American Statistician 52, 1998, on block means).
    """
    padded = [*blocks, 0.0, 1.0]
    middle = fmean(padded)
    half = _Z95 * math.sqrt(variance(padded) / len(padded))
    return Elo(_elo(score), _elo(middle - half), _elo(middle + half))


def _elo(score: float) -> float | None:
    return 400 * math.log10(score / (1 - score)) if 0 < score < 1 else None
