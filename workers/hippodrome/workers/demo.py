"""`demo`: a service with the built-in bots, a tournament for each number of players, then whatever the caller shows."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, count, islice
from typing import Final

from hippodrome.ladder.db import open_database
from hippodrome.ladder.settings import Settings
from hippodrome.workers.processes import is_free
from hippodrome.workers.programs import HouseBot, Options, builtin_bots
from hippodrome.workers.server import Server
from hippodrome.workers.tournament import Plan, Report, open_service, play_tournament

RULESETS: Final = {"antiquity-2p": 1, "antiquity-3p": 1, "antiquity-4p": 1}
"""Ruleset -> blocks for each pairing."""
CAST: Final = 4
"""Bots at least: the most seats of a game."""
PROCESSES: Final = {"mcts": 2}
"""Bots that think long play with more than one process."""
CLOCK: Final = "15s+50ms@20s"
"""Generous: a slow or busy machine shall not make a bot lose on time."""
WEB: Final = "127.0.0.1:8080"


@dataclass(frozen=True, slots=True)
class Demo:
    """What was played: `settings` lead to the database, `tournaments` are names without their collection."""

    server: Server
    settings: Settings
    tournaments: tuple[str, ...]


@contextmanager
def run_demo(report: Report, settings: Settings) -> Iterator[Demo]:
    """Start the service in HOME/demo, play the tournaments, give what was played; the service lives while the block does.

    Raises FieldError, StartFailed, DatabaseUnavailable.
    """
    home = demo_settings(settings)
    cast = demo_cast()
    with open_service(report, home, Options(web=_web(), bots=cast)) as server:
        database = open_database(home.database_url)
        try:
            yield Demo(server, home, tuple(play_tournament(report, plan, database) for plan in _plans(cast)))
        finally:
            database.close()


def demo_settings(settings: Settings) -> Settings:
    """The demo's own home beside the real data; a database that was named is used all the same."""
    home = settings.home / "demo"
    named = settings.database_url != default_database(settings)
    demo = replace(settings, home=home)
    return demo if named else replace(demo, database_url=default_database(demo))


def default_database(settings: Settings) -> str:
    """The database of a home when none is named."""
    return f"sqlite:///{settings.home / 'hippodrome.db'}"


def demo_cast() -> tuple[HouseBot, ...]:
    """All built-in bots, and second ones (`random-2`) until a table of four can be filled."""
    names = tuple(builtin_bots())
    first = (HouseBot(name, name, PROCESSES.get(name, 1)) for name in names)
    more = (HouseBot(f"{name}-{number}", name, PROCESSES.get(name, 1)) for number in count(2) for name in names)
    return tuple(islice(chain(first, more), max(CAST, len(names))))


def _plans(cast: tuple[HouseBot, ...]) -> Iterator[Plan]:
    """One for each ruleset, under a name that is new each time."""
    for ruleset, blocks in RULESETS.items():
        name = f"demo-{ruleset.rpartition('-')[2]}-{secrets.token_hex(2)}"
        yield Plan(ruleset, tuple(bot.name for bot in cast), blocks, name, CLOCK)


def _web() -> str:
    """The usual address of the page, or any free one."""
    host, _, port = WEB.rpartition(":")
    return WEB if is_free(host, int(port)) else f"{host}:0"
