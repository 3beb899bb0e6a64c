"""The examples of the engine's documentation run as they stand, its tables are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hippodrome.engine.conformance import CHECKS
from hippodrome.engine.record import _KINDS

ROOT = Path(__file__).parents[2]
PAGES = ("chance", "record", "engine", "games")
EXAMPLES = [
    (page, code) for page in PAGES for code in re.findall(r"```python\n(.*?)```", (ROOT / f"docs/{page}.md").read_text(), re.S)
]


@pytest.mark.parametrize(("page", "code"), EXAMPLES, ids=[page for page, _ in EXAMPLES])
def test_the_example_runs(page: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(code, f"docs/{page}.md", "exec"), {})


def test_every_page_has_an_example() -> None:
    assert {page for page, _ in EXAMPLES} == set(PAGES)


def test_the_table_of_checks_is_complete() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", (ROOT / "docs/games.md").read_text(), re.M)
    table = dict(rows)
    for name, check in CHECKS:
        assert table[name] == " ".join((check.__doc__ or "").split())


def test_the_record_page_names_every_key() -> None:
    page = (ROOT / "docs/record.md").read_text()
    for needed, allowed in _KINDS.values():
        for key in (*needed, *allowed):
            assert f"`{key}`" in page or f'"{key}"' in page, key
