"""Tournaments that the command line plays to their end: a service here, bots of files as processes, progress, results."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from hippodrome.ladder.errors import NotFound
from hippodrome.ladder.pages import TournamentPage
from hippodrome.ladder.settings import Settings
from hippodrome.workers.cli import bot_processes
from hippodrome.workers.cli.follow import Follower
from hippodrome.workers.cli.output import emit, say
from hippodrome.workers.cli.report import INTERRUPTED
from hippodrome.workers.cli.serve import terminable
from hippodrome.workers.cli.shown import crosstable, ladder_table
from hippodrome.workers.cli.tournaments import follow, short_name, summary
from hippodrome.workers.programs import Options
from hippodrome.workers.server import Server
from hippodrome.workers.sources import NewTournament, Place, Source, open_remote
from hippodrome.workers.tournament import house_bots, open_service

_PATIENCE: Final = "30"
"""Seconds that a bot tries to get back to a service that is gone, should this process be killed."""
_RATINGS_SECONDS: Final = 30.0


def run_here(new: NewTournament, as_json: bool) -> int:
    """Plan `new` and play it to its end; the exit code."""
    with ExitStack() as stack:
        stack.enter_context(terminable())
        server = _service(stack, Settings.load(), new.entries)
        source = _source(stack, server)
        files = {entry: _register(source, entry) for entry in new.entries if _is_file(entry)}
        versions = {version: file for file, version in files.items()}
        bots = bot_processes.start(Place(server.api, server.token), versions, "--quiet", "--patience", _PATIENCE)
        stack.enter_context(bot_processes.playing(bots))
        made = source.create_tournament(replace(new, entries=tuple(files.get(entry, entry) for entry in new.entries)))
        return _finish(source, short_name(made), as_json)


def resume_here(tournament: TournamentPage, settings: Settings, as_json: bool) -> int:
    """Play a planned tournament to its end; the exit code. Bots of files must be connected by `hippodrome bot run`."""
    with ExitStack() as stack:
        stack.enter_context(terminable())
        source = _source(stack, _service(stack, settings, tournament.entries))
        return _finish(source, short_name(tournament), as_json)


def _service(stack: ExitStack, settings: Settings, entries: Sequence[str]) -> Server:
    with Follower() as follower:
        options = Options(web="127.0.0.1:0", bots=house_bots(entries))
        return stack.enter_context(open_service(follower.report, settings, options))


def _source(stack: ExitStack, server: Server) -> Source:
    source = open_remote(Place(server.api, server.token))
    stack.callback(source.close)
    return source


def _finish(source: Source, name: str, as_json: bool) -> int:
    """Follow the tournament to its end and show what came out."""
    try:
        found = follow(source.watch_tournament(name), as_json=False)
        found = _with_ratings(source, found)
    except KeyboardInterrupt:
        done = source.tournament(name)
        say(f"\nstopped after {done.matches_done} of {done.matches_planned} matches; nothing is lost")
        say(f"resume: hippodrome tournament resume {name}")
        return INTERRUPTED
    if as_json:
        emit("tournament", {"tournament": found})
        return 0
    click.echo(f"{summary(found)}\n{crosstable(found)}")
    if found.rated:
        ladder = source.ladder(found.ruleset)
        click.echo(f"\nladder {ladder.name}, {ladder.matches} rated matches\n{ladder_table(ladder)}")
    say(f"next: hippodrome match list --tournament {name}")
    return 0


def _with_ratings(source: Source, found: TournamentPage) -> TournamentPage:
    """Wait until the ladder counts all results, not for ever."""
    deadline = time.monotonic() + _RATINGS_SECONDS
    while found.rated and source.ladder(found.ruleset).pending and time.monotonic() < deadline:
        time.sleep(0.1)
    return source.tournament(found.name)


def _is_file(entry: str) -> bool:
    return ".py" in entry


def _register(source: Source, entry: str) -> str:
    """The version that the bot in a file plays as: a new one whenever the file has changed. Raises UsageError, BotError."""
    from hippodrome.workers.botfiles import read_bot

    spec = read_bot(entry)
    with redirect_stdout(sys.stderr):
        spec.load()
    name = spec.name.lower().replace("_", "-")
    path = Path(entry.partition(".py")[0] + ".py")
    mark = f"{path.name}, sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}"
    try:
        bot = source.bot(name)
    except NotFound:
        return source.create_bot(name, description=mark).versions[-1].name
    newest = bot.versions[-1]
    if mark == (newest.description or bot.description):
        return newest.name
    return source.create_version(name, description=mark).name
