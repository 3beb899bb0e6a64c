"""One test for each exit code."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

SLOW_BOT = (
    "import time\nfrom hippodrome.bot import bot\n\n\n@bot\ndef slow(turn):\n    time.sleep(0.05)\n    return turn.legal[0]\n"
)


def test_0_done(cli: Any) -> None:
    assert cli("games").code == 0


def test_1_the_job_ran_and_failed(cli: Any) -> None:
    assert cli("play", "antiquity", "random", "random", "--out", "r").code == 0
    record = Path("r/match-00001.jsonl")
    record.write_text(re.sub(r'"places":\[.,.\]', '"places":[1,1]', record.read_text()))
    said = cli("match", "verify", str(record))
    assert said.code == 1
    assert "DIFFERS" in said.out


def test_2_wrong_usage(cli: Any) -> None:
    assert cli("games", "nothing").code == 2


def test_3_cannot_be_reached(cli: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    said = cli("ladder", "--server", address)
    assert (said.code, said.out) == (3, "")
    assert said.err.startswith(f"error[unreachable] server: {address}")
    assert "fix: " in said.err


@pytest.mark.parametrize(
    ("body", "fault"),
    [("return 'nonsense'", "illegal_move"), ("raise RuntimeError('bang')", "crash"), ("time.sleep(9)", "timeout")],
)
def test_4_a_bot_misbehaved(cli: Any, body: str, fault: str) -> None:
    file = f"bad_{fault}.py"
    Path(file).write_text(f"import time\nfrom hippodrome.bot import bot\n\n\n@bot\ndef bad(turn):\n    {body}\n")
    said = cli("play", "antiquity", file, "random", "--clock", "200ms+0ms", "--json")
    assert said.code == 4
    assert said.json["rows"][0]["faults"] == {fault: 1}
    assert cli("play", "antiquity", file, "random", "--clock", "200ms+0ms").code == 4


def test_4_a_bot_that_cannot_be_loaded(cli: Any) -> None:
    Path("broken.py").write_text("import nunpy\n")
    said = cli("play", "antiquity", "broken.py", "random")
    assert (said.code, said.out) == (4, "")
    assert "ModuleNotFoundError: No module named 'nunpy'" in said.err
    assert "broken.py, line 1" in said.err


def test_5_not_allowed(cli: Any, server: str, installation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    create = ("bot", "create", "numbat", "--server", server)
    without = cli(*create)
    assert (without.code, without.err.partition("]")[0]) == (5, "error[not_allowed")
    wrong = cli(*create, "--token", "hippo_wrong")
    assert wrong.code == 5
    assert "hippo_wrong" not in wrong.err
    monkeypatch.setenv("HIPPODROME_TOKEN", installation.secrets["bob"])
    assert cli("tournament", "cancel", "summer", "--server", server).code == 5
    assert cli("account", "create", "eve", "--server", server).code == 5
    assert cli(*create).code == 0


def test_130_interrupted_and_the_same_series_is_named(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW_BOT)
    command = [sys.executable, "-m", "hippodrome.workers.cli", "play", "antiquity", "slow.py", "random", "--games", "500"]
    process = subprocess.Popen(
        [*command, "--out", "r"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"COLUMNS": "80"},
    )
    try:
        deadline = time.monotonic() + 100
        while not list(tmp_path.glob("r/*.jsonl")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "slow " in out
    assert "the same series again: hippodrome play antiquity-2p slow.py random --seed " in err
    assert "--games 500" in err
