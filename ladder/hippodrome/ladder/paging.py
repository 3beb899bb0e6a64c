"""Pages of a list: opaque tokens that carry the key of the last item."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from hippodrome.engine.errors import FieldError

DEFAULT_SIZE: Final = 50
MAX_SIZE: Final = 1000
T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """`items`, and the token of the next page; empty at the end."""

    items: tuple[T, ...]
    next_page_token: str = ""


def page_size(asked: int) -> int:
    """How many items a page gets: 0 means 50, more than 1000 is cut. Raises FieldError."""
    if asked < 0:
        raise FieldError("page_size", f"{asked} is negative", "give 0 for the default, or up to 1000")
    return min(asked or DEFAULT_SIZE, MAX_SIZE)


def write_token(kind: str, key: Sequence[str | int]) -> str:
    """The token that goes on after the item with `key` in lists of `kind`."""
    return base64.urlsafe_b64encode(json.dumps([kind, *key], separators=(",", ":")).encode()).decode().rstrip("=")


def read_token(kind: str, token: str, types: tuple[type, ...]) -> list[Any] | None:
    """The key in `token`, None at the beginning. Raises FieldError when it is not one of ours for this list."""
    if not token:
        return None
    try:
        found = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except ValueError:
        found = None
    parts: list[Any] = found if isinstance(found, list) else []
    if parts[:1] != [kind] or tuple(map(type, parts[1:])) != types or not all(map(_storable, parts[1:])):
        raise FieldError(
            "page_token", f"{token[:40]!r} is not of this list", "give next_page_token of the last page, or nothing"
        )
    return parts[1:]


def _storable(value: str | int) -> bool:
    """Whether every database can compare a column with it: tokens come from outside, with any number or text in them."""
    return 0 <= value < 1 << 31 if isinstance(value, int) else value.isascii() and value.isprintable()


def page(
    kind: str, rows: Sequence[T], size: int, key: Callable[[T], Sequence[str | int]], make: Callable[[Sequence[T]], Sequence[U]]
) -> Page[U]:
    """The page of the first `size` rows; ask the database for one row more, so that the end is known."""
    shown = rows[:size]
    return Page(tuple(make(shown)), write_token(kind, key(shown[-1])) if len(rows) > size else "")
