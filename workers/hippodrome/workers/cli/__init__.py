"""The command line: `hippodrome NOUN VERB`. Data on stdout, progress and messages on stderr.

A command is a click command in one of the modules beside this one, named in COMMANDS; its module is loaded when it is
called. It returns its exit code (None is 0). Errors are printed here, all in one form.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import click

from hippodrome.workers.cli.report import EXIT_CODES, INTERRUPTED, read, report

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "demo": ("serve:demo", "Play tournaments of the built-in bots, show the ladders and the page."),
    "play": ("play:play", "Play matches on this machine, without a server."),
    "games": ("games:games", "List the games, or one game's players, options and moves."),
    "bot new": ("bots:new", "Write the smallest working bot and its test."),
    "bot check": ("bots:check", "Check a bot: start-up, legality, clock, repeatability."),
    "bot run": ("bots:run", "Play live with a bot from this machine."),
    "bot create": ("bots:create", "Register a bot, or a new version of it, on the ladder."),
    "bot list": ("bots:list_", "List the bots of the ladder."),
    "bot show": ("bots:show", "Show a bot: its versions, ratings and last matches."),
    "tournament run": ("tournaments:run", "Play a tournament here and now, to its end."),
    "tournament start": ("tournaments:start", "Plan a tournament and hand it to the workers."),
    "tournament list": ("tournaments:list_", "List the tournaments, newest first."),
    "tournament status": ("tournaments:status", "Say how far a tournament is."),
    "tournament watch": ("tournaments:watch", "Follow a tournament to its end."),
    "tournament resume": ("tournaments:resume", "Go on with a cancelled or interrupted tournament."),
    "tournament cancel": ("tournaments:cancel", "Stop a tournament; its results stay."),
    "tournament results": ("tournaments:results", "Show the crosstable of a tournament."),
    "ladder": ("ladders:ladder", "Show the ladders, or one ladder with its ratings and intervals."),
    "match list": ("matches:list_", "List matches, newest first."),
    "match show": ("matches:show", "Show a match and its board at any move."),
    "match verify": ("matches:verify", "Play records again and compare every line."),
    "match export": ("matches:export", "Write the record of a finished match to a file."),
    "up": ("serve:up", "Start the whole service on this machine."),
    "doctor": ("admin:doctor", "Check the installation; say what to fix."),
    "db upgrade": ("admin:upgrade", "Bring the database's tables up to date."),
    "account create": ("admin:create_account", "Create an account with its first token."),
    "account list": ("admin:list_accounts", "List the accounts of this installation."),
    "token create": ("admin:create_token", "Create a token for an account; print its secret once."),
    "token revoke": ("admin:revoke_token", "Make a token useless from now on."),
}
"""Words of the command -> (module:attribute under this package, its help in one line)."""
GROUPS: Final = {
    "bot": "Write, check, register and run bots.",
    "tournament": "Run, start and follow tournaments.",
    "match": "Look at matches and their records.",
    "db": "Administer the database.",
    "account": "Administer accounts.",
    "token": "Administer tokens.",
}


class Commands(click.Group):
    """The commands whose words start with `prefix`. Loads a command's module when it is called, not before."""

    def __init__(self, prefix: str, text: str) -> None:
        super().__init__(prefix or "hippodrome", help=text, invoke_without_command=True, callback=_help)
        self.prefix = prefix
        start = len(prefix.split())
        self.lines = {words.split()[start]: words for words in COMMANDS if words.split()[:start] == prefix.split()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lines)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in GROUPS and not self.prefix:
            return Commands(cmd_name, GROUPS[cmd_name])
        return load(self.lines[cmd_name]) if cmd_name in self.lines else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.lines and not args[0].startswith("-"):
            raise click.exceptions.NoSuchCommand(args[0], possibilities=self.lines, ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups = {} if self.prefix else GROUPS
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, groups.get(name, COMMANDS.get(words, ("", ""))[1])) for name, words in self.lines.items()]
            )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if not self.prefix:
            with formatter.section("Exit codes"):
                formatter.write_dl([(str(code), text) for code, text in EXIT_CODES.items()])


def load(words: str) -> click.Command:
    """The click command of COMMANDS[words]."""
    module, _, attribute = COMMANDS[words][0].partition(":")
    command = getattr(import_module(f"{__name__}.{module}"), attribute)
    assert isinstance(command, click.Command), words
    command.name = words.split()[-1]
    return command


def root() -> Commands:
    """The whole tree of commands."""
    tree = Commands("", "Hippodrome: tournaments and a ladder for board-game bots.")
    tree.params.append(
        click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version."
        )
    )
    return tree


def run(argv: Sequence[str]) -> int:
    """Run one command line; its exit code. Prints errors, never raises one that bad input causes."""
    try:
        result = root().main(list(argv), prog_name="hippodrome", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        trouble = read(error)
        if trouble is None:
            raise
        return report(trouble, as_json="--json" in argv)


def main() -> None:
    """The entry point of `hippodrome`."""
    sys.exit(run(sys.argv[1:]))


def _help(**_: Any) -> None:
    ctx = click.get_current_context()
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        from importlib.metadata import version

        click.echo(f"hippodrome {version('hippodrome')}")
        ctx.exit()
