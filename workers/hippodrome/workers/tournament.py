"""Tournaments played to their end by a service on this machine, one that runs already or one for the purpose.

Everything is said through `report`, called with the events below; drawing is the caller's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from hippodrome.ladder import refit, tournaments
from hippodrome.ladder.accounts import get_account
from hippodrome.ladder.db import Database
from hippodrome.ladder.settings import Settings
from hippodrome.workers.house import OPERATOR
from hippodrome.workers.programs import HouseBot, Options, builtin_bots
from hippodrome.workers.server import Server, running_server
from hippodrome.workers.supervise import service

STEP: Final = 0.1
"""Seconds between two looks at a tournament."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What `tournaments.create_tournament` is asked for; without `name` one is drawn."""

    ruleset: str
    entries: tuple[str, ...]
    blocks: int = 1
    name: str = ""
    clock: str = str(tournaments.DEFAULT_CLOCK)
    policy: str = "forfeit"
    pairing: str = "round-robin"
    seed: str = ""
    rated: bool = True


@dataclass(frozen=True, slots=True)
class ServiceUp:
    """The service runs; `seconds` is what starting it took, 0 when it ran before."""

    server: Server
    seconds: float


@dataclass(frozen=True, slots=True)
class Planned:
    """A tournament is planned: `name` without its collection, `matches` in all."""

    name: str
    ruleset: str
    matches: int


@dataclass(frozen=True, slots=True)
class Moved:
    """Matches of the tournament `name`: `done` of `matches`, `playing` now, `parked` for an operator."""

    name: str
    done: int
    matches: int
    playing: int
    parked: int


@dataclass(frozen=True, slots=True)
class Ended:
    """No match of the tournament `name` is left to play; the ladders are up to date. `parked` matches have no result."""

    name: str
    parked: int
    seconds: float


Event = ServiceUp | Planned | Moved | Ended
Report = Callable[[Event], None]


@contextmanager
def open_service(report: Report, settings: Settings, options: Options) -> Iterator[Server]:
    """The service on this home: the one that runs, else one of our own for as long as the block lasts."""
    if running := running_server(settings.home):
        report(ServiceUp(running, 0.0))
        yield running
        return
    begun = time.monotonic()
    with service(options, settings) as server:
        report(ServiceUp(server, time.monotonic() - begun))
        yield server


def house_bots(entries: Sequence[str]) -> tuple[HouseBot, ...]:
    """The built-in bots among `entries`, in whichever form they are named."""
    names = [entry.removeprefix("bots/").partition("@")[0].partition("/")[0] for entry in entries]
    return tuple(HouseBot(name, name) for name in dict.fromkeys(names) if name in builtin_bots())


def play_tournament(report: Report, plan: Plan, database: Database) -> str:
    """Plan the tournament, wait for its end, bring the ladders up to date; its name."""
    begun = time.monotonic()
    name = _plan(report, plan, database)
    parked = _wait(report, name, database)
    _wait_for_ratings(database)
    report(Ended(name, parked, time.monotonic() - begun))
    return name


def _plan(report: Report, plan: Plan, database: Database) -> str:
    with database.write() as session:
        made = tournaments.create_tournament(
            session,
            name=plan.name,
            ruleset=plan.ruleset,
            entries=plan.entries,
            blocks=plan.blocks,
            clock=plan.clock,
            policy=plan.policy,
            pairing=plan.pairing,
            seed=plan.seed,
            rated=plan.rated,
            account=get_account(session, OPERATOR),
        )
        name, ruleset, planned = made.name, made.ruleset, tournaments.progress(session, made.name).planned
    report(Planned(name, ruleset, planned))
    return name


def _wait(report: Report, name: str, database: Database) -> int:
    """Until no match is left that workers would play; how many are parked."""
    while True:
        with database.read() as session:
            now = tournaments.progress(session, name)
        report(Moved(name, now.done, now.planned, now.leased, now.parked))
        if not now.open:
            return now.parked
        time.sleep(STEP)


def _wait_for_ratings(database: Database) -> None:
    """Until the reconciler has brought every ladder up to date."""
    while True:
        with database.read() as session:
            if not refit.refit_due(session):
                return
        time.sleep(STEP)
