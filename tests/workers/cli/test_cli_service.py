"""The command line with a whole service: processes, a broker, bots over the network."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

COMMAND = (sys.executable, "-m", "hippodrome.workers.cli")
PATIENCE = 100.0


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HIPPODROME_")}
    return kept | {"HIPPODROME_HOME": str(tmp_path / "home"), "COLUMNS": "80"}


@pytest.fixture
def command(env: dict[str, str], tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command line in a process of its own."""

    def done(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run((*COMMAND, *words), env=env, cwd=tmp_path, capture_output=True, text=True, timeout=200)

    return done


@contextmanager
def started(env: dict[str, str], folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A command line under way; whatever is left of it afterwards is killed."""
    process = subprocess.Popen(
        (*COMMAND, *words), env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(found: Callable[[], Any], process: subprocess.Popen[str]) -> Any:
    """What `found` gives once it gives something."""
    deadline = time.monotonic() + PATIENCE
    while not (value := found()):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return value


def left_over(home: str) -> list[str]:
    """Command lines of processes that have `home` in their environment or arguments."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and home in (" ".join(process.cmdline()) + str(process.environ())):
                found.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return found


def test_up_plays_what_is_started_and_ends_with_ctrl_c(env: dict[str, str], command: Any, tmp_path: Path) -> None:
    with started(env, tmp_path, "up", "--web", "127.0.0.1:0", "--bots", "random", "--json") as up:
        assert up.stdout is not None
        told = json.loads(up.stdout.readline())
        assert set(told) == {"schema", "pid", "api", "web", "engines", "home"}
        second = command("up", "--web", "127.0.0.1:0")
        assert (second.returncode, second.stdout) == (2, "")
        assert "runs on" in second.stderr

        (tmp_path / "mybot.py").write_text(
            "from hippodrome.bot import bot\n\n\n@bot\ndef mybot(turn):\n    return turn.legal[0]\n\n\n"
            'if __name__ == "__main__":\n    mybot.run()\n'
        )
        assert command("bot", "create", "mybot").stdout == "registered mybot@1\n"
        started_ = command("tournament", "start", "antiquity-2p", "random", "mybot", "--name", "spring", "--blocks", "2")
        assert started_.returncode == 0, started_.stderr
        played = command("bot", "run", "mybot.py", "--matches", "4", "--json")
        assert played.returncode == 0, played.stderr
        assert json.loads(played.stdout)["bots"] == [{"bot": "mybot", "exit_code": 0}]
        watched = command("tournament", "watch", "spring", "--json")
        last = json.loads(watched.stdout.splitlines()[-1])["tournament"]
        assert (last["state"], last["matches_done"]) == ("finished", 4)
        assert sum(row["faults"] for row in last["standings"]) == 0

        up.send_signal(signal.SIGINT)
        assert up.wait(60) == 0
    assert left_over(env["HIPPODROME_HOME"]) == []


CALM = """\
import time

from hippodrome.bot import bot


@bot
def calm(turn):
    time.sleep(0.01)
    return turn.legal[0]


calm.run()
"""


def test_a_tournament_of_a_file_is_interrupted_and_resumed_to_its_end(
    env: dict[str, str], command: Any, tmp_path: Path
) -> None:
    (tmp_path / "calm.py").write_text(CALM)
    words = ("tournament", "run", "antiquity-2p", "calm.py", "random", "--name", "spring", "--blocks", "10")
    with started(env, tmp_path, *words) as run:
        count = ("match", "list", "--tournament", "spring", "--json", "--limit", "100")

        def some_done() -> bool:
            said = command(*count)
            return said.returncode == 0 and '"state": "done"' in said.stdout

        wait_for(some_done, run)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert out == ""
    assert "nothing is lost" in err
    assert "resume: hippodrome tournament resume spring" in err
    assert "Traceback" not in err
    assert left_over(env["HIPPODROME_HOME"]) == []

    with started(env, tmp_path, "tournament", "resume", "spring", "--json") as resumed:
        wait_for((tmp_path / "home" / "run" / "server.json").exists, resumed)
        with started(env, tmp_path, "bot", "run", "calm.py", "--json") as bot:
            out, err = resumed.communicate(timeout=200)
            bot.send_signal(signal.SIGINT)
            assert bot.wait(60) == 130
    assert resumed.returncode == 0, err
    told = json.loads(out)["tournament"]
    assert (told["state"], told["matches_done"]) == ("finished", 20)
    assert sum(row["faults"] for row in told["standings"]) == 0, "no interruption was held against a bot"
    assert left_over(env["HIPPODROME_HOME"]) == []


def test_a_tournament_runs_here_and_shows_crosstable_and_ladder(command: Any, env: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "first.py"
    file.write_text("from hippodrome.bot import bot\n\n\n@bot\ndef first(turn):\n    return turn.legal[0]\n")
    words = ("tournament", "run", "antiquity-2p", "first.py", "random", "--blocks", "2", "--name")
    said = command(*words, "spring")
    assert said.returncode == 0, said.stderr
    assert "finished  4/4 matches" in said.stdout
    assert "first@1" in said.stdout
    assert "ladder antiquity-2p, 4 rated matches" in said.stdout
    assert max(map(len, said.stdout.splitlines())) <= 80
    file.write_text(file.read_text().replace("[0]", "[-1]"))
    changed = command(*words, "autumn", "--json")
    assert json.loads(changed.stdout)["tournament"]["entries"][0] == "bots/first/versions/2", "another file, another version"
    assert left_over(env["HIPPODROME_HOME"]) == []
