"""`python -m hippodrome.workers.cli.docs` prints docs/cli.md: the reference of the command line, from the commands."""

from __future__ import annotations

from collections.abc import Iterator

import click

from hippodrome.ladder.settings import KNOWN
from hippodrome.workers.cli import COMMANDS, load
from hippodrome.workers.cli.report import CODES, EXIT_CODES

_INTRODUCTION = """\
# The command line

Made by `python -m hippodrome.workers.cli.docs`; a test compares.

Data go to stdout, progress and messages to stderr. With `--json` a command prints one JSON document (`tournament watch`: one
a line) whose `schema` is `hippodrome.NAME/1`; errors are then a document of schema `hippodrome.error/1` on stderr. Tables fit
the terminal: whole columns are left out, and named, before a cell is cut. `NO_COLOR` is honoured, and what is no terminal gets
no colours.

A bot is named `random` (built in, or on the ladder), `quokka@3` (a version), `mybot.py` or `mybot.py:Class` (a file), or
`cmd:./mybot --fast` (a program). Data come from the server of `--server` or `HIPPODROME_SERVER`, else from the service that
runs on this home, else from the database.
"""


def lines() -> Iterator[str]:
    """The lines of the page."""
    yield from _INTRODUCTION.splitlines()
    for words in COMMANDS:
        yield from _command(words)
    yield from ("", "## Exit codes", "", "| code | meaning |", "|---|---|")
    yield from (f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())
    yield from ("", "## Codes of errors", "", "`error[CODE] field: what was wrong`, then `  fix: what to do`.", "")
    yield from ("| code | exit code |", "|---|---|")
    extra = (("unknown_command", 2), ("unknown_option", 2), ("missing", 2), ("usage", 2))
    yield from (f"| `{code}` | {exit_code} |" for code, exit_code in dict.fromkeys((*CODES.values(), *extra)))
    yield from ("", "## Settings", "", "| variable | meaning |", "|---|---|")
    yield from (f"| `{name}` | {meaning} |" for name, meaning in KNOWN.items())


def _command(words: str) -> Iterator[str]:
    command = load(words)
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    usage = " ".join([_metavar(argument) for argument in arguments])
    yield from ("", f"## hippodrome {words}", "", COMMANDS[words][1], "")
    yield f"`hippodrome {' '.join(filter(None, (words, usage, '[OPTIONS]')))}`"
    for paragraph in (command.help or "").split("\n\n"):
        yield from ("", " ".join(paragraph.split()))
    yield from ("", "| option | |", "|---|---|")
    yield from (_option(param) for param in command.params if isinstance(param, click.Option))


def _metavar(argument: click.Argument) -> str:
    name = argument.human_readable_name + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _option(option: click.Option) -> str:
    value = "" if option.is_flag else f" {option.metavar or (option.name or '').upper()}"
    default = f" Default: {option.default}." if option.show_default else ""
    return f"| `{option.opts[-1]}{value}` | {option.help}{default} |"


if __name__ == "__main__":
    print("\n".join(lines()))
