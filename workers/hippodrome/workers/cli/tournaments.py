"""`hippodrome tournament`: run, start, follow, stop and look at tournaments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, TypeVar

import click

from hippodrome.ladder.pages import TournamentPage
from hippodrome.ladder.settings import Settings
from hippodrome.workers.cli.connect import Connect, source_options
from hippodrome.workers.cli.output import Column, emit, json_option, say, table
from hippodrome.workers.cli.report import INTERRUPTED
from hippodrome.workers.cli.shown import crosstable
from hippodrome.workers.sources import NewTournament, Source

F = TypeVar("F", bound=Callable[..., Any])


def plan_options(command: F) -> F:
    """Gives the command RULESET, ENTRIES and the parameter `new`: a NewTournament."""
    from functools import wraps

    @wraps(command)
    def wrapped(*, ruleset: str, entries: tuple[str, ...], unrated: bool, **rest: Any) -> Any:
        asked = {name: rest.pop(name) or "" for name in ("name", "clock", "policy", "pairing", "seed")}
        new = NewTournament(ruleset, entries, blocks=rest.pop("blocks"), rated=not unrated, **asked)
        return command(new=new, **rest)

    made: Any = wrapped
    for decorate in reversed(_PLAN):
        made = decorate(made)
    return made  # type: ignore[no-any-return]


_PLAN = (
    click.argument("ruleset"),
    click.argument("entries", nargs=-1, required=True),
    click.option("--name", help="Its name. Default: drawn."),
    click.option(
        "--blocks",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="For each pairing; a block is one seed in all seats.",
    ),
    click.option("--clock", help="Bank+increment, then /cap and @start-up. Default: 60s+100ms."),
    click.option("--policy", help="forfeit (the default), retry:N or substitute:N."),
    click.option("--pairing", help="The pairing system. Default: round-robin."),
    click.option("--seed", help="From which all seeds follow. Default: drawn, secret until the end."),
    click.option("--unrated", is_flag=True, help="Leave the ladder alone."),
)


@click.command()
@plan_options
@json_option
def run(new: NewTournament, as_json: bool) -> int:
    """Play a tournament of RULESET (antiquity-2p) between ENTRIES here and now, to its end.

    ENTRIES are built-in bots (random), files (mybot.py) or bots of the ladder that are connected. The service that runs on this
    home is used, or one is started for the time being.
    """
    from hippodrome.workers.cli.running import run_here

    return run_here(new, as_json)


@click.command()
@plan_options
@source_options
@json_option
def start(connect: Connect, new: NewTournament, as_json: bool) -> None:
    """Plan a tournament of RULESET (antiquity-2p) between ENTRIES, bots or versions (quokka@3), and hand it to the workers."""
    made = connect().create_tournament(new)
    if as_json:
        emit("tournament", {"tournament": made})
        return
    click.echo(summary(made))
    say(f"next: hippodrome tournament watch {short_name(made)}")


@click.command()
@source_options
@json_option
def list_(connect: Connect, as_json: bool) -> None:
    """List the tournaments, newest first."""
    found = connect().tournaments()
    if as_json:
        emit("tournaments", {"tournaments": found})
        return
    columns = Column("tournament"), Column("ruleset"), Column("state"), Column("entries", True, 1), Column("matches", True)
    rows = [(short_name(t), t.ruleset, t.state, str(len(t.entries)), f"{t.matches_done}/{t.matches_planned}") for t in found]
    click.echo(table(columns, rows) if rows else "no tournaments yet")
    say(
        f"next: hippodrome tournament results {rows[0][0]}"
        if rows
        else "next: hippodrome tournament run antiquity-2p random greedy"
    )


@click.command()
@click.argument("name")
@source_options
@json_option
def status(connect: Connect, name: str, as_json: bool) -> None:
    """Say how far the tournament NAME is."""
    found = connect().tournament(name)
    if as_json:
        emit("tournament", {"tournament": found})
        return
    click.echo(summary(found))
    say(_next(found))


@click.command()
@click.argument("name")
@source_options
@json_option
def watch(connect: Connect, name: str, as_json: bool) -> int:
    """Follow the tournament NAME to its end, then show its crosstable. With --json: a line at each change."""
    try:
        found = follow(connect().watch_tournament(name), as_json)
    except KeyboardInterrupt:
        say(f"\nit goes on; to follow it again: hippodrome tournament watch {name}")
        return INTERRUPTED
    if not as_json:
        click.echo(crosstable(found))
        say(_next(found))
    return 0


@click.command()
@click.argument("name")
@source_options
@json_option
def resume(connect: Connect, name: str, as_json: bool) -> int:
    """Go on with the cancelled or interrupted tournament NAME.

    Its parked matches are tried again, their failed attempts forgotten.
    Where no service runs, one is started for the time being and the tournament is played to its end.
    """
    source = connect()
    source.resume_tournament(name)
    if connect.is_remote():
        _show(source, name, as_json)
        return 0
    from hippodrome.workers.cli.running import resume_here

    return resume_here(source.tournament(name), Settings.load(), as_json)


@click.command()
@click.argument("name")
@source_options
@json_option
def cancel(connect: Connect, name: str, as_json: bool) -> None:
    """Stop the tournament NAME: matches under way are dropped, results stay, and it can be resumed."""
    source = connect()
    source.cancel_tournament(name)
    _show(source, name, as_json)


@click.command()
@click.argument("name")
@source_options
@json_option
def results(connect: Connect, name: str, as_json: bool) -> None:
    """Show the crosstable of the tournament NAME: points against each opponent, of meetings."""
    found = connect().tournament(name)
    if as_json:
        emit("tournament", {"tournament": found})
        return
    click.echo(f"{summary(found)}\n{crosstable(found)}")
    say(f"next: hippodrome match list --tournament {short_name(found)}")


def follow(changes: Iterator[TournamentPage], as_json: bool) -> TournamentPage:
    """Show a tournament's changes until it is over or nothing is left that workers would play; its last state."""
    from hippodrome.workers.cli.follow import Follower

    found: TournamentPage | None = None
    with ExitStack() as stack:
        follower = stack.enter_context(Follower())
        for found in changes:
            if as_json:
                emit("tournament", {"tournament": found})
            else:
                follower.move(found)
            if found.matches_done + found.matches_parked >= found.matches_planned:
                break
    assert found is not None, "a watched tournament is sent at least once"
    return found


def summary(tournament: TournamentPage) -> str:
    """One line: what it is and how far."""
    parts = [
        short_name(tournament),
        tournament.ruleset,
        tournament.pairing,
        f"{len(tournament.entries)} entries",
        tournament.state,
    ]
    parts.append(f"{tournament.matches_done}/{tournament.matches_planned} matches")
    parts += [f"{tournament.matches_running} playing"] if tournament.matches_running else []
    parts += [f"{tournament.matches_parked} parked"] if tournament.matches_parked else []
    return "  ".join(parts)


def short_name(tournament: TournamentPage) -> str:
    """`tournaments/spring` -> `spring`."""
    return tournament.name.removeprefix("tournaments/")


def _show(source: Source, name: str, as_json: bool) -> None:
    found = source.tournament(name)
    if as_json:
        emit("tournament", {"tournament": found})
    else:
        click.echo(summary(found))
        say(_next(found))


def _next(tournament: TournamentPage) -> str:
    verbs = {"running": "watch", "cancelled": "resume", "finished": "results"}
    stuck = tournament.matches_parked and tournament.matches_done + tournament.matches_parked == tournament.matches_planned
    return f"next: hippodrome tournament {'resume' if stuck else verbs[tournament.state]} {short_name(tournament)}"
