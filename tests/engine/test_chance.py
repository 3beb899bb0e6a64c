"""The published stream: vectors, an independent reading of its description, evenness, copies, logs."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hippodrome.engine.chance import Chance, QuickChance, bot_seed, commitment

VECTORS: dict[str, Any] = json.loads(Path(__file__).with_name("chance_vectors.json").read_text())
DOCS = Path(__file__).parents[2] / "docs" / "chance.md"


def words(seed: bytes, stream: str) -> Iterator[int]:
    """Block i is HMAC-SHA256(seed, "<stream>/<i>"): four 64-bit big-endian words."""
    for i in itertools.count():
        block = hmac.new(seed, f"{stream}/{i}".encode(), hashlib.sha256).hexdigest()
        for start in (0, 16, 32, 48):
            yield int(block[start : start + 16], 16)


def below(source: Iterator[int], n: int) -> int:
    """Rejects words from the last, incomplete run of n."""
    return next(word for word in source if word < 2**64 - 2**64 % n) % n


def shuffled(source: Iterator[int], n: int) -> list[int]:
    """Fisher-Yates from the end."""
    items = list(range(n))
    for i in reversed(range(1, n)):
        j = below(source, i + 1)
        items[i], items[j] = items[j], items[i]
    return items


@pytest.mark.parametrize("vector", VECTORS["streams"], ids=lambda v: f"{v['seed'][:4]}-{v['stream'].replace('/', '_')}")
def test_the_published_vectors_hold_by_both_readings(vector: dict[str, Any]) -> None:
    seed, name = bytes.fromhex(vector["seed"]), vector["stream"]
    assert commitment(seed) == vector["commitment"] == hashlib.sha256(seed).hexdigest()
    source = words(seed, name)
    assert [f"{next(source):016x}" for _ in vector["words"]] == vector["words"]
    source, stream = words(seed, name), Chance(seed).stream(name)
    for n, result in vector["below"]:
        assert below(source, n) == result
        assert stream.below(n) == result
    items = list(range(len(vector["shuffle_after"])))
    stream.shuffle(items)
    assert items == vector["shuffle_after"] == shuffled(source, len(items))


@pytest.mark.parametrize("vector", VECTORS["bot_seeds"], ids=lambda v: f"{v['seed'][:4]}-{v['seat']}")
def test_the_published_bot_seeds_hold(vector: dict[str, Any]) -> None:
    message = f"bot/{vector['seat']}/seed".encode()
    own = hmac.new(bytes.fromhex(vector["seed"]), message, hashlib.sha256).hexdigest()
    assert bot_seed(bytes.fromhex(vector["seed"]), vector["seat"]) == vector["bot_seed"] == own


def test_the_documentation_shows_the_vectors_of_the_tests() -> None:
    blocks = re.findall(r"```json\n(.*?)```", DOCS.read_text(), re.S)
    assert [json.loads(block) for block in blocks] == [VECTORS["streams"][0], VECTORS["bot_seeds"][0]]


def test_rejection_happens_and_is_read_alike() -> None:
    """n just over 2**63 rejects almost every second word: the case in which readings differ."""
    seed, n = bytes(range(32)), 2**63 + 1
    source, stream = words(seed, "deck"), Chance(seed).stream("deck")
    assert [stream.below(n) for _ in range(50)] == [below(source, n) for _ in range(50)]
    assert any(word >= 2**64 - 2**64 % n for word in itertools.islice(words(seed, "deck"), 50))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 52, 1000])
def test_numbers_are_even(n: int) -> None:
    """Chi-squared over 20,000 draws of a fixed seed stays under its mean plus five standard deviations."""
    stream, draws = Chance(bytes([7] * 32)).stream("even"), 20_000
    counts = Counter(stream.below(n) for _ in range(draws))
    assert set(counts) == set(range(n))
    chi = sum((counts[i] - draws / n) ** 2 / (draws / n) for i in range(n))
    assert chi <= (n - 1) + 5 * (2 * (n - 1)) ** 0.5


def test_every_order_of_four_is_as_likely() -> None:
    stream, draws = Chance(bytes([8] * 32)).stream("deck"), 12_000
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(draws):
        items = [0, 1, 2, 3]
        stream.shuffle(items)
        counts[tuple(items)] += 1
    assert len(counts) == 24
    assert sum((c - draws / 24) ** 2 / (draws / 24) for c in counts.values()) <= 23 + 5 * 46**0.5


def test_streams_do_not_touch_each_other() -> None:
    one, two = Chance(bytes(32)), Chance(bytes(32))
    for _ in range(100):
        one.stream("dice", 0).below(6)
    assert [one.stream("dice", 1).below(6) for _ in range(50)] == [two.stream("dice", 1).below(6) for _ in range(50)]
    assert [one.stream("deck").below(6) for _ in range(50)] == [two.stream("deck").below(6) for _ in range(50)]
    assert one.stream("dice", 0) is one.stream("dice", 0)
    assert one.stream("dice", 0) is not one.stream("dice", 1)


def test_different_seeds_and_streams_give_different_numbers() -> None:
    draws = {tuple(Chance(bytes([s] * 32)).stream(n).below(2**64) for _ in range(2)) for s in range(20) for n in "abcde"}
    assert len(draws) == 100


def test_a_copy_goes_on_alike_and_apart() -> None:
    chance = Chance(bytes(32))
    for _ in range(5):
        chance.stream("dice", 1).below(6)
    twin = chance.copy()
    ahead = [chance.stream("dice", 1).below(6) for _ in range(30)]
    assert [twin.stream("dice", 1).below(6) for _ in range(30)] == ahead
    assert [twin.stream("deck").below(9)] == [chance.stream("deck").below(9)]
    assert len(chance.take_log()) == 36
    assert len(twin.take_log()) == 31


def test_the_log_holds_each_result_once_in_order() -> None:
    chance, items = Chance(bytes(32)), [5, 6, 7]
    first = chance.stream("dice", 2).below(6)
    chance.stream("deck").shuffle(items)
    assert chance.take_log() == [("dice/2", [first]), ("deck", items)]
    items.clear()
    assert chance.take_log() == []


@pytest.mark.parametrize("size", [0, 16, 31, 33])
def test_a_seed_has_32_bytes(size: int) -> None:
    with pytest.raises(ValueError, match=f"seed: {size} bytes given"):
        Chance(bytes(size))


@pytest.mark.parametrize("n", [0, -1, 2**64 + 1])
def test_a_number_below_nothing_is_refused(n: int) -> None:
    with pytest.raises(ValueError, match=f"below: {n} given"):
        Chance(bytes(32)).stream("deck").below(n)


def test_the_whole_range_of_a_word_can_be_drawn() -> None:
    assert Chance(bytes(32)).stream("deck").below(2**64) == next(words(bytes(32), "deck"))


def test_quick_chance_has_the_same_calls_and_notes_nothing() -> None:
    quick: Chance = QuickChance(random.Random(1))
    assert {quick.stream("dice", 0).below(3) for _ in range(100)} == {0, 1, 2}
    items = list(range(9))
    quick.stream("deck").shuffle(items)
    assert sorted(items) == list(range(9))
    assert quick.take_log() == []
    assert isinstance(quick.stream("deck").name, str)
    assert quick.copy().stream("dice").below(1) == 0
    public = {name for name in dir(Chance) if not name.startswith("_")}
    assert public == {name for name in dir(QuickChance) if not name.startswith("_")}
