"""The tree of commands: help everywhere, --json everywhere, and help is quick."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

import hippodrome.workers.cli as package
from hippodrome.workers.cli import COMMANDS, GROUPS, load
from hippodrome.workers.cli.docs import lines
from hippodrome.workers.cli.report import CODES, EXIT_CODES

HEAVY = ("grpc", "google.protobuf", "sqlmodel", "sqlalchemy", "alembic", "celery", "kombu", "fastapi", "uvicorn", "rich")
FOLDER = Path(package.__file__).parent
WORKERS = FOLDER.parent


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_has_json_a_help_for_itself_and_for_each_option(words: str) -> None:
    command = load(words)
    options = [param for param in command.params if isinstance(param, click.Option)]
    assert "--json" in [name for option in options for name in option.opts]
    assert command.help
    assert all(option.help for option in options), words
    assert command.name == words.split()[-1]


@pytest.mark.parametrize("words", ["", *GROUPS, *COMMANDS])
def test_help_is_shown_on_stdout_in_80_columns(cli: Any, words: str) -> None:
    said = cli(*words.split(), "--help")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("Usage: hippodrome")
    assert max(map(len, said.out.splitlines())) <= 80


def test_help_names_all_commands_and_all_exit_codes(cli: Any) -> None:
    text = cli("--help").out
    for words in COMMANDS:
        assert re.search(rf"^  {words.split()[0]} ", text, re.M), words
    for code, meaning in EXIT_CODES.items():
        assert re.search(rf"^  {code} +{re.escape(meaning[:20])}", text, re.M), code
    assert set(EXIT_CODES) == {0, 1, 2, 3, 4, 5, 130}
    assert {code for _, code in CODES.values()} <= set(EXIT_CODES)


@pytest.mark.parametrize("words", ["", *GROUPS])
def test_a_group_alone_shows_its_help(cli: Any, words: str) -> None:
    said = cli(*words.split())
    assert said == cli(*words.split(), "--help")


def test_the_version_is_shown(cli: Any) -> None:
    assert re.fullmatch(r"hippodrome \d+\.\d+\.\d+\n", cli("--version").out)


def test_help_loads_nothing_heavy() -> None:
    """In a fresh interpreter, for the whole tree."""
    code = (
        "import sys; from hippodrome.workers.cli import run, COMMANDS, GROUPS\n"
        "codes = [run([*w.split(), '--help']) for w in ['', *GROUPS, *COMMANDS]]\n"
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "print(codes, loaded, file=sys.stderr)\n"
        "sys.exit(any(codes) or bool(loaded))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_every_command_line_that_is_recommended_exists() -> None:
    """`next: hippodrome ...`, `fix: hippodrome ...` and `see `hippodrome ...`` in our own texts."""
    known = {"help", *COMMANDS, *(words.split()[0] for words in COMMANDS)}
    files = [*FOLDER.glob("*.py"), *WORKERS.glob("*.py"), *WORKERS.parents[2].glob("ladder/hippodrome/ladder/**/*.py")]
    found: set[str] = set()
    for file in files:
        for first, second in re.findall(r"(?:next: |fix: |start one: |`)hippodrome ([a-z]+)(?: ([a-z]+))?", file.read_text()):
            found.add(f"{first} {second}" if first in GROUPS and second else first)
    assert len(found) > 10
    assert found <= known, found - known


def test_the_reference_in_the_docs_is_that_of_these_commands() -> None:
    page = WORKERS.parents[2] / "docs" / "cli.md"
    assert page.read_text(encoding="utf-8") == "\n".join(lines()) + "\n", (
        "fix: python -m hippodrome.workers.cli.docs > docs/cli.md"
    )
