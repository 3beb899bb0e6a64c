"""What the README shows is what happens: each console block is run, word for word, in one empty folder.

A line `$ command` is run; the lines below it are what it prints, stdout and stderr together. A word with a digit stands for
any other word, spaces for any other spaces, and a line `...` for any lines. A block behind `<!-- not run: reason -->` is
left out: it says why.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
README = (TOP / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?P<skip><!-- not run: .+? -->\n)?```(?P<kind>\w+)\n(?P<body>.*?)```", re.DOTALL)


def blocks(kind: str) -> list[str]:
    return [found["body"] for found in BLOCK.finditer(README) if found["kind"] == kind and not found["skip"]]


def commands(block: str) -> list[tuple[str, list[str]]]:
    """(command, expected lines) of a console block."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def pattern(lines: list[str]) -> re.Pattern[str]:
    """The expected lines with numbers, spaces and dashes loosened and `...` open."""
    parts = [r"(?:.*\n)*?" if line.strip() == "..." else loosened(line) + r"\s*\n" for line in lines]
    return re.compile("".join(parts) + r"\s*", re.MULTILINE)


def loosened(line: str) -> str:
    """Words with a digit, or `inf`, stand for any other word, so that times and ratings may differ."""
    words = [r"\S+" if re.search(r"\d|\binf\b", word) else re.escape(word) for word in line.split()]
    return r"\s*" + r"\s+".join(words)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HIPPODROME_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    home = {"HIPPODROME_HOME": str(tmp_path / "home"), "COLUMNS": "80", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
    return {**kept, **home, "PATH": path}


def test_every_console_block_of_the_readme_runs_as_printed(tmp_path: Path, environment: dict[str, str]) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    ran = [run(command, expected, folder, environment) for block in blocks("console") for command, expected in commands(block)]
    assert len(ran) >= 5, "the README shows commands"


def run(command: str, expected: list[str], folder: Path, environment: dict[str, str]) -> str:
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, text=True, timeout=200, check=False, **both)
    assert done.returncode == 0, f"$ {command}\n{done.stdout}"
    said = "\n".join(expected)
    assert pattern(expected).fullmatch(done.stdout + "\n"), f"$ {command}\nprints\n{done.stdout}\nthe README says\n{said}"
    return command


def test_the_smallest_bot_of_the_readme_has_at_most_five_lines_and_plays(tmp_path: Path, environment: dict[str, str]) -> None:
    sources = [body for body in blocks("python") if "@bot" in body]
    assert sources, "the README shows a bot"
    assert len([line for line in sources[0].splitlines() if line.strip()]) <= 5
    for number, source in enumerate(sources):
        (tmp_path / f"bot{number}.py").write_text(source, encoding="utf-8")
        command = [sys.executable, "-m", "hippodrome.workers.cli", "play", "antiquity", f"bot{number}.py", "random", "--json"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr


def test_the_python_blocks_of_the_readme_run(tmp_path: Path, environment: dict[str, str]) -> None:
    for source in blocks("python"):
        if "@bot" not in source and "Bot)" not in source:
            done = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr


def test_what_is_not_run_says_why() -> None:
    assert all(len(found["skip"]) > 30 for found in BLOCK.finditer(README) if found["skip"])
