"""A bot's first minutes: `bot new`, its test, `bot check`, `play`."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hippodrome.engine.record import dumps, loads, seal


def test_a_new_bot_passes_its_own_test_its_check_and_plays(cli: Any) -> None:
    said = cli("bot", "new", "mybot")
    assert said.out == "wrote mybot.py and test_mybot.py\n"
    assert said.err == "next: hippodrome play antiquity mybot.py random\n"
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], capture_output=True, text=True, timeout=120
    )
    assert tested.returncode == 0, tested.stdout
    checked = cli("bot", "check", "mybot.py", "--positions", "30")
    assert checked.code == 0, checked.err
    assert [line.split("  ")[0].strip() for line in checked.out.splitlines()] == [
        "start-up", "handshake", "30 positions", "clock", "same seed twice",
    ]  # fmt: skip
    assert cli("play", "antiquity", "mybot.py", "random").code == 0


def test_a_check_that_fails_shows_the_bots_line_and_what_is_legal_once(cli: Any) -> None:
    Path("eight.py").write_text("from hippodrome.bot import bot\n\n\n@bot\ndef eight(turn):\n    return '8'\n")
    said = cli("bot", "check", "eight.py")
    assert said.code == 4
    assert "handshake        FAIL" in said.out
    assert "eight.py, line 4, returned '8'" in said.err
    assert "legal: " in said.err
    assert said.err.count("fix: return one of turn.legal") == 1
    document = cli("bot", "check", "eight.py", "--json")
    assert document.code == 4
    assert set(document.json) == {"schema", "bot", "ok", "checks", "problems"}
    assert document.json["ok"] is False


def test_the_same_seed_plays_the_same_series_in_one_process_and_in_two(cli: Any) -> None:
    words = ("play", "antiquity", "random", "random", "random", "--games", "6", "--seed", "s", "--json")
    one, two = cli(*words), cli(*words, "--jobs", "2")
    other = cli(*(word.replace("s", "t") if word == "s" else word for word in words))
    for said in (one, two, other):
        assert said.code == 0
        assert set(said.json) == {"schema", "ruleset", "seed", "clock", "policy", "games", "rows", "troubles", "records"}
    results = [[(row["bot"], row["wins"], row["points"]) for row in said.json["rows"]] for said in (one, two)]
    assert results[0] == results[1]
    assert one.json["seed"] == "s"
    assert sum(row["points"] for row in one.json["rows"]) == pytest.approx(9.0), "6 matches of 3, half a point a pair"


def test_records_are_kept_verify_and_are_not_written_over(cli: Any) -> None:
    words = ("play", "antiquity-4p.power=true", "random", "random", "random", "random", "--games", "2", "--out", "r")
    said = cli(*words)
    assert said.code == 0
    files = sorted(map(str, Path("r").iterdir()))
    assert files == ["r/match-00001.jsonl", "r/match-00002.jsonl"]
    assert said.err.endswith("next: hippodrome match show r/match-00001.jsonl\n")
    verified = cli("match", "verify", *files, "--json")
    assert verified.code == 0
    assert [file["ok"] for file in verified.json["files"]] == [True, True]
    assert "antiquity-4p.power=true" in cli("match", "show", files[0]).out
    assert cli(*words).code == 2


def test_options_of_the_game_clock_and_policy_stand_in_the_record(cli: Any) -> None:
    words = ("--option", "power=true", "--clock", "5s+10ms/1s@2s", "--policy", "substitute:3", "--out", "r")
    assert cli("play", "antiquity", "random", "random", *words).code == 0
    header = cli("match", "show", "r/match-00001.jsonl", "--json").json["header"]
    assert (header["ruleset"], header["clock"], header["policy"]) == (
        "antiquity-2p.power=true", "5s+10ms/1s@2s", "substitute:3",
    )  # fmt: skip


def test_the_table_of_a_series_fits_and_names_everybody(cli: Any) -> None:
    said = cli("play", "antiquity", "random", "random", "--games", "4")
    assert max(map(len, said.out.splitlines())) <= 80
    assert [line.split()[0] for line in said.out.splitlines()] == ["antiquity-2p", "bot", "random", "random-2"]
    assert "nan" not in said.out
    assert "\x1b" not in said.out + said.err


def test_what_a_bot_prints_does_not_come_between_the_data(cli: Any) -> None:
    Path("loud.py").write_text(
        "from hippodrome.bot import bot\n\nprint('loading')\n\n\n"
        "@bot\ndef loud(turn):\n    print('thinking')\n    return turn.legal[0]\n"
    )
    said = cli("play", "antiquity", "loud.py", "random", "--json")
    assert said.json["schema"] == "hippodrome.play/1"
    assert "loading" in said.err
    assert "thinking" in said.err


def test_no_record_however_mangled_gives_a_traceback(cli: Any) -> None:
    """One value of a good record is replaced, and the record sealed again: it differs, cannot be read, or still holds."""
    assert cli("play", "antiquity", "random", "random", "--out", "r", "--seed", "s").code == 0
    good, source = loads(Path("r/match-00001.jsonl").read_text()), random.Random(1)
    wrong: list[Any] = [None, 5, -1, True, "x", "", [], {}, [1, 2], "antiquity-2p", 1e300, {"a": 1}, 10**30]
    for _ in range(80):
        lines = [json.loads(json.dumps(line)) for line in (good.header, *good.body)]
        closing = {name: value for name, value in good.closing.items() if name != "sha256"}
        changed = source.choice([lines[0], closing, source.choice(lines)])
        changed[source.choice(list(changed))] = source.choice(wrong)
        Path("m.jsonl").write_text(dumps(seal(lines, closing)))
        assert cli("match", "verify", "m.jsonl").code in (0, 1)
        assert cli("match", "show", "m.jsonl", "--ply", "3").code in (0, 2)
