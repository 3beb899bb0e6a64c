"""What the package shows, and what it needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import hippodrome.bot
from hippodrome.bot import testing
from hippodrome.v1.match_pb2 import SeatInfo


def test_the_public_names_are_exactly_these() -> None:
    assert hippodrome.bot.__all__ == [
        "Bot", "BotError", "Choice", "ClockInfo", "ConnectionLost", "HippodromeError", "MatchInfo", "MatchResult",
        "NotAllowed", "Options", "ProtocolError", "Summary", "Turn", "UsageError", "bot", "connect", "load_bot", "run_live",
        "view_dict",
    ]  # fmt: skip
    shown = {name for name in vars(hippodrome.bot) if not name.startswith("_")}
    assert shown - {"hosting", "testing"} == set(hippodrome.bot.__all__)


def test_every_public_name_has_a_docstring_of_its_own() -> None:
    kinds = [getattr(hippodrome.bot, name) for name in hippodrome.bot.__all__ if name != "Choice"]
    assert [kind for kind in kinds if not kind.__doc__] == []


def test_a_bot_needs_nothing_but_grpc_and_protobuf() -> None:
    code = (
        "import sys, hippodrome.bot, hippodrome.bot.testing, hippodrome.bot.hosting\n"
        "print(sorted({m.split('.')[0] for m in sys.modules} | {m for m in sys.modules if m.startswith('hippodrome.')}))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    parts = ("hippodrome.engine", "hippodrome.ladder", "hippodrome.workers")
    for name in ("sqlmodel", "celery", "fastapi", "click", "rich", *parts):
        assert f"'{name}'" not in loaded


def test_importing_prints_nothing() -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", "import hippodrome.bot"], capture_output=True, check=True)
    assert done.stdout + done.stderr == b""


def test_the_fake_referee_takes_any_game_and_says_which_view_is_none() -> None:
    with pytest.raises(ValueError, match="SeatInfo is of no game; fix:"):
        testing.decision(1, testing.Ask(["a"], view=SeatInfo()))
