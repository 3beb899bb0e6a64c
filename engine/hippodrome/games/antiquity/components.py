"""The box: cards, symbols, tracks and power cards, as tables made from `antiquity.toml` in its printed order.

A card is an int from 0 to 107: monument * 9 + value - 1. A set of cards is an int with the bit `1 << card` for each. A
place is colour * 12 + monument: the pile of that monument in that colour's display; sets of places are bit sets too.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from hippodrome.games.antiquity.datafile import MONUMENTS, POWER_CARDS, SYMBOLS, VALUES, Box, read_box

BOX: Final[Box] = read_box(Path(__file__).with_name("antiquity.toml"))
"""The checked data file of this package."""
BOX_DIGEST: Final = hashlib.sha256(repr(BOX).encode()).hexdigest()[:8]
"""Part of the rules version: with another data file the same moves give another result."""

SERIES: Final = tuple(m.id for m in BOX.monuments)
COLOURS: Final = ("red", "blue", "green", "yellow")
SYMBOL_WORDS: Final = tuple(SYMBOLS.values())
POWERS: Final = POWER_CARDS
NAUTE, SCRIBE, HERO = 0, 1, 2
POWER_SYMBOL: Final = tuple(SYMBOL_WORDS.index(word) for word in BOX.power_symbols)

CARDS: Final = range(MONUMENTS * VALUES)
CARD_NAMES: Final = tuple(f"{SERIES[c // VALUES]}-{c % VALUES + 1}" for c in CARDS)
CARD_OF: Final = {name: card for card, name in enumerate(CARD_NAMES)}
CARD_BIT: Final = tuple(1 << c for c in CARDS)
CARD_BYTE: Final = tuple(bytes([c]) for c in CARDS)
MONUMENT_OF: Final = tuple(c // VALUES for c in CARDS)
SYMBOL_OF: Final = tuple(list(SYMBOLS).index(BOX.monuments[c // VALUES].symbols[c % VALUES]) for c in CARDS)

SERIES_BITS: Final = (1 << VALUES) - 1
"""The cards of the first series; shifted left by `SHIFT[m]` those of monument m."""
SHIFT: Final = tuple(VALUES * m for m in range(MONUMENTS))
SYMBOL_CARDS: Final = tuple(sum(CARD_BIT[c] for c in CARDS if SYMBOL_OF[c] == s) for s in range(len(SYMBOLS)))

ALL_SERIES: Final = (1 << MONUMENTS) - 1
PLACE_SHIFT: Final = tuple(MONUMENTS * colour for colour in range(len(COLOURS)))
OTHERS: Final = tuple(
    sum(ALL_SERIES << shift for shift in PLACE_SHIFT if shift != own) for own in PLACE_SHIFT
)
"""By colour: the places of all other colours."""
LAST_SPACE: Final = len(BOX.sole) - 1

_LEVELS: Final = (1, BOX.min_first, BOX.min_second)


def _stock(monument: int, count: int) -> int:
    return sum(1 << MONUMENTS * level + monument for level, least in enumerate(_LEVELS) if count >= least)


STOCK: Final = tuple(tuple(_stock(m, n) for n in range(VALUES + 1)) for m in range(MONUMENTS))
"""By monument and number of its cards in a hand: three sets of series in one int, 12 bits each: those of which the hand
has at least one card, at least enough for the first builder, at least enough for the second."""
FIRST_SHIFT, SECOND_SHIFT = MONUMENTS, 2 * MONUMENTS


_SERIES_NAMES: Final = tuple(
    tuple(tuple(CARD_NAMES[m * VALUES + v] for v in range(VALUES) if chosen >> v & 1) for chosen in range(1 << VALUES))
    for m in range(MONUMENTS)
)
"""By monument and set of its nine cards: their names."""


def names(cards: int) -> list[str]:
    """The names of a set of cards, in the order of cards."""
    found: list[str] = []
    for table in _SERIES_NAMES:
        found += table[cards & SERIES_BITS]
        cards >>= VALUES
    return found


def bits(words: list[str]) -> int:
    """The set of the named cards."""
    return sum(CARD_BIT[CARD_OF[word]] for word in words)
