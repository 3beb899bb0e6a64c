"""Matches on this machine: the same faults, clocks and records as on a server."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hippodrome.bot import BotError, MatchResult, Turn, UsageError, bot, view_dict
from hippodrome.bots.random import random as random_bot
from hippodrome.engine.clock import TimeControl
from hippodrome.engine.errors import FieldError
from hippodrome.engine.record import Record, dumps, loads
from hippodrome.engine.referee import MatchSpec, Policy, SeatSpec
from hippodrome.engine.verify import verify
from hippodrome.games.registry import get_game, read_ruleset
from hippodrome.workers.botfiles import BotSpec, read_bot, read_bots
from hippodrome.workers.local import DEFAULT_CLOCK, Played, match_seed, play_game, play_match, play_one

GAME = get_game("antiquity")
Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a bot whose move() has this body; its path."""

    def put(name: str, body: str, head: str = "") -> str:
        path = tmp_path / f"{name}.py"
        text = f"import time\nfrom hippodrome.bot import Bot, bot\n{head}\n@bot\ndef {name}(turn):\n"
        path.write_text(text + "".join(f"    {line}\n" for line in body.splitlines()), encoding="utf-8")
        return str(path)

    return put


def match(*bots: BotSpec, clock: str = "60s+100ms@10s", policy: str = "forfeit", ruleset: str = "") -> Played:
    rules = read_ruleset(ruleset or f"antiquity-{len(bots)}p")
    seats = tuple(SeatSpec(one.name, f"local/{one.name}") for one in bots)
    spec = MatchSpec("local/1", rules, seats, TimeControl.parse(clock), Policy.parse(policy), match_seed("test"))
    return play_one(spec, GAME, bots)


def faults(record: Record) -> list[tuple[int, str]]:
    return [(line["seat"], line["fault"]) for line in record.body if "fault" in line]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_match_of_any_size_gives_a_record_that_verifies(players: int) -> None:
    record = match(*read_bots(["random"] * players)).record
    assert record.closing["end"] == "rules"
    assert sorted(record.header["seats"][1]) == ["bot", "version"]
    verify(loads(dumps(record)), GAME)


def test_play_match_is_the_plain_form() -> None:
    bots = read_bots(["random", "random"])
    seats = tuple(SeatSpec(one.name, f"local/{one.name}") for one in bots)
    spec = MatchSpec("local/1", GAME.ruleset(2), seats, DEFAULT_CLOCK, Policy(), match_seed("test"))
    assert [line["move"] for line in play_match(spec, GAME, bots).moves] == [line["move"] for line in match(*bots).record.moves]


def test_a_bot_that_hangs_loses_on_time_and_its_loop_is_stopped(write: Write) -> None:
    before = threading.active_count()
    bots = (read_bot(write("hangs", "while turn.last_charge is not None:\n    pass\nreturn turn.legal[0]")), read_bot("random"))
    began = time.monotonic()
    record = match(*bots, clock="300ms+0s@10s").record
    assert faults(record) == [(0, "timeout")]
    assert "no answer within 0." in record.closing["reason"]
    assert record.closing["places"] == [2, 1]
    assert time.monotonic() - began < 60
    verify(record, GAME)
    until = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() <= before


def test_a_bot_that_sleeps_too_long_is_judged_by_the_time_it_took(write: Write) -> None:
    sleeps = write("sleeps", "time.sleep(0.5 if turn.last_charge is not None else 0)\nreturn turn.legal[0]")
    record = match(read_bot("random"), read_bot(sleeps), clock="200ms+0s@10s").record
    assert faults(record) == [(1, "timeout")]
    verify(record, GAME)


def test_a_substituted_timeout_leaves_the_seat_in_play_and_late_answers_are_dropped(write: Write) -> None:
    slow = write("slow", "time.sleep(0.7 if turn.last_charge is None else 0)\nreturn turn.legal[0]")
    record = match(read_bot(slow), read_bot("random"), clock="60s+0s/300ms", policy="substitute:9").record
    assert (0, "timeout") in faults(record)
    assert any(line["seat"] == 0 and "received" in line for line in record.moves)
    verify(record, GAME)


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ("return turn.legal[999] if turn.number > 6 else turn.legal[0]", ""),
        ("exit(3) if turn.number > 6 else None\nreturn turn.legal[0]", ""),
    ],
)
def test_an_exception_is_a_crash_with_the_traceback_in_the_troubles(write: Write, body: str, head: str) -> None:
    played = match(read_bot("random"), read_bot(write("falls", body, head)))
    assert faults(played.record) == [(1, "crash")]
    assert played.record.closing["end"] == "crash"
    [trouble] = played.troubles
    assert trouble.seat == 1
    assert "falls.py" in trouble.report
    assert "Traceback" in trouble.report
    verify(played.record, GAME)


def test_a_crash_in_start_is_a_crash_at_the_first_decision(tmp_path: Path) -> None:
    path = tmp_path / "starts.py"
    path.write_text(
        "from hippodrome.bot import Bot\nclass Starts(Bot):\n    def start(self, match): 1 / 0\n    def move(self, turn): 1\n",
        encoding="utf-8",
    )
    played = match(read_bot(str(path)), read_bot("random"))
    assert faults(played.record) == [(0, "crash")]
    assert "ZeroDivisionError" in played.troubles[0].report


