"""The published chance stream: every random choice of a match follows from its seed, in any language.

A `Chance` holds a 32-byte seed. A stream is named by a purpose and, where each seat has its own luck, the seat: `deck`,
`dice/2`. Block number i (from 0) of a stream is HMAC-SHA256(key = seed, message = "<stream>/<i>" in ASCII); it gives four
64-bit big-endian words. `below(n)` takes the next word w and, if w >= 2**64 - 2**64 % n, the word after it, and so on;
the result is w % n. `shuffle` is Fisher-Yates from the end: for i = n-1 .. 1 swap items i and below(i+1).
Test vectors: docs/chance.md, checked by the tests.
"""

from __future__ import annotations

import hashlib
import hmac
import random
from collections.abc import MutableSequence
from typing import Any, Final

SEED_BYTES: Final = 32
_WORD: Final = 1 << 64


def commitment(seed: bytes) -> str:
    """SHA-256 of the seed in hex: published before the match, the seed after it."""
    return hashlib.sha256(seed).hexdigest()


def bot_seed(seed: bytes, seat: int) -> str:
    """What the bot of `seat` is given for its own choices, in hex: the same in each replay, and it tells nothing of the
    seed nor of any stream (the message `bot/<seat>/seed` is no block of one: it ends in no number)."""
    return hmac.digest(seed, f"bot/{seat}/seed".encode("ascii"), "sha256").hex()


class Stream:
    """One stream of a `Chance`, read in order. Each result is noted in the owner's log as (stream, result)."""

    __slots__ = ("_block", "_log", "_seed", "_words", "name")

    def __init__(self, seed: bytes, name: str, log: list[tuple[str, list[int]]]) -> None:
        self.name, self._seed, self._log = name, seed, log
        self._block = 0
        self._words: list[int] = []

    def _word(self) -> int:
        if not self._words:
            block = hmac.digest(self._seed, f"{self.name}/{self._block}".encode("ascii"), "sha256")
            self._block += 1
            self._words = [int.from_bytes(block[i : i + 8], "big") for i in (24, 16, 8, 0)]
        return self._words.pop()

    def _below(self, n: int) -> int:
        limit = _WORD - _WORD % n
        word = self._word()
        while word >= limit:
            word = self._word()
        return word % n

    def below(self, n: int) -> int:
        """A number from 0 to n-1, each as likely; `n` from 1 to 2**64."""
        if not 0 < n <= _WORD:
            raise ValueError(f"below: {n} given; fix: give a number from 1 to 2**64")
        result = self._below(n)
        self._log.append((self.name, [result]))
        return result

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Put `items` (ints in every game here) into an order each of which is as likely; the log gets the new order."""
        for i in range(len(items) - 1, 0, -1):
            j = self._below(i + 1)
            items[i], items[j] = items[j], items[i]
        self._log.append((self.name, list(items)))

    def copy(self, log: list[tuple[str, list[int]]]) -> Stream:
        """The same stream at the same place, noting into another log."""
        twin = Stream(self._seed, self.name, log)
        twin._block, twin._words = self._block, self._words[:]
        return twin


class Chance:
    """All streams of one match. `log` collects results until the referee takes them with `take_log`."""

    __slots__ = ("_log", "_seed", "_streams")

    def __init__(self, seed: bytes) -> None:
        if len(seed) != SEED_BYTES:
            raise ValueError(f"seed: {len(seed)} bytes given; fix: give {SEED_BYTES}")
        self._seed = seed
        self._log: list[tuple[str, list[int]]] = []
        self._streams: dict[str, Stream] = {}

    def stream(self, purpose: str, seat: int | None = None) -> Stream:
        """The stream of `purpose`, or of one seat's share in it; the same object each time."""
        name = purpose if seat is None else f"{purpose}/{seat}"
        if name not in self._streams:
            self._streams[name] = Stream(self._seed, name, self._log)
        return self._streams[name]

    def take_log(self) -> list[tuple[str, list[int]]]:
        """The results since the last call, in order; empties the log."""
        taken = self._log[:]
        self._log.clear()
        return taken

    def copy(self) -> Chance:
        """Equal streams at equal places: a state that holds a Chance copies it along."""
        twin = type(self)(self._seed)
        twin._streams = {name: stream.copy(twin._log) for name, stream in self._streams.items()}
        return twin


class _QuickStream(Stream):
    __slots__ = ("_random",)

    def __init__(self, source: random.Random) -> None:
        self.name, self._random = "quick", source

    def below(self, n: int) -> int:
        return int(self._random.random() * n)

    def shuffle(self, items: MutableSequence[Any]) -> None:
        self._random.shuffle(items)

    def copy(self, log: list[tuple[str, list[int]]]) -> Stream:
        return self


class QuickChance(Chance):
    """For search and benchmarks: the same calls on Python's own generator, several times faster, nothing noted.

    All streams are one, and copies share it: a state's copy goes on with other luck than the state itself.
    """

    __slots__ = ("_quick",)

    def __init__(self, source: random.Random) -> None:
        self._quick = _QuickStream(source)

    def stream(self, purpose: str, seat: int | None = None) -> Stream:
        return self._quick

    def take_log(self) -> list[tuple[str, list[int]]]:
        return []

    def copy(self) -> Chance:
        return self
