"""What commands print: tables that fit the terminal, one JSON document with `--json`, messages on stderr.

A table never cuts a cell: when it is too wide for the terminal, whole columns are left out, those with the highest
`drop` first, and a line below says which.
"""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, is_dataclass
from datetime import datetime
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
GAP = 2


@dataclass(frozen=True, slots=True)
class Column:
    """`drop`: 0 always stays; columns with higher numbers are left out first when there is no room."""

    title: str
    right: bool = False
    drop: int = 0


def json_option(command: F) -> F:
    """Gives the command the parameter `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")(command)


def emit(schema: str, document: dict[str, Any]) -> None:
    """Print one JSON document on one line, its `schema` first: `hippodrome.NAME/1`."""
    click.echo(json.dumps({"schema": f"hippodrome.{schema}/1", **document}, default=plain, ensure_ascii=False))


def plain(value: Any) -> Any:
    """For json.dumps: dataclasses as objects, times in ISO 8601, bytes in hex."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def say(message: str) -> None:
    """A message for people, on stderr."""
    click.echo(message, err=True)


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]], width: int | None = None) -> str:
    """The table as text at most `width` wide (None: the terminal's)."""
    cells = [[column.title for column in columns], *[list(row) for row in rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    kept = _fit(columns, widths, width or shutil.get_terminal_size().columns)
    lines = [_line([row[i] for i in kept], [columns[i] for i in kept], [widths[i] for i in kept]) for row in cells]
    lines[0] = click.style(lines[0], bold=True)
    left_out = [column.title for i, column in enumerate(columns) if i not in kept]
    return "\n".join([*lines, *([f"left out for lack of room: {', '.join(left_out)}"] if left_out else [])])


def _fit(columns: Sequence[Column], widths: Sequence[int], room: int) -> list[int]:
    """The indexes of the columns that stay."""
    kept = list(range(len(columns)))
    for index in sorted(kept, key=lambda i: (-columns[i].drop, -i)):
        if sum(widths[i] + GAP for i in kept) - GAP <= room or not columns[index].drop:
            break
        kept.remove(index)
    return kept


def _line(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> str:
    parts = [cell.rjust(w) if c.right else cell.ljust(w) for cell, c, w in zip(cells, columns, widths, strict=True)]
    return (" " * GAP).join(parts).rstrip()


def paragraph(text: str) -> str:
    """`text` wrapped to the terminal, the lines after the first indented."""
    return textwrap.fill(text, shutil.get_terminal_size().columns - 1, subsequent_indent="  ", break_long_words=False)


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr, silent when that is no terminal. Yields advance(done, total)."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=False) as bar:
        task = bar.add_task(title, total=total or None)
        yield lambda done, of: bar.update(task, completed=done, total=of)
