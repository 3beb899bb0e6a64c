"""Child processes: tied to their parent, ended with all they started; addresses; waiting."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from hippodrome.engine.errors import FieldError
from hippodrome.workers.processes import choose_address, end, is_free, start_tied, wait_until, write_atomically

SLEEP = ("-c", "import time; time.sleep(600)")


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_tied_child_dies_with_its_killed_parent(tmp_path: Path) -> None:
    script = f"""
import os, sys
from pathlib import Path
from hippodrome.workers.processes import start_tied, wait_until
child = start_tied([sys.executable, *{SLEEP!r}], Path({str(tmp_path / "log")!r}), os.environ)
wait_until(lambda: b"time.sleep" in Path(f"/proc/{{child.pid}}/cmdline").read_bytes()[:200], 20)
print(child.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    parent = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert parent.returncode == -signal.SIGKILL
    pid = int(parent.stdout)
    assert wait_until(lambda: gone(pid), 20)


def test_a_child_that_finds_its_parent_gone_does_not_start(tmp_path: Path) -> None:
    """The parent may die between fork and the moment the child asks the kernel for the signal."""
    from hippodrome.workers.processes import _TIED

    command = [sys.executable, "-I", "-S", "-c", _TIED, "1", str(int(signal.SIGKILL)), sys.executable, *SLEEP]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert "parent ended first" in done.stderr


def test_ending_a_child_ends_what_it_has_started(tmp_path: Path) -> None:
    spawn = f"subprocess.Popen([sys.executable, *{SLEEP!r}])"
    script = f"import subprocess, sys, time; print({spawn}.pid, flush=True); time.sleep(600)"
    log = tmp_path / "log"
    child = start_tied([sys.executable, "-c", script], log, os.environ)
    assert wait_until(lambda: log.read_text().strip().isdigit(), 20)
    grandchild = int(log.read_text())
    child.send_signal(signal.SIGTERM)
    end([child], grace=20)
    assert child.returncode == -signal.SIGTERM
    assert wait_until(lambda: gone(grandchild), 20)


def test_a_child_that_ignores_the_signal_is_killed_after_its_grace(tmp_path: Path) -> None:
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
    log = tmp_path / "log"
    child = start_tied([sys.executable, "-c", script], log, os.environ)
    assert wait_until(lambda: "deaf" in log.read_text(), 20)
    child.send_signal(signal.SIGTERM)
    end([child], grace=0.2)
    assert child.returncode == -signal.SIGKILL


def test_port_0_becomes_a_free_port_that_outgoing_connections_do_not_take() -> None:
    host, _, port = choose_address("web", "127.0.0.1:0").rpartition(":")
    assert host == "127.0.0.1"
    assert 20_000 <= int(port) < 32_000
    assert is_free(host, int(port))


def test_a_port_that_is_taken_is_refused_with_the_fix() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(FieldError, match=rf"web: cannot listen on {listen} .*; fix: choose another port, or 127.0.0.1:0"):
            choose_address("web", listen)


@pytest.mark.parametrize("listen", ["", "8080", "127.0.0.1", "127.0.0.1:", ":8080", "127.0.0.1:http", "127.0.0.1:70000"])
def test_what_is_no_address_is_refused(listen: str) -> None:
    with pytest.raises(FieldError, match=r"api: .* is no address; fix: write HOST:PORT"):
        choose_address("api", listen)


def test_a_file_is_written_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "server.json"
    path.write_text("old")
    write_atomically(path, "new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]
