"""The read models: frozen dataclasses whose fields are named as those of hippodrome.v1. Names are resource names
(`bots/quokka`), times are UTC. Standard library only, so that a client can use them without loading a database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class AccountPage:
    """An account."""

    name: str
    admin: bool
    create_time: datetime


@dataclass(frozen=True, slots=True)
class TokenPage:
    """A token without its secret; `revoke_time` is None while it works."""

    name: str
    label: str
    create_time: datetime
    revoke_time: datetime | None


@dataclass(frozen=True, slots=True)
class SeatInfo:
    """Who sits there."""

    bot: str
    bot_version: str


@dataclass(frozen=True, slots=True)
class LadderRow:
    """One row of a ladder. `interval` is half of the 95 % interval; the ranks are None while provisional; rows whose order is
    not settled have overlapping `rank_best`..`rank_worst`."""

    rank: int | None
    bot: str
    bot_version: str
    account: str
    rating: float
    interval: float
    matches: int
    blocks: int
    score: float
    faults: int
    provisional: bool
    anchor: bool
    rank_best: int | None
    rank_worst: int | None


@dataclass(frozen=True, slots=True)
class LadderPage:
    """A ladder, best first, provisional rows last. `pending`: results that are not yet in these ratings."""

    name: str
    rows: tuple[LadderRow, ...]
    matches: int
    pending: int
    fit_time: datetime | None


@dataclass(frozen=True, slots=True)
class BotRating:
    """A rating of a version on one ladder."""

    ladder: str
    rating: float
    interval: float
    matches: int
    provisional: bool


@dataclass(frozen=True, slots=True)
class VersionPage:
    """A version of a bot."""

    name: str
    create_time: datetime
    description: str
    ratings: tuple[BotRating, ...]


@dataclass(frozen=True, slots=True)
class BotPage:
    """A bot with its versions, oldest first."""

    name: str
    account: str
    description: str
    create_time: datetime
    versions: tuple[VersionPage, ...]


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """A bot (all its versions) against another on one ladder: meetings won, shared, lost; `score` is their mean, 0 to 1."""

    opponent: str
    ladder: str
    meetings: int
    wins: int
    ties: int
    losses: int
    score: float


@dataclass(frozen=True, slots=True)
class Standing:
    """The row of one entry; `place` may be shared."""

    place: int
    bot_version: str
    points: float
    matches: int
    faults: int
    against: tuple[float, ...]
    meetings: tuple[int, ...]
    direct: float
    berger: float


@dataclass(frozen=True, slots=True)
class TournamentPage:
    """A tournament; lists leave `standings` empty. `against` and `meetings` of a standing are in the order of `entries`."""

    name: str
    ruleset: str
    pairing: str
    blocks: int
    clock: str
    policy: str
    state: str
    entries: tuple[str, ...]
    matches_planned: int
    matches_done: int
    matches_running: int
    matches_parked: int
    create_time: datetime
    end_time: datetime | None
    standings: tuple[Standing, ...]
    rated: bool
    account: str


@dataclass(frozen=True, slots=True)
class AttemptInfo:
    """One try to play a match; `outcome` is empty while it runs."""

    fence: int
    owner: str
    start_time: datetime
    end_time: datetime | None
    outcome: str
    reason: str
    evidence: str


@dataclass(frozen=True, slots=True)
class MatchPage:
    """A match. `state`: pending, running, done, parked or cancelled. `waiting`: versions that are not there -> since when.
    `block_open`: how many matches of its block are still to be played, this one included: they have the same seed."""

    name: str
    tournament: str
    ruleset: str
    number: int
    block: int
    rotation: int
    seats: tuple[SeatInfo, ...]
    state: str
    ending: str
    reason: str
    places: tuple[int, ...]
    scores: tuple[int, ...]
    faults: tuple[dict[str, Any], ...]
    moves: int
    attempts: int
    waiting: dict[str, str]
    end_time: datetime | None
    commitment: str
    block_open: int

    @property
    def published(self) -> bool:
        """Whether its record, with moves, chance and seed, may be read."""
        return self.state == "done" and not self.block_open

    @property
    def block_waits(self) -> str:
        """For what the record of a match that is done waits, as a clause; empty once it is published."""
        if not self.block_open:
            return ""
        subject = "1 match of its block is" if self.block_open == 1 else f"{self.block_open} matches of its block are"
        return f"{subject} still to be played"
