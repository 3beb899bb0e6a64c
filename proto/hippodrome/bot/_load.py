"""Loading a bot from a file or a module."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Final

from hippodrome.bot._bot import LOADING, Bot, FunctionBot
from hippodrome.bot._errors import BotError, HippodromeError, UsageError, last_line, own_trace

_FOLDERS: Final[set[Path]] = set()
"""Folders of the bots loaded so far."""


def load_bot(spec: str) -> type[Bot]:
    """The bot of `mybot.py`, `mybot.py:Class`, `package.module` or `package.module:Class`.

    Raises UsageError (no such file, no bot in it, several and none named) or BotError (the file does not run). Bots of
    different folders may each have helper modules of the same name.
    """
    where, name = split_spec(spec)
    module = _from_file(Path(where)) if where.endswith(".py") else _from_module(where)
    return _pick(module, where, name)


def split_spec(spec: str) -> tuple[str, str]:
    """File or module, and the name of the bot in it (may be empty)."""
    where, colon, name = spec.rpartition(":")
    return (where, name) if colon and name.isidentifier() and len(where) > 1 else (spec, "")


def _from_file(path: Path) -> ModuleType:
    full = path.resolve()
    if full.is_dir():
        raise UsageError(f"bot: {str(path)!r} is a folder; fix: name the file of the bot in it")
    if not full.is_file():
        raise UsageError(f"bot: no file {str(path)!r}; fix: {_near_file(full)}")
    _make_room(full.parent)
    name = f"_hippodrome_bot_{sha256(str(full).encode()).hexdigest()[:12]}"
    found = importlib.util.spec_from_file_location(name, full)
    assert found is not None
    assert found.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(found)
    with _loading(str(path)):
        found.loader.exec_module(module)
    return module


def _from_module(name: str) -> ModuleType:
    try:
        known = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        known = None
    if known is None:
        raise UsageError(f"bot: no module {name!r}; fix: give a file ending in .py, or a module that can be imported")
    with _loading(name):
        return importlib.import_module(name)


@contextmanager
def _loading(what: str) -> Iterator[None]:
    """`run` does nothing in here, and whatever the bot's code raises becomes a BotError."""
    token = LOADING.set(True)
    try:
        yield
    except HippodromeError:
        raise
    except (Exception, SystemExit) as error:
        problem = f"bot: {what} does not load: {type(error).__name__}: {error}"
        raise BotError("load", problem, where=last_line(error), fix="correct that line", trace=own_trace(error)) from None
    finally:
        LOADING.reset(token)


def _make_room(folder: Path) -> None:
    """Let a bot import the modules beside it, and not those of the same name beside another bot."""
    own = {entry.stem for entry in folder.iterdir() if entry.suffix == ".py" or entry.is_dir()}
    for name, module in list(sys.modules.items()):
        home = Path(getattr(module, "__file__", None) or "/").parent
        if name.partition(".")[0] in own and any(home.is_relative_to(f) for f in _FOLDERS - {folder}):
            del sys.modules[name]
    _FOLDERS.add(folder)
    sys.path[:] = [str(folder), *(entry for entry in sys.path if entry != str(folder))]
    importlib.invalidate_caches()


def _pick(module: ModuleType, where: str, name: str) -> type[Bot]:
    bots = {key: value for key, value in vars(module).items() if _is_bot(value, module)}
    if name and name not in bots:
        raise UsageError(f"bot: no bot {name!r} in {where}; fix: {_offer(where, name, list(bots))}")
    if len(set(bots.values())) > 1 and not name:
        raise UsageError(f"bot: {where} has {len(bots)} bots; fix: name one: {_names(where, list(bots))}")
    if not bots:
        raise UsageError(f"bot: no bot in {where}; fix: put @bot above your function, or derive your class from Bot")
    found: type[Bot] = bots[name or next(iter(bots))]
    return found


def _is_bot(value: object, module: ModuleType) -> bool:
    """A finished bot made in this module (not one that was imported, nor a base with no move of its own)."""
    if not isinstance(value, type) or not issubclass(value, Bot) or value.__module__ != module.__name__:
        return False
    return value.move is not Bot.move and value is not FunctionBot


def _offer(where: str, name: str, bots: list[str]) -> str:
    near = difflib.get_close_matches(name, bots, n=1)
    if near:
        return f"did you mean {where}:{near[0]}?"
    return f"name one: {_names(where, bots)}" if bots else "put @bot above your function, or derive your class from Bot"


def _names(where: str, bots: list[str]) -> str:
    return ", ".join(f"{where}:{bot}" for bot in bots)


def _near_file(full: Path) -> str:
    files = sorted(p.name for p in full.parent.glob("*.py")) if full.parent.is_dir() else []
    near = difflib.get_close_matches(full.name, files, n=1)
    return f"did you mean {near[0]!r}?" if near else "check the path"
