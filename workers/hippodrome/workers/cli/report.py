"""Errors and exit codes of the command line.

An error is printed on stderr as `error[CODE] field: what was wrong` and `  fix: what to do`, or, with `--json`, as one
JSON document of schema `hippodrome.error/1` (code, field, problem, fix).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Final

import click

from hippodrome.engine.errors import FieldError

FAILED, USAGE, UNREACHABLE, BOT, NOT_ALLOWED, INTERRUPTED = 1, 2, 3, 4, 5, 130
EXIT_CODES: Final = {
    0: "done",
    FAILED: "the job ran and failed: a check, a verification",
    USAGE: "a word, option, name, file or setting is wrong",
    UNREACHABLE: "a server, database or broker cannot be reached",
    BOT: "a bot misbehaved: illegal move, crash, timeout",
    NOT_ALLOWED: "not allowed: token missing, wrong or not enough",
    INTERRUPTED: "interrupted",
}
"""Exit code -> its meaning, as shown by `hippodrome --help`."""
CODES: Final[dict[str, tuple[str, int]]] = {
    "NotFound": ("not_found", USAGE),
    "AlreadyExists": ("already_exists", USAGE),
    "WrongState": ("wrong_state", USAGE),
    "NotAllowed": ("not_allowed", NOT_ALLOWED),
    "Unreachable": ("unreachable", UNREACHABLE),
    "DatabaseUnavailable": ("database", UNREACHABLE),
    "BrokerUnavailable": ("broker", UNREACHABLE),
    "ConnectionLost": ("unreachable", UNREACHABLE),
    "BotError": ("bot_misbehaved", BOT),
    "UsageError": ("bad_value", USAGE),
    "ProtocolError": ("protocol", FAILED),
    "RecordError": ("bad_record", USAGE),
    "FieldError": ("bad_value", USAGE),
    "HippodromeError": ("failed", FAILED),
    "OSError": ("file", USAGE),
}
"""Name of an error's class, narrowest first -> (code, exit code)."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error ready to print. `field` and `fix` may be empty; `notes` are further lines, such as the bot's traceback."""

    code: str
    field: str
    problem: str
    fix: str
    exit_code: int
    notes: tuple[str, ...] = ()


def read(error: BaseException) -> Trouble | None:
    """What to print for `error`; None when it is none that a user can cause."""
    if isinstance(error, click.ClickException):
        return _usage(error)
    names = [cls.__name__ for cls in type(error).__mro__]
    known = next((CODES[name] for name in names if name in CODES), None)
    if known is None:
        return None
    if isinstance(error, FieldError):
        return Trouble(known[0], error.field, error.problem, error.fix, known[1])
    if isinstance(error, OSError):
        return Trouble(
            known[0], str(error.filename or "file"), error.strerror or str(error), "give a path that works", known[1]
        )
    return replace(_plain(str(error), *known), notes=_notes(error))


def report(trouble: Trouble, *, as_json: bool = False) -> int:
    """Print it on stderr; its exit code."""
    if as_json:
        click.echo(json.dumps({"schema": "hippodrome.error/1", **asdict(trouble)}, ensure_ascii=False), err=True)
    else:
        click.echo(text(trouble), err=True)
    return trouble.exit_code


def text(trouble: Trouble) -> str:
    """`error[CODE] field: what`, the notes and, if there is one, `  fix: ...`, each on a line of its own."""
    where = f"{trouble.field}: " if trouble.field else ""
    head = f"{click.style(f'error[{trouble.code}]', fg='red', bold=True)} {where}{trouble.problem}"
    fix = (f"fix: {trouble.fix}",) if trouble.fix else ()
    return "\n  ".join((head, *trouble.notes, *fix))


def _notes(error: BaseException) -> tuple[str, ...]:
    """What an error of a bot tells beside its message: legal moves, place in its file, its traceback."""
    legal, where, trace = (getattr(error, name, "") for name in ("legal", "where", "trace"))
    shown = (f"legal: {' '.join(legal[:12])}{' ...' if len(legal) > 12 else ''}",) if legal else ()
    place = (f"your bot: {where}",) if where else ()
    return (*shown, *place, *(f"| {line}" for line in str(trace).splitlines()))


def _plain(message: str, code: str, exit_code: int) -> Trouble:
    """An error that carries only its message; the part after `; fix: ` is the fix."""
    first, _, fix = message.partition("; fix: ")
    field, colon, problem = first.partition(": ")
    if not colon or " " in field:
        return Trouble(code, "", first, fix, exit_code)
    return Trouble(code, field, problem, fix, exit_code)


def _usage(error: click.ClickException) -> Trouble:
    """Click's own errors, in our form."""
    for kind, describe in _USAGES:
        if isinstance(error, kind):
            code, field, problem, fix = describe(error)
            return Trouble(code, field, problem, fix or _see_help(error), USAGE)
    return Trouble("usage", "", error.format_message(), _see_help(error), USAGE)


def _command(error: click.exceptions.NoSuchCommand) -> tuple[str, str, str, str]:
    near = _nearest(error.possibilities)
    return (
        "unknown_command",
        "command",
        f"no command {error.command_name!r}",
        near and f"{near}  all commands: {_help_of(error)}",
    )


def _option(error: click.exceptions.NoSuchOption) -> tuple[str, str, str, str]:
    near = _nearest(error.possibilities)
    return "unknown_option", error.option_name, "no such option", near and f"{near}  all options: {_help_of(error)}"


def _missing(error: click.exceptions.MissingParameter) -> tuple[str, str, str, str]:
    return "missing", _name(error), "is missing", ""


def _parameter(error: click.exceptions.BadParameter) -> tuple[str, str, str, str]:
    return "bad_value", _name(error), _lower(error.message), ""


def _option_usage(error: click.exceptions.BadOptionUsage) -> tuple[str, str, str, str]:
    return "bad_value", error.option_name, _lower(error.message), ""


_USAGES: Final = (
    (click.exceptions.NoSuchCommand, _command),
    (click.exceptions.NoSuchOption, _option),
    (click.exceptions.MissingParameter, _missing),
    (click.exceptions.BadParameter, _parameter),
    (click.exceptions.BadOptionUsage, _option_usage),
)
"""Click's classes, narrowest first -> (code, field, problem, fix) of an error of it."""


def _nearest(possibilities: list[str] | None) -> str:
    return f"did you mean {possibilities[0]!r}?" if possibilities else ""


def _name(error: click.exceptions.BadParameter) -> str:
    """`--games` of an option, `GAME` of an argument."""
    param = error.param
    if param is None:
        return str(error.param_hint or "argument")
    return (
        param.opts[-1]
        if isinstance(param, click.Option)
        else param.make_metavar(click.Context(click.Command("x"))).strip("[].")
    )


def _lower(message: str) -> str:
    return (message[:1].lower() + message[1:]).rstrip(".")


def _help_of(error: click.ClickException) -> str:
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    return f"{ctx.command_path if ctx else 'hippodrome'} --help"


def _see_help(error: click.ClickException) -> str:
    return f"see {_help_of(error)}"
