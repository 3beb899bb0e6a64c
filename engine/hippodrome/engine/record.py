"""The record of a match: enough to play it again bit for bit. JSON Lines, one object a line, written compactly.

    {"record":"hippodrome/1","match":..,"ruleset":"antiquity-2p","rules":"1","seats":[{"bot":..,"version":..},..],
     "clock":"60s+100ms","policy":"forfeit","commitment":sha256(seed)}                              header
    {"chance":"deck","result":[..]}                                                                 a result of chance
    {"n":1,"seat":0,"move":"draw","sent":0,"received":812,"credit":0,"charged":812,"bank":..,"hash":..}    an accepted move
    {"n":2,"seat":1,"fault":"timeout","reason":..,"answer":..,"sent":..,..}                         an answer that failed
    {"n":2,"seat":1,"move":"draw","by":"referee","hash":..}                    the neutral move, played for a failed seat
    {"end":"rules","reason":..,"places":[1,2],"scores":[61,48],"faults":[..],"moves":88,"seed":..,"sha256":..}      closing

Times are microseconds: `sent` and `received` since the match began on the referee's clock, `credit` what was taken off
for the network, `charged` what the clock took, `bank` what is left, with the increment of an accepted move. `hash` is the
first 16 hex digits of the SHA-256 of `State.key()` after the move and all that followed from it. `sha256` in the closing
line is that of all the lines before it. docs/record.md names every field. Reading and writing are exact:
`dumps(loads(text)) == text`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from hippodrome.engine.errors import RecordError

FORMAT: Final = "hippodrome/1"
Line = dict[str, Any]
encode: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode
"""A line as text, without its newline."""
_TIMES: Final = ("sent", "received", "credit", "charged", "bank")
_KINDS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "record": (("record", "match", "ruleset", "rules", "seats", "clock", "policy", "commitment"), ()),
    "chance": (("chance", "result"), ()),
    "fault": (("n", "seat", "fault", "reason", *_TIMES), ("answer",)),
    "move": (("n", "seat", "move", "hash"), ("by", *_TIMES)),
    "end": (("end", "reason", "places", "scores", "faults", "moves", "seed", "sha256"), ()),
}
"""The key that tells the kind of a line -> the keys it must have, and those it may have."""


def _text(value: object) -> bool:
    return type(value) is str


def _whole(value: object) -> bool:
    return type(value) is int and abs(value) < 1 << 63


def _numbers(value: object) -> bool:
    return type(value) is list and all(map(_whole, value))


def _rows(fields: dict[str, Callable[[object], bool]]) -> Callable[[object], bool]:
    def fits(value: object) -> bool:
        rows = value if type(value) is list else [None]
        return all(type(row) is dict and row.keys() == fields.keys() and all(fields[k](row[k]) for k in row) for row in rows)

    return fits


_VALUES: Final[dict[str, Callable[[object], bool]]] = {
    **dict.fromkeys(("n", "seat", "moves", *_TIMES), _whole),
    **dict.fromkeys(("result", "places", "scores"), _numbers),
    "seats": _rows({"bot": _text, "version": _text}),
    "faults": _rows({"seat": _whole, "n": _whole, "kind": _text, "reason": _text}),
}
"""Key -> what its value must be, wherever it stands; text for any other key."""


@dataclass(frozen=True, slots=True)
class Record:
    """A whole record: `header`, `body` (chance, moves and faults in order) and `closing`."""

    header: Line
    body: tuple[Line, ...]
    closing: Line
    _before: str = field(default="", init=False, compare=False, repr=False)
    """The text of all lines before the closing one, where `seal` has made it."""

    @property
    def lines(self) -> tuple[Line, ...]:
        """All lines in order; line 1 of the text form is the first."""
        return (self.header, *self.body, self.closing)

    @property
    def moves(self) -> list[Line]:
        return [line for line in self.body if "move" in line]


def state_hash(key: str) -> str:
    """The hash of a state in a record."""
    return hashlib.sha256(key.encode("ascii")).hexdigest()[:16]


def seal(lines: list[Line], closing: Line) -> Record:
    """The record of `lines` (header first) closed by `closing`, whose `sha256` is added here. No line may change after it."""
    text = _text_of(lines)
    record = Record(lines[0], tuple(lines[1:]), {**closing, "sha256": hashlib.sha256(text.encode("ascii")).hexdigest()})
    object.__setattr__(record, "_before", text)
    return record


def dumps(record: Record) -> str:
    """The text form, a line for each part, ending in a newline."""
    return (record._before or _text_of(record.lines[:-1])) + encode(record.closing) + "\n"


def _text_of(lines: Iterable[Line]) -> str:
    return "".join([encode(line) + "\n" for line in lines])


def loads(text: str) -> Record:
    """Read the text form. Raises RecordError naming the line: not JSON, an unknown kind, a missing key, cut off, changed."""
    lines = [_load_line(number, raw) for number, raw in enumerate(text.splitlines(), 1)]
    if not lines or "record" not in lines[0]:
        raise RecordError(1, "no header; fix: give a whole record, written by `hippodrome match export`")
    if lines[0]["record"] != FORMAT:
        raise RecordError(1, f"format {str(lines[0]['record'])[:40]!r} is not known; fix: give one of format {FORMAT!r}")
    if "end" not in lines[-1]:
        raise RecordError(len(lines), "no closing line: the record was cut off; fix: export it again")
    record = checked(Record(lines[0], tuple(lines[1:-1]), lines[-1]))
    sealed = seal([record.header, *record.body], {})
    if sealed._before + encode(record.closing) + "\n" != text:
        raise RecordError(0, "not in the canonical form; fix: export it again")
    if sealed.closing["sha256"] != record.closing["sha256"]:
        raise RecordError(len(lines), "sha256 does not match the lines before; fix: the record was changed, export it again")
    return record


def checked(record: Record) -> Record:
    """Itself, if every line has the keys of its kind and each key a value of its type. Raises RecordError."""
    lines = record.lines
    for number, line in enumerate(lines, 1):
        _check_line(number, line)
        if (kind(line) == "record") != (number == 1) or (kind(line) == "end") != (number == len(lines)):
            raise RecordError(number, f"a line of kind {kind(line)!r} is out of place; fix: give one whole record")
    return record


def kind(line: Line) -> str | None:
    """`record`, `chance`, `fault`, `move` or `end`; None for anything else."""
    return next((name for name in _KINDS if name in line), None)


def _load_line(number: int, raw: str) -> Line:
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        raise RecordError(number, f"{raw[:40]!r} is not JSON; fix: one JSON object a line") from None
    if not isinstance(line, dict):
        raise RecordError(number, f"{raw[:40]!r} is no object; fix: one JSON object a line")
    return line


def _check_line(number: int, line: Line) -> None:
    name = kind(line)
    if name is None:
        raise RecordError(number, f"unknown kind of line, keys {sorted(line)}; fix: see docs/record.md")
    needed, allowed = _KINDS[name]
    if missing := [key for key in needed if key not in line]:
        raise RecordError(number, f"{name} line without {', '.join(missing)}; fix: export the record again")
    for key, value in line.items():
        if key not in needed and key not in allowed:
            raise RecordError(number, f"{name} line with unknown key {key[:40]!r}; fix: export the record again")
        if not _VALUES.get(key, _text)(value):
            raise RecordError(number, f"{key} is {str(value)[:40]!r}, of the wrong type; fix: export the record again")
