"""Helpers for the tests of the SDK: fake engines, and processes that are ended by their id."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a Python process with these arguments; it is ended after the test."""
    running: list[subprocess.Popen[str]] = []

    def begin(*words: str, **env: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_env() | env
        )
        running.append(process)
        return process

    yield begin
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a bot file."""

    def put(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return put


def clean_env() -> dict[str, str]:
    """The environment without settings of this project."""
    return {key: value for key, value in os.environ.items() if not key.startswith("HIPPODROME_")}
