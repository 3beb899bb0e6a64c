"""The supervisor, as the process that people start: everything comes up, whatever dies comes back, nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from hippodrome.ladder.settings import Settings
from hippodrome.workers.processes import wait_until
from hippodrome.workers.programs import Options, Program
from hippodrome.workers.server import read_server, running_server, server_file
from hippodrome.workers.supervise import StartFailed, service

PATIENCE = 90.0
COMMAND = (sys.executable, "-m", "hippodrome.workers.supervise", "--web", "127.0.0.1:0", "--bot", "random")
PROGRAMS = {"broker", "engine", "api", "web", "reconciler", "worker-1", "bot-random"}
Left = Callable[[], list[str]]
Up = Callable[..., AbstractContextManager[subprocess.Popen[bytes]]]


def clean_env(home: Path, **more: str) -> dict[str, str]:
    ours = ("HIPPODROME_HOME", "HIPPODROME_DATABASE_URL", "HIPPODROME_BROKER_URL", "HIPPODROME_ENGINES", "HIPPODROME_LEASE")
    return {k: v for k, v in os.environ.items() if k not in ours} | {"HIPPODROME_HOME": str(home)} | more


@pytest.fixture
def up(home: Path) -> Up:
    """`up(*options)`: a supervisor process that is ready; killed at the end of the block if it still runs."""

    @contextmanager
    def run(*options: str) -> Iterator[subprocess.Popen[bytes]]:
        with (home / "up.log").open("ab") as log:
            process = subprocess.Popen((*COMMAND, *options), env=clean_env(home), stdout=log, stderr=log)
        try:
            assert wait_until(lambda: running_server(home) is not None, PATIENCE), (home / "up.log").read_text()
            yield process
        finally:
            process.kill()
            process.wait()

    return run


def refused(home: Path, *options: str, **env: str) -> str:
    """The one line of a supervisor that does not start."""
    done = subprocess.run((*COMMAND, *options), env=clean_env(home, **env), capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    return [line for line in done.stderr.splitlines() if line.startswith("error: ")][-1]


def test_it_brings_everything_up_and_sigterm_leaves_nothing(up: Up, home: Path, processes_left: Left) -> None:
    with up() as supervisor:
        server = running_server(home)
        assert server is not None
        assert server.pid == supervisor.pid
        assert set(server.pids) == PROGRAMS
        assert all(psutil.Process(pid).ppid() == supervisor.pid for pid in server.pids.values())
        assert server_file(home).stat().st_mode & 0o777 == 0o600
        assert urllib.request.urlopen(server.web, timeout=30).status == 200
        for address in (server.api, *server.engines):
            host, _, port = address.rpartition(":")
            socket.create_connection((host, int(port)), timeout=30).close()
        supervisor.send_signal(signal.SIGTERM)
        assert supervisor.wait(30) == 0
    assert wait_until(lambda: not processes_left(), 30), processes_left()
    assert read_server(home) is None
    assert not (home / "run" / "broker.sock").exists()


def test_ctrl_c_stops_it_too(up: Up, home: Path, processes_left: Left) -> None:
    with up() as supervisor:
        supervisor.send_signal(signal.SIGINT)
        assert supervisor.wait(30) == 0
    assert wait_until(lambda: not processes_left(), 30), processes_left()


@pytest.mark.slow
def test_each_program_that_is_killed_comes_back_on_its_address(up: Up, home: Path) -> None:
    with up():
        before = running_server(home)
        assert before is not None
        for pid in before.pids.values():
            os.kill(pid, signal.SIGKILL)

        def all_back() -> bool:
            now = running_server(home)
            return now is not None and set(now.pids) == PROGRAMS and not set(now.pids.values()) & set(before.pids.values())

        assert wait_until(all_back, PATIENCE), running_server(home)
        after = running_server(home)
        assert after is not None
        assert (after.api, after.web, after.engines) == (before.api, before.web, before.engines)
        assert wait_until(lambda: answers(after.web), PATIENCE)


def answers(url: str) -> bool:
    try:
        return bool(urllib.request.urlopen(url, timeout=10).status == 200)
    except OSError:
        return False


@pytest.mark.parametrize("pool", ["threads", "prefork"])
def test_killing_the_supervisor_takes_everything_along(up: Up, home: Path, pool: str, processes_left: Left) -> None:
    with up("--pool", pool, "--slots", "2") as supervisor:
        supervisor.kill()
        supervisor.wait()
        assert wait_until(lambda: not processes_left(), 60), processes_left()
        assert server_file(home).exists()
        assert running_server(home) is None


def test_what_a_killed_one_left_behind_does_not_hinder_the_next_on_the_same_addresses(
    up: Up, home: Path, processes_left: Left
) -> None:
    with up() as first:
        old = running_server(home)
        first.kill()
        first.wait()
    assert wait_until(lambda: not processes_left(), 60), processes_left()
    with up() as second:
        server = running_server(home)
        assert server is not None
        assert old is not None
        assert server.pid == second.pid
        assert (server.api, server.engines) == (old.api, old.engines), "live bots find the service again"


def test_a_second_one_on_the_same_home_is_refused(up: Up, home: Path) -> None:
    with up() as first:
        line = refused(home)
        assert line == (
            f"error: home: an `up` runs on {home} already (process {first.pid}); "
            "fix: stop it, or set HIPPODROME_HOME to another folder"
        )
        assert first.poll() is None
        assert running_server(home) is not None


def test_a_web_port_that_is_taken_is_one_line(home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        line = refused(home, "--web", f"127.0.0.1:{taken.getsockname()[1]}")
    assert line.startswith("error: web: cannot listen on 127.0.0.1:")
    assert line.endswith(":0 for any free one")


@pytest.mark.parametrize(
    ("options", "env", "line"),
    [
        (["--bot", "ranom"], {}, "error: bots: no built-in bot 'ranom'; fix: did you mean 'random'?"),
        (["--bot", "random"], {}, "error: bots: 'random' is named twice; fix: name each bot once"),
        ([], {"HIPPODROME_BROKER_URL": "redis://:pw@127.0.0.1:1/0"}, "error: HIPPODROME_BROKER_URL: no broker answers: "),
        (["--slots", "0"], {}, "error: slots: 0 is out of range; fix: give 1 to 96"),
        (["--workers", "100"], {}, "error: workers: 100 is out of range; fix: give 1 to 64"),
        (["--api", "nowhere"], {}, "error: api: 'nowhere' is no address; fix: write HOST:PORT"),
        ([], {"HIPPODROME_LEASE": "soon"}, "error: HIPPODROME_LEASE: "),
        ([], {"HIPPODROME_BROKR_URL": "x"}, "error: HIPPODROME_BROKR_URL: no such setting; fix: did you mean"),
        ([], {"HIPPODROME_DATABASE_URL": "mysql://x/y"}, "error: HIPPODROME_DATABASE_URL: "),
    ],
)
def test_a_bad_option_or_setting_is_one_line(
    home: Path, options: list[str], env: dict[str, str], line: str, processes_left: Left
) -> None:
    assert refused(home, *options, **env).startswith(line)
    assert not processes_left()


def test_a_program_that_dies_again_and_again_is_named_with_its_last_words(home: Path, processes_left: Left) -> None:
    def table(*_: Any) -> list[Program]:
        script = "print('cannot find my shoes'); raise SystemExit(3)"
        return [Program("runner", 1, (sys.executable, "-c", script), ready=lambda: False)]

    settings = Settings.load({"HIPPODROME_HOME": str(home)})
    wanted = rf"runner: does not start: cannot find my shoes; fix: read {home}/log/runner.log"
    with pytest.raises(StartFailed, match=wanted), service(Options(web="127.0.0.1:0"), settings, table):
        pytest.fail("it is not up")
    assert not processes_left()
    assert running_server(home) is None


def test_a_damaged_secret_is_one_line(home: Path, processes_left: Left) -> None:
    (home / "secret").write_text("not hex")
    line = refused(home)
    assert str(home / "secret") in line
    assert not processes_left()


def test_the_server_file_of_a_running_one_is_json_for_people(up: Up, home: Path) -> None:
    with up():
        told: dict[str, Any] = json.loads(server_file(home).read_text())
        assert set(told) == {"pid", "api", "web", "engines", "token", "pids"}
        assert told["web"].startswith("http://127.0.0.1:")
