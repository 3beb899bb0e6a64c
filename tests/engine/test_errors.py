"""Errors read as one line and survive the way between processes."""

from __future__ import annotations

import copy
import pickle

import pytest

from hippodrome.engine.errors import FieldError, HippodromeError, IllegalMove, InvalidMove, RecordError

ERRORS = [
    (FieldError("clock", "'5' cannot be read", "write 5s", ("5s",)), "clock: '5' cannot be read; fix: write 5s"),
    (InvalidMove("x" * 100, "is no move"), f"move: {'x' * 80!r} is no move"),
    (IllegalMove("draw", "§1", "the deck is empty"), "move: 'draw' is not legal: the deck is empty (§1)"),
    (RecordError(3, "bank is 5"), "record line 3: bank is 5"),
    (RecordError(0, "cut off"), "record: cut off"),
]


@pytest.mark.parametrize(("error", "line"), ERRORS, ids=[type(e).__name__ for e, _ in ERRORS])
def test_an_error_is_one_line_and_travels(error: HippodromeError, line: str) -> None:
    for twin in (error, pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert str(twin) == line
        assert vars(twin) == vars(error)
