"""How a bot is named for play on this machine: `random` (built in), `mybot.py`, `mybot.py:Class`, `cmd:./mybot --fast`."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from hippodrome.bot import Bot, load_bot
from hippodrome.bots import BUILTINS
from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import did_you_mean

_INTERPRETER: Final = re.compile(r"(python|pypy|node|deno|bun|java|ruby|perl|lua|bash|sh)[\d.]*")


@dataclass(frozen=True, slots=True)
class BotSpec:
    """`name` is how results call it; `source` is what `load_bot` takes; `command` the words of a program, or empty."""

    name: str
    source: str
    command: tuple[str, ...] = ()

    def load(self) -> type[Bot]:
        """The bot. Raises hippodrome.bot.UsageError or BotError."""
        return _load(self.source)


def read_bots(texts: Sequence[str]) -> tuple[BotSpec, ...]:
    """The bots named by `texts`, with names made different (`random`, `random-2`). Raises FieldError."""
    bots = [read_bot(text) for text in texts]
    names = [bot.name for bot in bots]
    return tuple(replace(bot, name=_apart(bot.name, names[:place])) for place, bot in enumerate(bots))


def read_bot(text: str) -> BotSpec:
    """The bot that `text` names. Raises FieldError; a file is opened only by `BotSpec.load`."""
    if text.startswith("cmd:"):
        return _program(text)
    if text in BUILTINS:
        return BotSpec(text, BUILTINS[text])
    if text.partition(":")[0].endswith(".py") or text.rpartition(":")[0].endswith(".py"):
        return BotSpec(_file_name(text), text)
    if text.startswith("live:") or re.fullmatch(r"[a-z][a-z0-9-]*@\d+", text):
        raise FieldError("bot", f"{text!r} plays on a server", "name a file or a built-in bot for play on this machine")
    raise FieldError("bot", f"no bot {text!r}", _hint(text), tuple(BUILTINS))


def check_bots(bots: Sequence[BotSpec]) -> None:
    """Load every bot of Python and find every program. Raises the error of the first that cannot play."""
    for bot in bots:
        if not bot.command:
            bot.load()
        elif shutil.which(bot.command[0]) is None:
            raise FieldError("bot", f"no program {bot.command[0]!r}", "check the path, and that it may be executed")


def _program(text: str) -> BotSpec:
    try:
        words = tuple(shlex.split(text.removeprefix("cmd:")))
    except ValueError as error:
        raise FieldError("bot", f"{text!r} cannot be read: {error}", "quote it as for a shell") from None
    if not words:
        raise FieldError("bot", "cmd: names no program", "write cmd:./mybot --option")
    return BotSpec(_program_name(words), text, words)


def _program_name(words: Sequence[str]) -> str:
    """The stem of the program, or, where that is an interpreter, of what it runs."""
    first = Path(words[0]).stem
    runs = [Path(word).stem for word in words[1:] if not word.startswith("-")]
    return runs[0] if runs and _INTERPRETER.fullmatch(first) else first


def _file_name(text: str) -> str:
    path, _, name = text.rpartition(".py")
    return name.lstrip(":") or Path(path).name


def _hint(text: str) -> str:
    if Path(text + ".py").is_file():
        return f"did you mean the file {text}.py?"
    return did_you_mean(text, list(BUILTINS)) + "; or a file ending in .py, or cmd:PROGRAM"


def _apart(name: str, taken: Sequence[str]) -> str:
    before = taken.count(name)
    return f"{name}-{before + 1}" if before else name


@cache
def _load(source: str) -> type[Bot]:
    return load_bot(source)
