"""Pairing systems: pure functions from (entries, seats, blocks) to planned matches, in an order that never changes.

A pairing system is one function and one line in `PAIRINGS`. A **block** is one seed played in all cyclic seat rotations
of one table. Numbers, blocks and rotations count from 0; entries are indexes.

| seats | entries | tables of a cycle |
|---|---|---|
| 2 | any | the Berger tables: all pairs once, both parties alternating between the seats |
| 3, 4 | up to 9, or no design known | all subsets |
| 3, 4 | more | a balanced design (`designs.py`): every pair meets equally often |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Final

from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import did_you_mean
from hippodrome.ladder.designs import DESIGNS, develop

ALL_SUBSETS: Final = 9
"""Up to so many entries all subsets are played: a design would save little."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A match to be: `seats` are entry indexes by seat."""

    number: int
    block: int
    rotation: int
    seats: tuple[int, ...]


Pairing = Callable[[int, int, int], Iterator[Planned]]


def round_robin(entries: int, seats: int, blocks: int) -> Iterator[Planned]:
    """Everybody meets everybody equally often, `blocks` blocks for each table. Raises FieldError."""
    check(entries, seats, blocks)
    number = block = 0
    for _ in range(blocks):
        for table in tables(entries, seats):
            for rotation in range(seats):
                yield Planned(number, block, rotation, table[rotation:] + table[:rotation])
                number += 1
            block += 1


PAIRINGS: Final[dict[str, Pairing]] = {
    "round-robin": round_robin,
}
"""Name -> pairing system."""


def get_pairing(name: str) -> Pairing:
    """The pairing system called `name`. Raises FieldError."""
    if name not in PAIRINGS:
        raise FieldError("pairing", f"no pairing system {name[:60]!r}", did_you_mean(name, list(PAIRINGS)), tuple(PAIRINGS))
    return PAIRINGS[name]


def check(entries: int, seats: int, blocks: int) -> None:
    """Raises FieldError when no schedule is possible."""
    if entries < seats:
        raise FieldError("entries", f"{entries} for matches of {seats}", f"name at least {seats} bots")
    if blocks < 1:
        raise FieldError("blocks", f"{blocks}", "give 1 or more")


def tables(entries: int, seats: int) -> Iterator[tuple[int, ...]]:
    """The tables of one cycle, each in its seat order of rotation 0."""
    if seats == 1:
        return ((entry,) for entry in range(entries))
    if seats == 2:
        return berger(entries)
    if entries > ALL_SUBSETS and entries in DESIGNS.get(seats, {}):
        return iter(develop(DESIGNS[seats][entries]))
    return combinations(range(entries), seats)


def count(entries: int, seats: int, blocks: int) -> int:
    """How many matches `round_robin` plans, without planning them."""
    check(entries, seats, blocks)
    if seats in DESIGNS and entries > ALL_SUBSETS and entries in DESIGNS[seats]:
        per_cycle = len(develop(DESIGNS[seats][entries]))
    else:
        per_cycle = comb(entries, seats)
    return per_cycle * seats * blocks


def berger(entries: int) -> Iterator[tuple[int, int]]:
    """The Berger tables in closed form, round by round; with an odd number the last seat is the one who rests.

    Round r, board d, k = r * N/2 mod N-1: board 0 is (k, N-1), turned round in odd rounds; board d is (k+d, k-d) mod N-1.
    """
    even = entries + entries % 2
    for r in range(even - 1):
        k = r * (even // 2) % (even - 1)
        for d in range(even // 2):
            pair = (k, even - 1) if d == 0 else ((k + d) % (even - 1), (k - d) % (even - 1))
            if max(pair) < entries:
                yield pair if d or r % 2 == 0 else pair[::-1]
