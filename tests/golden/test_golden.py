"""Golden records replay byte for byte; every registered game has them, and counts of its move tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from hippodrome.engine.record import dumps, loads
from hippodrome.engine.verify import verify
from hippodrome.games.registry import GAMES, get_game

HERE = Path(__file__).parent
RECORDS = sorted(HERE.glob("*/*.jsonl"))


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_golden_record_replays_byte_for_byte(path: Path) -> None:
    text = path.read_bytes().decode("ascii")
    again = verify(loads(text), get_game(path.parent.name)).record
    assert again is not None
    assert dumps(again) == text


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_golden_records_for_all_its_numbers_of_players(name: str) -> None:
    game, endings, players = get_game(name), set(), set()
    for path in (HERE / name).glob("*.jsonl"):
        record = loads(path.read_text("ascii"))
        players.add(game.read_ruleset(record.header["ruleset"]).players)
        endings.add(record.closing["end"])
    assert players == set(game.players), "fix: add to MATCHES of tests/golden/freeze.py and run it"
    assert "rules" in endings
    assert len(endings) > 1


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_counts_of_its_move_tree(name: str) -> None:
    assert (HERE.parent / "games" / name / "test_perft.py").is_file()


def test_every_folder_is_of_a_registered_game() -> None:
    assert {path.parent.name for path in RECORDS} == set(GAMES)
