"""Reads and checks `antiquity.toml`, the data file of the box. It may be replaced by one with the printed values.

Every key is named in `SCHEMA` with what it may hold. A value that the rules in this package depend on may only be the one
they implement. `read_box` raises FieldError whose line names the file, the key, what was wrong and the fix.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import did_you_mean

SYMBOLS: Final = {"S": "ship", "H": "helmet", "C": "scroll"}
"""Letter in the data file -> word of the notation."""
MONUMENTS: Final = 12
VALUES: Final = 9


@dataclass(frozen=True, slots=True)
class Value:
    """What a key may hold: `good` decides, `want` says it in words."""

    good: Callable[[Any], bool]
    want: str


def exactly(value: Any) -> Value:
    return Value(lambda v: type(v) is type(value) and v == value, f"{value!r}: the rules of this package need it")


def whole(low: int, high: int) -> Value:
    return Value(lambda v: type(v) is int and low <= v <= high, f"a whole number from {low} to {high}")


def wholes(low: int, high: int) -> Value:
    def good(v: Any) -> bool:
        return isinstance(v, list) and all(type(x) is int and low <= x <= high for x in v)

    return Value(good, f"a list of whole numbers from {low} to {high}")


def matching(pattern: str, want: str) -> Value:
    return Value(lambda v: isinstance(v, str) and re.fullmatch(pattern, v) is not None, want)


TEXT: Final = matching(r".*", "a text in quotes")
WORD: Final = matching(r"[a-z]+(_[a-z]+)*", "lower-case words joined by _")
SYMBOL_ROW: Final = matching(r"[SHC]{9}", "nine letters, one a card: S ship, H helmet, C scroll")
POINTS: Final = whole(0, 99)

SCHEMA: Final[dict[str, Any]] = {
    "schema": exactly(1),
    "game": exactly("monuments_antiquity"),
    "meta": {
        "players_min": exactly(2),
        "players_max": exactly(4),
        "start_hand": whole(1, 15),
        "face_up": whole(1, 9),
        "actions": whole(1, 9),
        "actions_mandatory": exactly(True),
        "bought_actions_max": exactly(1),
        "unused_historian_vp": whole(-99, 0),
        "story_rank_bonus": wholes(0, 99),
        "min_cards_first_builder": whole(1, VALUES),
        "min_cards_second_builder": whole(1, VALUES),
        "builders_max": exactly(2),
        "story_min_pile": exactly(2),
    },
    "historians": {"players_2": whole(1, 9), "players_3": whole(1, 9), "players_4": whole(1, 9)},
    "components": {
        "monument_cards": exactly(MONUMENTS * VALUES),
        "available_cards": exactly(MONUMENTS),
        "track_markers": exactly(MONUMENTS + 1),
        "player_tokens": exactly(16),
        "power_cards": exactly(3),
    },
    "monument_track": {
        "sole": wholes(0, 99),
        "primary": wholes(0, 99),
        "secondary": wholes(0, 99),
        "start_space": whole(0, 99),
        "overflow_vp_higher_card": POINTS,
        "overflow_vp_other": POINTS,
    },
    "story_track": {"min": exactly(1), "max": whole(2 * MONUMENTS, 108)},
    "score_track": {"start": POINTS, "cap": exactly("none")},
    "monument": [
        {
            "id": WORD,
            "name": TEXT,
            "colour": TEXT,
            "symbols": SYMBOL_ROW,
            "removed_for_3": wholes(1, VALUES),
        }
    ],
    "two_player": {
        "unused_monument": WORD,
        "colours_per_player": exactly(2),
        "result": exactly("higher of the two players' lower colour score"),
    },
    "power": {
        "acquire_actions": exactly(1),
        "acquire_vp": POINTS,
        "end_vp": POINTS,
        "majority": exactly("strict"),
        "steal_requires_majority": exactly(True),
        "variant_counts_as_symbol": exactly(False),
        "card": [{"id": WORD, "symbol": matching("[SHC]", "one letter: S ship, H helmet, C scroll"), "effect": TEXT}],
    },
    "deck_sizes": {"players_2": whole(1, 108), "players_3": whole(1, 108), "players_4": whole(1, 108)},
    "rulings": {
        "game_end": exactly(
            "end of the active player's turn in which a face-up gap cannot be refilled; no equalising turns"
        ),
        "builder_rank_tie": exactly("highest single value among the cards still on display"),
        "overflow_compare": exactly("highest value on display after the story's cards were taken"),
        "overflow_sole_builder": exactly("2 VP"),
        "story_pages_set_aside_public": exactly(True),
        "story_bonus_stack": exactly("older stories first"),
        "vp_discard_after_scoring_is_removed": exactly(True),
    },
}
POWER_CARDS: Final = ("naute", "scribe", "hero")


@dataclass(frozen=True, slots=True)
class Monument:
    """One series: nine cards with `symbols` by value; `removed` are the values marked with the crossed-out III."""

    id: str
    name: str
    colour: str
    symbols: str
    removed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Box:
    """The checked content of the data file. Points in victory points; `track` rows by space from the left."""

    monuments: tuple[Monument, ...]
    start_hand: int
    face_up: int
    actions: int
    unused_historian: int
    rank_bonus: tuple[int, ...]
    min_first: int
    min_second: int
    historians: dict[int, int]
    sole: tuple[int, ...]
    primary: tuple[int, ...]
    secondary: tuple[int, ...]
    start_space: int
    overflow_higher: int
    overflow_other: int
    start_points: int
    unused_monument: str
    power_symbols: tuple[str, ...]
    acquire_points: int
    end_points: int


def read_box(path: Path) -> Box:
    """The box described by the file at `path`. Raises FieldError naming file, key, problem and fix."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise FieldError(path.name, f"no TOML: {error}", "correct that place") from None
    except (OSError, UnicodeDecodeError) as error:
        raise FieldError(path.name, f"cannot be read: {error}", "put a readable UTF-8 file there") from None
    _check(path.name, "", data, SCHEMA)
    for key, good, want in _relations(data):
        if not good:
            raise FieldError(f"{path.name}: {key}", "does not fit the other values", f"write {want}")
    return _box(data)


