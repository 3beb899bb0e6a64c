"""Loading bots from files and modules, and what is said when that fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hippodrome.bot import BotError, UsageError, load_bot
from hippodrome.bot.testing import Ask, play
from hippodrome.bots import BUILTINS

Write = Callable[[str, str], Path]
SMALLEST = """
    from hippodrome.bot import bot
    @bot
    def mine(turn):
        return turn.legal[0]
    mine.run()
"""
TWO = """
    from hippodrome.bot import Bot, bot

    @bot
    def quick(turn):
        return turn.legal[0]

    class Base(Bot):
        def last(self, turn):
            return turn.legal[-1]

    class Slow(Base):
        def move(self, turn):
            return self.last(turn)
"""


def test_run_does_nothing_while_a_file_is_loaded(write: Write) -> None:
    kind = load_bot(str(write("mine.py", SMALLEST)))
    assert kind.__name__ == "mine"
    assert play(kind, [Ask("ab")]) == [["a"]]


def test_a_bot_is_named_after_the_colon(write: Write) -> None:
    path = write("two.py", TWO)
    assert play(load_bot(f"{path}:Slow"), [Ask("ab")]) == [["b"]]
    assert play(load_bot(f"{path}:quick"), [Ask("ab")]) == [["a"]]


@pytest.mark.parametrize("module", sorted(BUILTINS.values()))
def test_every_built_in_bot_is_a_module_with_one_bot(module: str) -> None:
    assert load_bot(module).__module__ == module.partition(":")[0]


def test_a_module_may_name_its_bot_too() -> None:
    assert load_bot("hippodrome.bots.random:random") is load_bot("hippodrome.bots.random")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("two.py", "has 2 bots; fix: name one: "),
        ("two.py:Slov", "no bot 'Slov' in "),
        ("two.py:Slov", "fix: did you mean "),
        ("two.py:zzz", "fix: name one: "),
        ("none.py", "no bot in "),
        ("none.py", "fix: put @bot above your function, or derive your class from Bot"),
        ("none.py:zzz", "no bot 'zzz' in "),
        ("tow.py", "no file "),
        ("tow.py", "fix: did you mean 'two.py'?"),
        ("missing/zzz.py", "fix: check the path"),
        ("folder.py", "is a folder; fix: name the file of the bot in it"),
    ],
)
def test_what_is_not_there_is_named_with_the_fix(write: Write, tmp_path: Path, name: str, problem: str) -> None:
    write("two.py", TWO)
    write("none.py", "x = 1")
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(UsageError) as caught:
        load_bot(f"{tmp_path}/{name}")
    assert str(caught.value).startswith("bot: ")
    assert problem in str(caught.value)


def test_a_module_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match=r"no module 'no\.such\.module'; fix: give a file ending in \.py"):
        load_bot("no.such.module")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("import nunpy", "ModuleNotFoundError: No module named 'nunpy'"),
        ("def broken(:", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise SystemExit('bye')", "SystemExit: bye"),
    ],
)
def test_a_file_that_does_not_run_is_told_with_its_own_traceback(write: Write, text: str, error: str) -> None:
    path = write("broken.py", text)
    with pytest.raises(BotError) as caught:
        load_bot(str(path))
    assert (caught.value.code, caught.value.exit_code) == ("load", 4)
    assert error in caught.value.trace
    assert "_load.py" not in caught.value.trace
    assert "importlib" not in caught.value.trace


def test_bots_of_two_folders_may_have_helpers_of_the_same_name(write: Write) -> None:
    bot_text = """
        from hippodrome.bot import bot
        import engine
        @bot
        def mine(turn):
            return engine.choose(turn)
    """
    write("one/engine.py", "def choose(turn): return turn.legal[0]")
    write("two/engine.py", "def choose(turn): return turn.legal[-1]")
    first, second = load_bot(str(write("one/mine.py", bot_text))), load_bot(str(write("two/mine.py", bot_text)))
    assert play(first, [Ask("abc")]) == [["a"]]
    assert play(second, [Ask("abc")]) == [["c"]]


def test_a_file_that_was_changed_is_read_again(write: Write) -> None:
    path = write("mine.py", SMALLEST)
    assert play(load_bot(str(path)), [Ask("ab")]) == [["a"]]
    path.write_text(path.read_text(encoding="utf-8").replace("legal[0]", "legal[-1] "), encoding="utf-8")
    assert play(load_bot(str(path)), [Ask("ab")]) == [["b"]]