@pytest.mark.parametrize(
    ("body", "said"),
    [("return 'zzz'", "malformed"), ("return 7", "malformed"), ("return 'add petra-7'", "add petra-7 is not legal")],
)
def test_what_is_no_legal_move_goes_to_the_referee_who_says_why(write: Write, body: str, said: str) -> None:
    played = match(read_bot(write("wrong", body)), read_bot("random"))
    assert faults(played.record) == [(0, "illegal_move")]
    assert said in played.record.closing["reason"]
    assert "fix: return one of turn.legal" in played.troubles[0].report
    verify(played.record, GAME)


def test_the_opponents_of_a_failed_seat_finish_a_real_game(write: Write) -> None:
    falls = write("falls", "return turn.legal[999]")
    record = match(*read_bots(["random", falls, "random", "random"])).record
    assert faults(record) == [(1, "crash")]
    assert record.closing["end"] == "rules"
    assert record.closing["places"][1] == 4
    verify(record, GAME)


def test_a_retry_asks_the_bot_again_within_the_same_clock(tmp_path: Path) -> None:
    path = tmp_path / "second.py"
    path.write_text(
        "from hippodrome.bot import Bot\nclass Second(Bot):\n    tries = 0\n    def move(self, turn):\n"
        "        Second.tries += 1\n        return 'zzz' if Second.tries == 1 else turn.legal[0]\n",
        encoding="utf-8",
    )
    record = match(read_bot(str(path)), read_bot("random"), policy="retry:1").record
    assert faults(record) == [(0, "illegal_move")]
    assert record.closing["end"] == "rules"
    verify(record, GAME)


def test_moves_given_in_advance_take_no_time_and_are_dropped_when_another_seat_must_choose(write: Write) -> None:
    planner = write("planner", "return [turn.legal[0]] + ['draw'] * 20")
    record = match(read_bot(planner), read_bot("random")).record
    ahead = [line for line in record.moves if line["seat"] == 0 and line.get("received") == line.get("sent")]
    assert ahead
    assert all(line["charged"] == 0 for line in ahead)
    verify(record, GAME)


def test_a_bot_sees_what_it_would_see_over_the_wire_and_cannot_look_later() -> None:
    kept: list[Turn] = []
    seen: list[object] = []

    @bot
    def looks(turn: Turn) -> str:
        if turn.number == 1:
            seen.append(view_dict(turn.view))
        elif not kept:
            kept.append(turn)
        return turn.legal[0]

    play_game(looks, seed="look")
    assert seen
    assert isinstance(seen[0], dict)
    assert seen[0]["hands"][1]["cards"] == []
    with pytest.raises(RuntimeError, match=r"look at turn\.view inside move"):
        _ = kept[0].view


def test_play_game_gives_the_result_or_raises_the_bots_error() -> None:
    assert play_game(random_bot).ending == "rules"
    assert play_game(random_bot, "antiquity-3p", seed="other").moves > 10
    ends: list[MatchResult] = []

    @bot
    def wrong(turn: Turn) -> str:
        return "nothing"

    with pytest.raises(BotError, match="'nothing' is not legal at decision 1"):
        play_game(wrong)
    assert ends == []


def test_what_a_bot_prints_does_not_go_to_stdout(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    match(read_bot(write("talks", "print('hello from the bot')\nreturn turn.legal[0]")), read_bot("random"))
    out, err = capsys.readouterr()
    assert "hello from the bot" not in out
    assert "hello from the bot" in err


def test_the_first_move_comes_soon_and_nothing_of_the_server_is_imported() -> None:
    code = (
        "import sys\nfrom hippodrome.workers.local import *\nfrom hippodrome.workers.botfiles import read_bots\n"
        "from hippodrome.workers.local_pool import play_many\nfrom hippodrome.workers.local_series import SeriesSpec\n"
        "s = SeriesSpec(read_ruleset('antiquity-2p'), read_bots(['random', 'random']))\n"
        "[_] = play_many(s)\n"
        "print([m for m in ('sqlmodel', 'celery', 'fastapi', 'click', 'hippodrome.service.node') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_bot_that_does_not_load_stops_the_match_before_it_begins(write: Write) -> None:
    broken = write("broken", "return turn.legal[0]", head="import nunpy")
    with pytest.raises(BotError, match="No module named 'nunpy'"):
        match(read_bot(broken), read_bot("random"))
    with pytest.raises(UsageError, match=r"no file 'missing\.py'"):
        match(read_bot("missing.py"), read_bot("random"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("randon", "no bot 'randon'; fix: did you mean 'random'?"),
        ("live:quokka", "'live:quokka' plays on a server"),
        ("quokka@3", "'quokka@3' plays on a server"),
        ("cmd:", "cmd: names no program"),
        ("cmd:'x", "cannot be read"),
    ],
)
def test_a_wrong_name_of_a_bot_is_told_with_the_fix(text: str, problem: str) -> None:
    with pytest.raises(FieldError) as caught:
        read_bot(text)
    assert caught.value.field == "bot"
    assert problem in str(caught.value)


def test_names_are_made_different() -> None:
    texts = ["random", "a/mine.py", "b/mine.py:Other", "random", "cmd:python3 x/mine.py", "cmd:./fast -v"]
    names = [one.name for one in read_bots(texts)]
    assert names == ["random", "mine", "Other", "random-2", "mine-2", "fast"]
