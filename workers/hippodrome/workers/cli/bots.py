"""`hippodrome bot`: write, check, run, register bots and look at them."""

from __future__ import annotations

import logging
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Final

import click

from hippodrome.engine.clock import TimeControl
from hippodrome.engine.errors import FieldError
from hippodrome.games.registry import get_game
from hippodrome.workers.cli import bot_processes
from hippodrome.workers.cli.connect import Connect, source_options
from hippodrome.workers.cli.output import Column, emit, json_option, say, table
from hippodrome.workers.cli.play import read_game
from hippodrome.workers.cli.report import BOT
from hippodrome.workers.cli.shown import match_table, short_version

_BOT: Final = """\
from hippodrome.bot import bot


@bot
def {name}(turn):
    return turn.rng.choice(turn.legal)


if __name__ == "__main__":
    {name}.run()
"""
_TEST: Final = """\
from pathlib import Path

from hippodrome.bot import load_bot
from hippodrome.workers.local import play_game


def test_{name}_plays_a_whole_game_by_the_rules():
    bot = load_bot(str(Path(__file__).with_name("{name}.py")))
    assert play_game(bot).ending == "rules"
"""


@click.command()
@click.argument("name")
@click.option("--force", is_flag=True, help="Write over files that are there.")
@json_option
def new(name: str, force: bool, as_json: bool) -> None:
    """Write NAME.py, the smallest bot that plays every game, and test_NAME.py."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{1,39}", name):
        raise FieldError("NAME", f"{name!r} is no name", "use 2 to 40 lower-case letters, digits and _, starting with a letter")
    files = {Path(f"{name}.py"): _BOT, Path(f"test_{name}.py"): _TEST}
    for path in files:
        if path.exists() and not force:
            raise FieldError("NAME", f"{path} is there already", "choose another name, or write over it with --force")
    for path, text in files.items():
        path.write_text(text.format(name=name), encoding="utf-8")
    if as_json:
        emit("bot-new", {"files": [str(path) for path in files]})
    else:
        click.echo(f"wrote {name}.py and test_{name}.py")
        say(f"next: hippodrome play antiquity {name}.py random")


@click.command()
@click.argument("bot")
@click.option("--game", default="antiquity", show_default=True, help="Game, or ruleset (antiquity-3p), to check with.")
@click.option("--positions", type=click.IntRange(1, 100_000), default=100, show_default=True, help="How many to answer.")
@click.option("--seed", default="check", show_default=True, help="From which the positions follow.")
@click.option("--clock", help="Bank+increment, then /cap and @start-up. Default: 60s+100ms@10s.")
@click.option("--show", "pictures", is_flag=True, help="Show the positions that went wrong.")
@json_option
def check(bot: str, game: str, positions: int, seed: str, clock: str | None, pictures: bool, as_json: bool) -> int:
    """Check BOT (mybot.py, mybot.py:Class, 'cmd:./mybot' or a built-in bot) before it plays for something.

    Start-up, handshake, legal answers, clock, the same moves for the same seed. Exit code 4 if a check fails.
    """
    from hippodrome.workers.botfiles import read_bot
    from hippodrome.workers.check import check_bot
    from hippodrome.workers.local import DEFAULT_CLOCK

    logging.getLogger("hippodrome.bot").setLevel(logging.CRITICAL)  # what it would print is in the report
    ruleset = read_game(game, get_game(game.partition("-")[0]).players[0], ())
    control = TimeControl.parse(clock) if clock else DEFAULT_CLOCK
    with redirect_stdout(sys.stderr):  # what the bot prints is no data of ours
        report = check_bot(read_bot(bot), get_game(ruleset.game), ruleset, positions=positions, seed=seed, clock=control)
    if as_json:
        emit("bot-check", {"bot": report.bot, "ok": report.ok, "checks": report.lines, "problems": report.problems})
        return 0 if report.ok else BOT
    width = max(len(line.name) for line in report.lines)
    click.echo("\n".join(f"{line.name:<{width}}  {_state(line.state)}  {line.text}" for line in report.lines))
    for problem in report.problems:
        say(
            f"\n{problem.report}"
            + (f"\n  position {problem.position}, decision {problem.decision}" if problem.position else "")
        )
        if pictures and problem.picture:
            say(f"\n{problem.picture}")
    say(
        "next: "
        + (f"hippodrome bot create {report.bot.replace('_', '-')}" if report.ok else "correct the bot, then check it again")
    )
    return 0 if report.ok else BOT


def _state(state: str) -> str:
    colours = {"ok": "green", "warning": "yellow", "FAIL": "red"}
    return click.style(f"{state:<7}", fg=colours.get(state))


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--bot", "names", multiple=True, help="Name on the ladder, one for each file. Default: the file's name.")
@click.option("--matches", type=click.IntRange(1), help="Leave after so many matches.")
@source_options
@json_option
def run(connect: Connect, files: tuple[str, ...], names: tuple[str, ...], matches: int | None, as_json: bool) -> int:
    """Play live with the bots in FILES until Ctrl-C. Each must be registered: `hippodrome bot create`."""
    if names and len(names) != len(files):
        raise FieldError("--bot", f"{len(names)} names for {len(files)} files", "give one --bot for each file, or none")
    place = connect.place()
    bots = dict(zip(names or [_ladder_name(file) for file in files], files, strict=True))
    limit = ("--matches", str(matches)) if matches else ()
    codes = bot_processes.wait(bot_processes.start(place, bots, *limit, *(("--quiet",) if as_json else ())))
    if as_json:
        emit("bot-run", {"bots": [{"bot": bot, "exit_code": code} for bot, code in zip(bots, codes, strict=True)]})
    return max(codes)


@click.command()
@click.argument("name")
@click.option("--description", default="", help="What it is, or, for a further version, what changed.")
@click.option("--new-version", is_flag=True, help="Add a version to a bot that is there.")
@source_options
@json_option
def create(connect: Connect, name: str, description: str, new_version: bool, as_json: bool) -> None:
    """Register the bot NAME, or, with --new-version, a further version of it."""
    if new_version:
        made = connect().create_version(name, description=description).name
    else:
        made = connect().create_bot(name, description=description).versions[-1].name
    if as_json:
        emit("bot-create", {"bot_version": made})
        return
    click.echo(f"registered {short_version(made)}")
    say(f"next: hippodrome bot run FILE.py --bot {name}")


@click.command()
@source_options
@json_option
def list_(connect: Connect, as_json: bool) -> None:
    """List the bots of the ladder, by name."""
    found = connect().bots()
    if as_json:
        emit("bots", {"bots": found})
        return
    columns = (Column("bot"), Column("account", drop=1), Column("versions", True), Column("description", drop=2))
    rows = [
        (b.name.removeprefix("bots/"), b.account.removeprefix("accounts/"), str(len(b.versions)), b.description[:40])
        for b in found
    ]
    click.echo(table(columns, rows) if rows else "no bots yet")
    say(f"next: hippodrome bot show {rows[0][0]}" if rows else "next: hippodrome bot create NAME")


@click.command()
@click.argument("bot")
@source_options
@json_option
def show(connect: Connect, bot: str, as_json: bool) -> None:
    """Show BOT: its versions with their ratings, and its last matches."""
    source = connect()
    found, matches = source.bot(bot), source.matches(bot=bot, limit=10)
    if as_json:
        emit("bot", {"bot": found, "matches": matches})
        return
    click.echo(f"{found.name}  of {found.account}  {found.description}".rstrip())
    columns = (
        Column("version"),
        Column("ladder"),
        Column("Elo", True),
        Column("± 95%", True),
        Column("matches", True),
        Column("", drop=1),
    )
    rows = [
        (
            short_version(version.name),
            rating.ladder,
            f"{rating.rating:.0f}",
            f"{rating.interval:.0f}",
            str(rating.matches),
            "provisional" if rating.provisional else "",
        )
        for version in found.versions
        for rating in version.ratings
    ]
    unrated = [version for version in found.versions if not version.ratings]
    rows += [(short_version(version.name), "not rated yet", "", "", "", "") for version in unrated]
    click.echo(table(columns, rows))
    if matches:
        click.echo("\n" + match_table(matches))
        say(f"next: hippodrome match show {matches[0].name.removeprefix('matches/')}")


def _ladder_name(file: str) -> str:
    """The name a bot in `file` plays as when none is given: `my_bot.py` -> `my-bot`."""
    return Path(file.split(".py:")[0]).stem.replace("_", "-")
