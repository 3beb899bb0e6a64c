"""Everything in examples/ is played, in this process and as a program at a real node."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from hippodrome.bot import load_bot
from hippodrome.engine.verify import verify
from hippodrome.games.registry import get_game
from hippodrome.workers.botfiles import read_bots
from hippodrome.workers.local import play_game
from hippodrome.workers.local_pool import play_many
from hippodrome.workers.local_series import SeriesSpec

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
WITH_SDK = [path for path in EXAMPLES if path.stem != "proto_only"]
GAME = get_game("antiquity")


def test_there_are_examples_of_every_kind() -> None:
    assert {path.stem for path in EXAMPLES} == {"smallest", "remembers", "looks", "waits", "proto_only"}


@pytest.mark.parametrize("path", WITH_SDK, ids=lambda path: path.stem)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_an_example_plays_a_whole_game_against_itself(path: Path, players: int) -> None:
    assert play_game(load_bot(str(path)), f"antiquity-{players}p").ending == "rules"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_plays_as_a_program(path: Path) -> None:
    spec = SeriesSpec(GAME.ruleset(2), read_bots([f"cmd:{sys.executable} {path}", "random"]), games=2, seed="examples")
    for _, played in play_many(spec):
        assert played.record.closing["end"] == "rules"
        verify(played.record, GAME)


def test_the_smallest_bots_are_as_small_as_is_said() -> None:
    by_name = {path.stem: path.read_text(encoding="utf-8") for path in EXAMPLES}
    assert len(by_name["smallest"].splitlines()) <= 5
    bare = ast.parse(by_name["proto_only"])
    assert bare.body[-1].end_lineno is not None
    assert bare.body[-1].end_lineno - bare.body[0].end_lineno <= 8  # type: ignore[operator]
