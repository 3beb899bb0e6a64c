"""The rule index of `rules.py`, the docstrings of the functions and those of the tests name the same sections."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hippodrome.games.antiquity import rules

PACKAGE = Path(rules.__file__).parent
HEAD = re.compile(r"((?:§[A-Z0-9][\w -]*|ruling 1\.5\.\d+)(?:, (?:§[A-Z0-9][\w -]*|ruling 1\.5\.\d+))*): ")
SECTIONS = [
    "§Setup", "§1", "§1a", "§1b", "§1c", "§1d", "§2", "§End", "§VP monuments", "§VP stories", "§Victory", "§Two-player",
    "§Power", *(f"ruling 1.5.{n}" for n in range(1, 25)),
]  # fmt: skip


def index() -> set[tuple[str, str]]:
    """(section, function) of each row."""
    rows = [line.split("|") for line in (rules.__doc__ or "").splitlines() if line.startswith("| ")]
    return {(row[1].strip(), row[3].strip()) for row in rows if row[1].strip() != "Section"}


def documented(folder: Path) -> Iterator[tuple[str, str]]:
    """(section, module.function) of each docstring that begins with sections."""
    for path in sorted(folder.glob("*.py")):
        for name, node in functions(ast.parse(path.read_text(encoding="utf-8"))):
            found = HEAD.match(ast.get_docstring(node) or "")
            for section in found[1].split(", ") if found else ():
                yield section, f"{path.stem}.{name}"


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{item.name}", item) for item in node.body if isinstance(item, ast.FunctionDef))


def test_every_section_of_the_rulebook_and_every_ruling_is_in_the_index() -> None:
    assert sorted({section for section, _ in index()}) == sorted(SECTIONS)


def test_the_index_names_exactly_the_functions_whose_docstrings_name_the_section() -> None:
    assert sorted(index()) == sorted(documented(PACKAGE))


def test_every_function_of_the_index_can_be_imported() -> None:
    for _, function in index():
        module, *names = function.split(".")
        found: Any = importlib.import_module(f"{rules.__package__}.{module}")
        for name in names:
            found = getattr(found, name)
        assert callable(found) or isinstance(found, property)


def test_every_section_has_a_test() -> None:
    tested = {section for section, name in documented(Path(__file__).parent) if ".test_" in name}
    assert sorted(tested) == sorted(SECTIONS)
