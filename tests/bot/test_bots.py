"""Bots as their authors write them, put to the test by the fake referee."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from hippodrome.bot import Bot, BotError, MatchInfo, MatchResult, ProtocolError, Turn, bot
from hippodrome.bot.testing import Ask, play, play_over_grpc
from hippodrome.v1.antiquity_pb2 import AntiquityView

WAYS = pytest.mark.parametrize("way", [play, play_over_grpc], ids=["directly", "over grpc"])
NOTHING: dict[str, str] = {}
THREE = [Ask(["a", "b", "c"]), Ask(["d"]), Ask(["e", "f"])]


@bot
def first(turn: Turn) -> str:
    return turn.legal[0]


@bot(max_matches=3, threads=True)
def in_thread(turn: Turn) -> str:
    return turn.legal[-1]


class Waiting(Bot):
    async def move(self, turn: Turn) -> str:
        return turn.legal[0]


@WAYS
@pytest.mark.parametrize(("kind", "moves"), [(first, "ade"), (in_thread, "cdf"), (Waiting, "ade")])
def test_each_form_of_bot_answers_every_decision(way: Any, kind: type[Bot], moves: str) -> None:
    assert way(kind, THREE) == [[move] for move in moves]


def test_a_function_bot_plays_sixteen_matches_at_once_unless_it_says_otherwise() -> None:
    assert (first.max_matches, in_thread.max_matches, Bot.max_matches) == (16, 3, 1)
    assert first.__name__ == "first"


@WAYS
def test_several_moves_go_out_as_one_answer(way: Any) -> None:
    @bot
    def planner(turn: Turn) -> list[str]:
        return ["a", "later", "last"]

    assert way(planner, [Ask(["a"])]) == [["a", "later", "last"]]


@WAYS
def test_one_instance_lives_through_one_match(way: Any) -> None:
    told: list[Any] = []

    class Keeper(Bot):
        def start(self, match: MatchInfo) -> None:
            self.count = 0
            told.append((match.game, match.players, match.seat, match.bots))

        def move(self, turn: Turn) -> str:
            self.count += 1
            return turn.legal[0]

        def end(self, result: MatchResult) -> None:
            told.append((self.count, result.ending, result.place, result.won))

    way(Keeper, THREE, ruleset="antiquity-3p.power=true", seat=0)
    assert told == [("antiquity", 3, 0, ("me", "other", "other")), (3, "rules", 1, True)]


def test_the_generator_gives_the_same_in_each_replay_and_other_numbers_with_another_seed() -> None:
    @bot
    def chooser(turn: Turn) -> str:
        return turn.rng.choice(turn.legal)

    asks = [Ask([str(n) for n in range(100)])] * 8
    once = play(chooser, asks, seed="s")
    assert play(chooser, asks, seed="s") == once == play_over_grpc(chooser, asks, seed="s")
    assert play(chooser, asks, seed="t") != once
    assert len({move for [move] in once}) > 1


def test_the_generator_of_a_decision_does_not_depend_on_how_much_was_drawn_before() -> None:
    @bot
    def greedy_drawer(turn: Turn) -> str:
        for _ in range(turn.number * 7):
            turn.rng.random()
        return turn.rng.choice(turn.legal)

    @bot
    def only_second(turn: Turn) -> str:
        if turn.number == 2:
            for _ in range(14):
                turn.rng.random()
        return turn.rng.choice(turn.legal)

    asks = [Ask([str(n) for n in range(100)])] * 2
    assert play(greedy_drawer, asks)[1] == play(only_second, asks)[1]


def test_a_turn_tells_clock_seat_and_view() -> None:
    seen: list[Any] = []

    @bot
    def looker(turn: Turn) -> str:
        seen.append((turn.number, turn.seat, turn.ruleset, turn.limit.total_seconds(), turn.last_charge, turn.view.deck_count))
        return turn.legal[0]

    play(looker, [Ask(["a"], view=AntiquityView(deck_count=7), limit=2.5)], seat=1, ruleset="antiquity-2p")
    assert seen == [(1, 1, "antiquity-2p", 2.5, None, 7)]


def test_a_view_of_an_unknown_game_says_so_only_when_it_is_asked_for() -> None:
    failures: list[str] = []

    @bot
    def looker(turn: Turn) -> str:
        try:
            failures.append(str(turn.view))
        except ProtocolError as error:
            failures.append(str(error))
        return turn.legal[0]

    assert play(looker, [Ask(["a"])]) == [["a"]]
    assert "fix: install a newer hippodrome" in failures[0]


@WAYS
@pytest.mark.parametrize(
    ("given", "code", "problem"),
    [
        ("z", "illegal_move", "move: 'z' is not legal at decision 1 of matches/test"),
        (None, "bad_answer", "move: None (NoneType) is no move, at decision 1 of matches/test"),
        (7, "bad_answer", "move: 7 (int) is no move"),
        ([], "bad_answer", "move: [] (list) is no move"),
        (["a", 3], "bad_answer", "(list) is no move"),
        (["z", "a"], "illegal_move", "'z' is not legal"),
    ],
)
def test_what_is_no_legal_move_is_caught_here_and_told_in_full(way: Any, given: Any, code: str, problem: str) -> None:
    @bot
    def wrong(turn: Turn) -> Any:
        return given

    with pytest.raises(BotError) as caught:
        way(wrong, [Ask(["a", "b"])])
    error = caught.value
    assert (error.code, error.legal, error.exit_code) == (code, ("a", "b"), 4)
    assert problem in str(error)
    assert str(error).endswith("fix: return one of turn.legal")
    report = error.report()
    assert "legal: a b\n" in report
    assert f"test_bots.py, line {wrong.function.__code__.co_firstlineno}, returned {given!r}" in report  # type: ignore[attr-defined]


@WAYS
@pytest.mark.parametrize("form", ["plain", "async", "threads"])
def test_a_crash_is_told_with_the_bots_own_traceback_only(way: Any, form: str) -> None:
    class Crashing(Bot):
        threads = form == "threads"

        def move(self, turn: Turn) -> str:
            return NOTHING["nothing"]

    class Later(Bot):
        async def move(self, turn: Turn) -> str:
            return NOTHING["nothing"]

    with pytest.raises(BotError) as caught:
        way(Later if form == "async" else Crashing, [Ask(["a"])])
    assert caught.value.code == "crash"
    assert "KeyError: 'nothing'" in caught.value.trace
    assert 'return NOTHING["nothing"]' in caught.value.trace
    assert "hippodrome/bot/_" not in caught.value.trace
    assert "test_bots.py, line" in caught.value.where


@WAYS
def test_a_cancellation_that_a_bot_lets_through_is_a_crash_and_no_silence(way: Any) -> None:
    """It is no Exception: nobody would answer, and the bot would lose on time without a word."""

    class Cancels(Bot):
        async def move(self, turn: Turn) -> str:
            task = asyncio.ensure_future(asyncio.sleep(60))
            task.cancel()
            await task
            return turn.legal[0]

    with pytest.raises(BotError, match=r"Cancels\.move: CancelledError"):
        way(Cancels, [Ask(["a"])])


@WAYS
@pytest.mark.parametrize("where", ["start", "move", "end"])
@pytest.mark.parametrize("threads", [False, True])
def test_leaving_the_process_from_inside_a_bot_is_a_crash(way: Any, where: str, threads: bool) -> None:
    class Quits(Bot):
        def start(self, match: MatchInfo) -> None:
            if where == "start":
                raise SystemExit(3)

        def move(self, turn: Turn) -> str:
            if where == "move":
                raise SystemExit(3)
            return turn.legal[0]

        def end(self, result: MatchResult) -> None:
            if where == "end":
                raise SystemExit(3)

    Quits.threads = threads
    with pytest.raises(BotError, match=f"Quits.{where}: SystemExit: 3"):
        way(Quits, [Ask(["a"])])


def test_a_class_without_move_says_what_is_missing() -> None:
    class Empty(Bot):
        pass

    with pytest.raises(BotError, match=r"Empty has no move\(\); fix: define move"):
        play(Empty, [Ask(["a"])])


def test_a_long_list_of_legal_moves_is_cut_in_the_report() -> None:
    @bot
    def wrong(turn: Turn) -> str:
        return "z" * 500

    with pytest.raises(BotError) as caught:
        play(wrong, [Ask([f"m{n}" for n in range(200)])])
    assert "m11 ... and 188 more" in caught.value.report()
    assert max(map(len, caught.value.report().splitlines())) < 260


def test_a_bot_in_threads_does_not_hold_up_the_session() -> None:
    @bot(threads=True)
    def slow(turn: Turn) -> str:
        time.sleep(0.05)
        return turn.legal[0]

    assert play_over_grpc(slow, [Ask(["a"])] * 3) == [["a"]] * 3
