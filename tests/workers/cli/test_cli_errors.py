"""Wrong input: one line that names the field and what was wrong, one with the fix, on stderr; nothing is ignored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BAD_BOT = "from hippodrome.bot import bot\n\n\n@bot\ndef bad(turn):\n    return 'nonsense'\n"
WRONG: list[tuple[str, str, str]] = [
    ("demoo", "command", "did you mean 'demo'?"),
    ("tournment list", "command", "did you mean 'tournament'?"),
    ("tournament strat antiquity-2p quokka wombat", "command", "did you mean 'start'?"),
    ("play", "GAME", "is missing"),
    ("play antiquity", "BOTS", "is missing"),
    ("games antiqity", "game", "did you mean 'antiquity'?"),
    ("games antiquity extra", "", "unexpected extra argument"),
    ("games --jsn", "--jsn", "did you mean '--json'?"),
    ("play antiqity random random", "game", "did you mean 'antiquity'?"),
    ("play antiquity-5p random random", "players", "2, 3, 4"),
    ("play antiquity-3p random random", "bots", "2 given"),
    ("play antiquity random", "players", "legal: 2, 3, 4"),
    ("play antiquity randm random", "bot", "did you mean 'random'?"),
    ("play antiquity nobody.py random", "bot", "no file"),
    ("play antiquity quokka@2 random", "bot", "plays on a server"),
    ("play antiquity cmd: random", "bot", "names no program"),
    ("play antiquity random random --game 3", "--game", "did you mean '--games'?"),
    ("play antiquity random random --games 0", "--games", "not in the range"),
    ("play antiquity random random --games x", "--games", "not a valid integer"),
    ("play antiquity random random --clock soon", "clock", "60s+100ms"),
    ("play antiquity random random --clock 0s", "clock", "bank above 0"),
    ("play antiquity random random --policy forgive", "policy", "retry:N"),
    ("play antiquity random random --option powr=true", "options", "did you mean 'power'?"),
    ("play antiquity random random --option power=maybe", "options.power", "true"),
    ("play antiquity random random --option power", "--option", "NAME=VALUE"),
    ("play antiquity-2p random random --option power=true", "--option", "names its options already"),
    ("play antiquity random random --jobs -1", "--jobs", "not in the range"),
    ("play antiquity random random --out full", "--out", "holds records already"),
    ("bot new My-Bot", "NAME", "lower-case"),
    ("bot new taken", "NAME", "--force"),
    ("bot check nobody.py", "bot", "no file"),
    ("bot check random --game antiquity-7p", "players", "2, 3, 4"),
    ("bot check random --positions 0", "--positions", "not in the range"),
    ("bot create Quokka", "bot_id", "lower-case"),
    ("bot create quokka", "bot_id", "taken"),
    ("bot create nobody --new-version", "name", "no bot 'nobody'"),
    ("bot show quoka", "name", "did you mean 'quokka'?"),
    ("bot run x.py --bot a --bot b --server 127.0.0.1:9 --token t", "--bot", "2 names for 1 files"),
    ("bot run x.py", "--server", "hippodrome up"),
    ("ladder antiquity-2", "name", "did you mean 'antiquity-2p'?"),
    ("ladder --server nowhere", "--server", "HOST:PORT"),
    ("tournament status sprng", "name", "did you mean 'spring'?"),
    ("tournament start antiquity-2p quokka", "entries", ""),
    ("tournament start antiquity-2p quokka quoka", "entries", "did you mean 'quokka'?"),
    ("tournament start antiquity-2p quokka wombat --blocks 0", "--blocks", "not in the range"),
    ("tournament start antiquity-2p quokka wombat --pairing swis", "pairing", "round-robin"),
    ("tournament start antiquity-2p quokka wombat --name spring", "tournament_id", "taken"),
    ("tournament cancel spring", "tournament", "finished"),
    ("tournament resume spring", "tournament", "finished"),
    ("match show mzzz", "name", "copy the id"),
    ("match show nothing.jsonl", "match", "no file"),
    ("match show text.jsonl", "", "not JSON"),
    ("match show binary.jsonl", "", "no text"),
    ("match show record.jsonl --ply 9999", "--ply", "beyond the last move"),
    ("match show record.jsonl --ply x", "--ply", "not a valid integer"),
    ("match verify", "FILES", "is missing"),
    ("match verify nothing.jsonl", "nothing.jsonl", "No such file"),
    ("match verify here", "FILES", "directory"),
    ("match list --bot nobody", "bot", "no bot 'nobody'"),
    ("match list --limit 0", "--limit", "not in the range"),
    ("match export mzzz", "name", "copy the id"),
    ("account create A", "account_id", "lower-case"),
    ("account create ada", "account_id", "taken"),
    ("token create nobody", "account", "no account 'nobody'"),
    ("token revoke ada/4", "name", "accounts/ada/tokens/4"),
    ("up --web nowhere", "web", "HOST:PORT"),
    ("up --bots randm", "bots", "did you mean 'random'?"),
    ("up --workers 1000", "--workers", "not in the range"),
]
SETTINGS: list[tuple[str, str, str]] = [
    ("HIPPODROME_DATABASE_ULR", "sqlite:////x", "did you mean 'HIPPODROME_DATABASE_URL'?"),
    ("HIPPODROME_DATABASE_URL", "mysql://x", "postgresql+psycopg"),
    ("HIPPODROME_BROKER_URL", "amqp://x", "redis://"),
    ("HIPPODROME_LEASE", "long", "15"),
    ("HIPPODROME_SECRET", "abc", "64 hex digits"),
    ("HIPPODROME_ENGINES", "here", "host:port"),
    ("HIPPODROME_SERVER", "here", "host:port"),
    ("HIPPODROME_TOKEN", "zwei Wörter", "hippo_"),
]


@pytest.fixture
def files(installation: Any, cli: Any) -> None:
    """What the wrong command lines name."""
    assert cli("play", "antiquity", "random", "random", "--out", "full", "--seed", "s").code == 0
    Path("record.jsonl").write_bytes(next(Path("full").iterdir()).read_bytes())
    Path("text.jsonl").write_text("hello\n")
    Path("binary.jsonl").write_bytes(bytes(range(128, 256)))
    Path("here").mkdir()
    for name in ("taken.py", "x.py"):
        Path(name).write_text(BAD_BOT)


@pytest.mark.usefixtures("files")
def test_wrong_command_lines_are_told_by_field_with_a_fix(cli: Any) -> None:
    for line, field, says in WRONG:
        said = cli(*line.split())
        told = f"hippodrome {line}\n{said.err}"
        assert (said.code, said.out) == (2, ""), told
        first, *more = said.err.splitlines()
        assert first.startswith("error["), told
        assert "Traceback" not in said.err, told
        assert not field or f"] {field}: " in first, told
        assert says in said.err, told
        assert [line[:7] for line in more] == ["  fix: "], told


@pytest.mark.usefixtures("files")
def test_with_json_an_error_is_one_document_on_stderr(cli: Any) -> None:
    for line, field, _ in WRONG:
        said = cli(*line.split(), "--json")
        told = f"hippodrome {line} --json\n{said.err}"
        assert (said.code, said.out) == (2, ""), told
        error = json.loads(said.err)
        assert error["schema"] == "hippodrome.error/1", told
        assert set(error) == {"schema", "code", "field", "problem", "fix", "notes", "exit_code"}, told
        assert error["exit_code"] == 2, told
        assert error["fix"], told
        assert not field or error["field"] == field, told


@pytest.mark.parametrize(("name", "value", "says"), SETTINGS)
def test_a_wrong_setting_is_told_by_its_name(
    cli: Any, monkeypatch: pytest.MonkeyPatch, name: str, value: str, says: str
) -> None:
    monkeypatch.setenv(name, value)
    said = cli("ladder")
    assert (said.code, said.out) == (2, "")
    assert f"] {name}: " in said.err
    assert says in said.err
    assert value not in said.err or name != "HIPPODROME_TOKEN"
    assert "Traceback" not in said.err


MISTAKES = {
    "gmes": "games", "pley": "play", "lader": "ladder", "doctr": "doctor", "tournamet": "tournament", "macth": "match",
    "acount": "account", "tokn": "token", "bot chek": "check", "bot lst": "list", "bot shwo": "show", "match verfy": "verify",
    "match exprt": "export", "tournament watc": "watch", "tournament reslts": "results", "tournament resum": "resume",
    "tournament cancl": "cancel", "db upgrad": "upgrade", "token creat": "create", "demoo": "demo",
}  # fmt: skip
"""Typed -> meant."""


def test_the_nearest_command_is_offered_for_most_mistakes(cli: Any) -> None:
    right = [typed for typed, meant in MISTAKES.items() if f"did you mean {meant!r}?" in cli(*typed.split()).err]
    assert len(right) >= 18, set(MISTAKES) - set(right)


def test_a_pipe_that_closes_early_is_no_error() -> None:
    command = f"{sys.executable} -m hippodrome.workers.cli games antiquity --json | head -c 10"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=120)
    assert done.stdout == '{"schema":'
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.parametrize("more", [{}, {"NO_COLOR": "1"}])
def test_output_that_goes_to_no_terminal_has_no_colours(more: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hippodrome.workers.cli", "games", "antiqity"],
        capture_output=True, env=os.environ | more, timeout=120,
    )  # fmt: skip
    assert done.returncode == 2
    assert b"\x1b" not in done.stdout + done.stderr
