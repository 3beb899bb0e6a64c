"""The data file: it ships, may be replaced, and is checked when it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from hippodrome.engine.errors import FieldError
from hippodrome.games.antiquity import GAME, components
from hippodrome.games.antiquity.components import BOX, BOX_DIGEST
from hippodrome.games.antiquity.datafile import read_box

SHIPPED = Path(components.__file__).with_name("antiquity.toml")


@pytest.fixture
def write(tmp_path: Path) -> Path:
    return tmp_path / "box.toml"


def test_the_shipped_file_is_the_box_of_the_game() -> None:
    assert read_box(SHIPPED) == BOX
    assert (len(BOX.monuments), BOX.start_hand, BOX.face_up, BOX.actions) == (12, 5, 3, 3)
    assert GAME.rules_version.endswith(BOX_DIGEST)


def test_another_file_with_other_values_is_accepted(write: Path) -> None:
    text = SHIPPED.read_text(encoding="utf-8")
    for old, new in (
        ("start_hand = 5", "start_hand = 6"),
        ("players_2 = 86", "players_2 = 84"),
        ("players_3 = 70", "players_3 = 67"),
        ("players_4 = 85", "players_4 = 81"),
        ('id = "petra"', 'id = "stonehenge"'),
    ):
        assert old in text
        text = text.replace(old, new)
    write.write_text(text, encoding="utf-8")
    box = read_box(write)
    assert (box.start_hand, box.monuments[7].id) == (6, "stonehenge")
    assert repr(box) != repr(BOX)


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ("start_hand = 5", "start_hands = 5", "meta.start_hands", "unknown key; fix: did you mean 'start_hand'"),
        ("start_hand = 5", "", "meta.start_hand", "missing; fix: add this key"),
        ("start_hand = 5", 'start_hand = "5"', "meta.start_hand", "'5' given; fix: write a whole number from 1 to 15"),
        ("start_hand = 5", "start_hand = true", "meta.start_hand", "True given; fix: write a whole number"),
        ("start_hand = 5", "start_hand = 6", "deck_sizes.players_2", "fix: write 84"),
        ("players_3 = 70", "players_3 = 71", "deck_sizes.players_3", "fix: write 70"),
        ("builders_max = 2", "builders_max = 3", "meta.builders_max", "3 given; fix: write 2"),
        ("story_rank_bonus = [9, 6, 3]", "story_rank_bonus = [9, -6]", "meta.story_rank_bonus", "fix: write a list"),
        ("monument_cards = 108", "monument_cards = 107", "components.monument_cards", "fix: write 108"),
        ("secondary = [1, 2, 3, 4, 5, 6]", "secondary = [1, 2, 3]", "monument_track.secondary", "as many values as in"),
        ("start_space = 0", "start_space = 6", "monument_track.start_space", "at most 5"),
        ('symbols = "SHCCSHHCS"', 'symbols = "SHCCSHHCX"', "monument[7].symbols", "fix: write nine letters"),
        ('symbols = "HCSSHCCSH"', 'symbols = "HCSS"', "monument[1].symbols", "fix: write nine letters"),
        ('id = "petra"', 'id = "Petra!"', "monument[7].id", "fix: write lower-case words"),
        ('id = "petra"', 'id = "zeus"', "monument.id", "fix: write each id once"),
        ('[[monument]]\nid = "petra"', '[[monumant]]\nid = "petra"', "monumant", "fix: did you mean 'monument'"),
        ("removed_for_3 = [4]", "removed_for_3 = [4, 5]", "monument.removed_for_3", "20 values in all"),
        ("removed_for_3 = [4]", "removed_for_3 = [10]", "monument[0].removed_for_3", "from 1 to 9"),
        ("removed_for_3 = [4]", "removed_for_3 = [4, 4]", "monument[0].removed_for_3", "each value once"),
        ('unused_monument = "semiramis"', 'unused_monument = "rhodes"', "two_player.unused_monument", "the id of a monument"),
        ('id = "naute"\nsymbol = "S"', 'id = "naute"\nsymbol = "C"', "power.card.symbol", "each of S, H and C once"),
        ('id = "hero"', 'id = "heroine"', "power.card.id", "naute, scribe, hero in this order"),
        ('majority = "strict"', 'majority = "tied"', "power.majority", "fix: write 'strict'"),
        ('overflow_sole_builder = "2 VP"', 'overflow_sole_builder = "3 VP"', "rulings.overflow_sole_builder", "'2 VP'"),
        ("[story_track]\nmin = 1", "story_track = 1\n[other]\nmin = 1", "", "fix: "),
        ("schema = 1", "schema = ", "", "no TOML"),
    ],
)
def test_a_wrong_file_names_file_key_and_fix(write: Path, old: str, new: str, key: str, words: str) -> None:
    text = SHIPPED.read_text(encoding="utf-8")
    assert old in text
    write.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(FieldError) as error:
        read_box(write)
    message = str(error.value)
    assert message.startswith(f"box.toml: {key}")
    assert words in message
    assert "\n" not in message


def test_eleven_monuments_are_too_few(write: Path) -> None:
    text = SHIPPED.read_text(encoding="utf-8")
    last = text.index('[[monument]]\nid = "zeus"')
    write.write_text(text[:last] + text[text.index("[two_player]") :], encoding="utf-8")
    with pytest.raises(FieldError, match=r"box.toml: monument: .*exactly 12 of them, not 11"):
        read_box(write)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_named(write: Path, content: bytes | None) -> None:
    if content is not None:
        write.write_bytes(content)
    with pytest.raises(FieldError, match=r"box.toml: cannot be read"):
        read_box(write)
