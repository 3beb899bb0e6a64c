"""The process: address file, signals, streams of events, compression, speed of a replay."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from hippodrome.engine.record import dumps, loads, seal
from hippodrome.ladder import queries
from hippodrome.ladder.db import open_database
from hippodrome.ladder.errors import NotFound
from hippodrome.ladder.web.boards import KEPT, replay
from hippodrome.ladder.web.reads import Reads

COMMAND = (sys.executable, "-m", "hippodrome.ladder.web")


def until(true: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Wait for it."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def run(env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """The program started with bad input: it ends by itself."""
    return subprocess.run([*COMMAND, *arguments], env=env, capture_output=True, text=True, timeout=120)


def environment(home: Path, **more: str) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "HIPPODROME_HOME": str(home), **more}


def test_it_serves_until_it_is_told_to_end(town: Any) -> None:
    with town.served() as (base, process):
        assert httpx.get(base + "/tournaments/spring").status_code == 200
        assert httpx.get(base + "/api/v1/bots/quokka").json()["name"] == "bots/quokka"
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(base)


def test_answers_are_compressed_and_small(sqlite_town: Any) -> None:
    with sqlite_town.served() as (base, _):
        for path in sqlite_town.pages():
            answer = httpx.get(base + path, headers={"Accept-Encoding": "gzip"})
            assert answer.headers["content-encoding"] == "gzip" or len(answer.content) < 800, path
            assert int(answer.headers["content-length"]) < 30_000, path


def test_the_stream_of_a_running_tournament_tells_every_change(fresh_town: Any) -> None:
    with fresh_town.served() as (base, _):
        events = f"{base}/api/v1/tournaments/live/events"
        with httpx.stream("GET", events, timeout=60) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            lines = answer.iter_lines()
            assert _next(lines) == ("progress", 0, "running")
            for done, match in enumerate(fresh_town.open_matches("live"), 1):
                with fresh_town.database.write() as session:
                    fresh_town.finish(session, match)
                event = _next(lines)
                assert event == (("progress", done, "running") if done < 2 else ("over", done, "finished"))
            assert [line for line in lines if line.startswith("event:")] == []
        again = httpx.get(events, timeout=60).text
        assert again.count("event:") == 1
        assert "event: over" in again


def _next(lines: Any) -> tuple[str, int, str]:
    """The next event: its name, matches done, state."""
    name = ""
    for line in lines:
        if line.startswith("event:"):
            name = line.removeprefix("event:").strip()
        if line.startswith("data:"):
            data = json.loads(line.removeprefix("data:"))
            return name, data["matches_done"], data["state"]
    raise AssertionError("the stream has ended")


def test_the_stream_of_no_tournament_is_not_found(sqlite_town: Any) -> None:
    with sqlite_town.served() as (base, _):
        answer = httpx.get(f"{base}/api/v1/tournaments/sping/events")
        assert answer.status_code == 404
        assert "did you mean 'spring'" in answer.json()["detail"]


def test_an_open_stream_does_not_keep_it_from_ending(sqlite_town: Any) -> None:
    with (
        sqlite_town.served() as (base, process),
        httpx.stream("GET", f"{base}/api/v1/tournaments/summer/events", timeout=60) as answer,
    ):
        assert _next(answer.iter_lines())[0] == "progress"
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux tells a process of its parent's end")
def test_it_dies_with_its_parent(sqlite_town: Any, tmp_path: Path) -> None:
    file = tmp_path / "address"
    command = [*COMMAND, "--listen", "127.0.0.1:0", "--address-file", str(file), "--die-with-parent"]
    code = f"import subprocess, time; subprocess.Popen({command!r}); time.sleep(600)"
    env = environment(sqlite_town.settings.home, HIPPODROME_DATABASE_URL=sqlite_town.settings.database_url)
    parent = subprocess.Popen([sys.executable, "-c", code], env=env, stderr=subprocess.DEVNULL)
    try:
        until(file.exists, "no address")
    finally:
        parent.kill()
        parent.wait()
    host, port = file.read_text().strip().rsplit(":", 1)
    until(lambda: not _open(host, int(port)), "it still listens")


def _open(host: str, port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((host, port)) == 0


@pytest.mark.parametrize(
    ("listen", "words"),
    [
        ("8080", "'8080' is not of the form HOST:PORT"),
        (":8080", "is not of the form HOST:PORT"),
        ("127.0.0.1:many", "is not of the form HOST:PORT"),
        ("127.0.0.1:99999", "is not of the form HOST:PORT"),
        ("no.such.host.invalid:80", "cannot be used"),
    ],
)
def test_a_bad_address_is_one_line(tmp_path: Path, listen: str, words: str) -> None:
    ended = subprocess.run(
        [*COMMAND, "--listen", listen], env=environment(tmp_path), capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1].startswith("error: --listen: ")
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = subprocess.run(
            [*COMMAND, "--listen", listen], env=environment(tmp_path), capture_output=True, text=True, timeout=60
        )
    assert ended.returncode == 2
    assert "choose another port" in ended.stderr


def test_a_database_without_schema_is_one_line(tmp_path: Path) -> None:
    ended = subprocess.run(
        [*COMMAND, "--listen", "127.0.0.1:0"], env=environment(tmp_path), capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 3
    assert ended.stderr.splitlines()[-1].endswith("fix: hippodrome db upgrade")


def test_a_bad_setting_is_one_line(tmp_path: Path) -> None:
    env = environment(tmp_path, HIPPODROME_DATABAS_URL="x")
    ended = run(env)
    assert ended.returncode == 2
    assert "did you mean 'HIPPODROME_DATABASE_URL'" in ended.stderr


def test_pages_of_other_matches_do_not_make_memory_grow_without_end(sqlite_town: Any) -> None:
    """The positions of the matches looked at last are kept, no more of them."""

    database = open_database(sqlite_town.settings.database_url)
    reads = Reads(database)
    for match in random.Random(1).sample(sqlite_town.done, KEPT + 10):
        reads.played(match)
    cache: Any = reads._boards.get
    assert cache.cache_info().currsize == KEPT
    database.close()


def test_a_record_of_other_rules_has_moves_but_no_board(sqlite_town: Any) -> None:

    with sqlite_town.database.read() as session:
        record = loads(queries.record_text(session, sqlite_town.done[0]))
    other = seal([record.header | {"rules": "0.old"}, *record.body], {k: v for k, v in record.closing.items() if k != "sha256"})
    played = replay(dumps(other))
    assert played.plies == len(record.moves)
    assert "rules version '0.old'" in played.problem
    with pytest.raises(NotFound, match=r"match: its board cannot be drawn: rules version '0\.old'"):
        played.svg(0)


def test_it_leaves_no_file_behind_but_the_address(sqlite_town: Any, tmp_path: Path) -> None:
    file = tmp_path / "run.address"
    env = environment(sqlite_town.settings.home, HIPPODROME_DATABASE_URL=sqlite_town.settings.database_url)
    process = subprocess.Popen(
        [*COMMAND, "--listen", "127.0.0.1:0", "--address-file", str(file)], env=env, stderr=subprocess.DEVNULL
    )
    try:
        until(file.exists, "no address")
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    assert os.listdir(tmp_path) == ["run.address"]
