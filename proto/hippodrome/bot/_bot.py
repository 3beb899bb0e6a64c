"""What a bot author writes: a function under `@bot`, or a class under `Bot`."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from typing import Any, ClassVar, Final, overload

from hippodrome.bot._errors import BotError, last_line, own_trace
from hippodrome.bot._types import MatchInfo, MatchResult, Turn

Choice = str | Sequence[str]
"""What `move` gives: one of `turn.legal`, or several moves: this one, then the seat's next ones while it stays its turn."""

LOADING: Final[ContextVar[bool]] = ContextVar("hippodrome_bot_loading", default=False)
"""Set while `load_bot` executes a bot's file: `run` then does nothing."""
FUNCTION_BOT_MATCHES: Final = 16


class Bot:
    """One instance plays one match and may keep what it likes. Override `move`; it may be `async def`.

    Matches of one process take turns on one thread, unless `move` is `async def` or `threads` is set: then the matches of a
    bot that waits for something (a model behind a network, a program) wait at the same time.
    """

    max_matches: ClassVar[int] = 1
    """How many matches one process plays at once. A quick bot may set 16; a bot that thinks long 1 or 2."""
    threads: ClassVar[bool] = False
    """Run each `move` in a thread, so that matches do not wait for one another."""

    def start(self, match: MatchInfo) -> None:
        """The match begins."""

    def move(self, turn: Turn) -> Choice | Awaitable[Choice]:
        """Choose one of `turn.legal`, or several moves in order."""
        raise NotImplementedError(f"{type(self).__name__} has no move(); fix: define move(self, turn)")

    def end(self, result: MatchResult) -> None:
        """The match is over."""

    @classmethod
    def run(cls) -> None:
        """Play live from the command line and the environment, then exit. Does nothing while the file is being loaded."""
        if not LOADING.get():
            from hippodrome.bot._run import main

            raise SystemExit(main(cls))


_Function = Callable[[Turn], Choice | Awaitable[Choice]]


@overload
def bot(function: _Function) -> type[Bot]: ...
@overload
def bot(*, max_matches: int = ..., threads: bool = ...) -> Callable[[_Function], type[Bot]]: ...


def bot(
    function: _Function | None = None, *, max_matches: int = FUNCTION_BOT_MATCHES, threads: bool = False
) -> type[Bot] | Callable[[_Function], type[Bot]]:
    """Make a bot of a function from a turn to a move: `@bot`, or `@bot(max_matches=2)` if it thinks long."""

    def make(fn: _Function) -> type[Bot]:
        names = {"__doc__": fn.__doc__, "__module__": fn.__module__, "function": staticmethod(fn)}
        return type(fn.__name__, (FunctionBot,), {**names, "max_matches": max_matches, "threads": threads})

    return make if function is None else make(function)


class FunctionBot(Bot):
    """What `@bot` makes: it calls the function."""

    function: ClassVar[_Function]

    def move(self, turn: Turn) -> Choice | Awaitable[Choice]:
        return type(self).function(turn)


def is_async(kind: type[Bot]) -> bool:
    """Whether `move` must be awaited."""
    return inspect.iscoroutinefunction(_author_code(kind))


def checked(kind: type[Bot], turn: Turn, choice: Any) -> list[str]:
    """`choice` as a list of moves. Raises BotError when it is no move text or its first is not legal."""
    moves = [choice] if isinstance(choice, str) else list(choice) if isinstance(choice, (list, tuple)) else []
    if not moves or not all(isinstance(move, str) for move in moves):
        problem = (
            f"move: {_shown(choice)} ({type(choice).__name__}) is no move, at decision {turn.number} of {turn.match.match}"
        )
        raise _bad("bad_answer", problem, kind, turn, choice)
    if moves[0] not in turn.legal:
        problem = f"move: {_shown(moves[0])} is not legal at decision {turn.number} of {turn.match.match}"
        raise _bad("illegal_move", problem, kind, turn, choice)
    return moves


def crash(kind: type[Bot], error: BaseException, doing: str) -> BotError:
    """The BotError of an exception that the bot let through."""
    problem = f"{kind.__name__}.{doing}: {type(error).__name__}: {error}"
    where = last_line(error) or where_is(kind)
    return BotError("crash", problem, where=where, fix="correct the bot at that line", trace=own_trace(error))


def where_is(kind: type[Bot]) -> str:
    """File and line of the bot's move()."""
    code = getattr(_author_code(kind), "__code__", None)
    return f"{code.co_filename}, line {code.co_firstlineno}" if code else f"{kind.__module__}.{kind.__name__}"


def _author_code(kind: type[Bot]) -> Callable[..., Any]:
    found: Callable[..., Any] = inspect.unwrap(kind.function if issubclass(kind, FunctionBot) else kind.move)
    return found


def _bad(code: str, problem: str, kind: type[Bot], turn: Turn, choice: Any) -> BotError:
    where = f"{where_is(kind)}, returned {_shown(choice)}"
    answer = choice if isinstance(choice, str) else str(choice[0]) if code == "illegal_move" else _shown(choice)
    return BotError(code, problem, legal=turn.legal, where=where, fix="return one of turn.legal", answer=answer)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