def _check(file: str, key: str, value: Any, schema: Any) -> None:
    if isinstance(schema, Value):
        if not schema.good(value):
            raise FieldError(f"{file}: {key}", f"{value!r} given", f"write {schema.want}")
    elif isinstance(schema, list):
        if not isinstance(value, list):
            raise FieldError(f"{file}: {key}", "is no list of tables", f"write each as [[{key}]]")
        for i, item in enumerate(value):
            _check(file, f"{key}[{i}]", item, schema[0])
    else:
        _check_table(file, key, value, schema)


def _check_table(file: str, key: str, value: Any, schema: dict[str, Any]) -> None:
    if not isinstance(value, dict):
        raise FieldError(f"{file}: {key}", f"{value!r} given", f"write it as a table [{key}]")
    inner = key + "." if key else ""
    for name in value:
        if name not in schema:
            raise FieldError(f"{file}: {inner}{name}", "unknown key", did_you_mean(name, list(schema)), tuple(schema))
    for name, part in schema.items():
        if name not in value:
            raise FieldError(f"{file}: {inner}{name}", "missing", "add this key")
        _check(file, inner + name, value[name], part)


def _relations(data: dict[str, Any]) -> list[tuple[str, bool, str]]:
    """Key, whether it fits the rest of the file, and what to write; the conditions that span several keys."""
    series, track, power = data["monument"], data["monument_track"], data["power"]["card"]
    ids = [m["id"] for m in series]
    spaces, removed = len(track["sole"]), [len(m["removed_for_3"]) for m in series]
    rows = [
        (f"monument_track.{row}", len(track[row]) == spaces, "as many values as in `sole`") for row in ("primary", "secondary")
    ]
    return [
        ("monument", len(series) == MONUMENTS, f"exactly {MONUMENTS} of them, not {len(series)}"),
        ("monument.id", len(set(ids)) == len(ids), "each id once"),
        *[(f"monument[{i}].removed_for_3", len(set(m["removed_for_3"])) == len(m["removed_for_3"]), "each value once")
          for i, m in enumerate(series)],
        ("monument.removed_for_3", sum(removed) == 20, "20 values in all: one series and 11 more cards"),
        ("monument.removed_for_3", removed.count(VALUES) == 1, "exactly one whole series"),
        ("monument_track.sole", spaces > 0, "a value for each space, at least one"),
        *rows,
        ("monument_track.start_space", track["start_space"] < spaces, f"a space of the track, at most {spaces - 1}"),
        ("two_player.unused_monument", data["two_player"]["unused_monument"] in ids, "the id of a monument: " + ", ".join(ids)),
        ("power.card.id", tuple(c["id"] for c in power) == POWER_CARDS, ", ".join(POWER_CARDS) + " in this order"),
        ("power.card.symbol", sorted(c["symbol"] for c in power) == sorted(SYMBOLS), "each of S, H and C once"),
        *_deck_relations(data),
    ]  # fmt: skip


def _deck_relations(data: dict[str, Any]) -> list[tuple[str, bool, str]]:
    meta, cards = data["meta"], MONUMENTS * VALUES
    removed = {2: VALUES, 3: sum(len(m["removed_for_3"]) for m in data["monument"]), 4: 0}
    left = {n: cards - removed[n] - n * meta["start_hand"] - meta["face_up"] for n in (2, 3, 4)}
    return [
        (f"deck_sizes.players_{n}", data["deck_sizes"][f"players_{n}"] == left[n],
         f"{left[n]}: {cards} cards less {removed[n]} not used, {n} hands of {meta['start_hand']}, {meta['face_up']} face up")
        for n in (2, 3, 4)
    ]  # fmt: skip


def _box(data: dict[str, Any]) -> Box:
    meta, track, power = data["meta"], data["monument_track"], data["power"]
    return Box(
        monuments=tuple(
            Monument(m["id"], m["name"], m["colour"], m["symbols"], tuple(m["removed_for_3"])) for m in data["monument"]
        ),
        start_hand=meta["start_hand"],
        face_up=meta["face_up"],
        actions=meta["actions"],
        unused_historian=meta["unused_historian_vp"],
        rank_bonus=tuple(meta["story_rank_bonus"]),
        min_first=meta["min_cards_first_builder"],
        min_second=meta["min_cards_second_builder"],
        historians={n: data["historians"][f"players_{n}"] for n in (2, 3, 4)},
        sole=tuple(track["sole"]),
        primary=tuple(track["primary"]),
        secondary=tuple(track["secondary"]),
        start_space=track["start_space"],
        overflow_higher=track["overflow_vp_higher_card"],
        overflow_other=track["overflow_vp_other"],
        start_points=data["score_track"]["start"],
        unused_monument=data["two_player"]["unused_monument"],
        power_symbols=tuple(SYMBOLS[c["symbol"]] for c in power["card"]),
        acquire_points=power["acquire_vp"],
        end_points=power["end_vp"],
    )
