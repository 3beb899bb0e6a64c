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
    "ProcessDied": ("bot_misbehaved", BOT),
    "StartFailed": ("service", FAILED),
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
    see = f"see {_help_of(error)}"
    match error:
        case click.exceptions.NoSuchCommand():
            fix = f"{_nearest(error.possibilities)}all commands: {_help_of(error)}"
            return Trouble("unknown_command", "command", f"no command {error.command_name!r}", fix, USAGE)
        case click.exceptions.NoSuchOption():
            fix = f"{_nearest(error.possibilities)}all options: {_help_of(error)}"
            return Trouble("unknown_option", error.option_name, "no such option", fix, USAGE)
        case click.exceptions.MissingParameter():
            return Trouble("missing", _name(error), "is missing", see, USAGE)
        case click.exceptions.BadOptionUsage():
            return Trouble("bad_value", error.option_name, _lower(error.message), see, USAGE)
        case click.exceptions.BadParameter():
            return Trouble("bad_value", _name(error), _lower(error.message), see, USAGE)
    return Trouble("usage", "", _lower(error.format_message()), see, USAGE)


def _nearest(possibilities: list[str] | None) -> str:
    return f"did you mean {possibilities[0]!r}?  " if possibilities else ""


def _name(error: click.exceptions.BadParameter) -> str:
    """`--games` of an option, `GAME` of an argument."""
    if isinstance(error.param, click.Option):
        return error.param.opts[-1]
    return error.param.human_readable_name if error.param else str(error.param_hint or "argument")


def _lower(message: str) -> str:
    return (message[:1].lower() + message[1:]).rstrip(".")


def _help_of(error: click.ClickException) -> str:
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    return f"{ctx.command_path if ctx else 'hippodrome'} --help"
