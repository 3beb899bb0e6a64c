"""Templates to answers. Every page is whole HTML from the server; a script may refresh it but is never needed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from hippodrome.ladder.web import charts
from hippodrome.ladder.web.http import content_policy

HERE: Final = Path(__file__).parent
STATIC: Final = HERE / "static"
ENDINGS: Final = {
    "rules": "by the rules",
    "illegal_move": "illegal move",
    "timeout": "out of time",
    "crash": "bot crashed",
    "disconnect": "bot disconnected",
    "infrastructure": "void: fault of the service",
}
"""Endings in words."""


def page(
    request: Request,
    template: str,
    context: Mapping[str, Any],
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    style_hashes: tuple[str, ...] = (),
) -> HTMLResponse:
    """The page of `template`. `style_hashes` allow the inline styles of the pictures in it."""
    base = str(request.base_url).rstrip("/")
    text = _templates().get_template(template).render(**context, base=base, path=request.url.path)
    return HTMLResponse(text, status, {**(headers or {}), "Content-Security-Policy": content_policy(style_hashes)})


@cache
def static_url(name: str) -> str:
    """The address of a static file, with a mark that changes when the file does."""
    mark = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:10]
    return f"/static/{name}?v={mark}"


@cache
def _templates() -> Environment:
    env = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    env.globals |= {"static": static_url, "whisker": charts.whisker, "release": version("hippodrome"), "endings": ENDINGS}
    env.filters |= {
        "tail": tail, "bot": bot_of, "number": number_of, "part": part, "moment": moment,
        "instant": instant, "iso": iso, "ms": ms, "clock": clock,
        "points": points, "plural": plural,
    }  # fmt: skip
    return env


def tail(name: str) -> str:
    """The last part of a resource name: `bots/quokka` -> `quokka`."""
    return name.rpartition("/")[2]


def bot_of(version_name: str) -> str:
    """`bots/quokka/versions/3` -> `quokka`"""
    return version_name.split("/")[1] if "/" in version_name else version_name


def number_of(version_name: str) -> str:
    """`bots/quokka/versions/3` -> `3`"""
    return tail(version_name)


def part(text: str) -> str:
    """`text` as one part of a path or a value of a query."""
    return quote(text, safe="")


def moment(when: datetime) -> str:
    """`2026-01-31 12:00 UTC`"""
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def instant(text: str) -> str:
    """A moment from its ISO form: `2026-01-31 12:00 UTC`."""
    return moment(datetime.fromisoformat(text))


def iso(when: datetime) -> str:
    """`2026-01-31T12:00:00Z`"""
    return f"{when.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def ms(us: int | None) -> str:
    """Microseconds as milliseconds; empty when there is no time."""
    return "" if us is None else f"{us / 1000:,.1f}"


def clock(us: int | None) -> str:
    """Microseconds as minutes and seconds, `1:02.5`."""
    if us is None:
        return ""
    minutes, tenths = divmod(us // 100_000, 600)
    return f"{minutes}:{tenths // 10:02d}.{tenths % 10}"


def points(value: float) -> str:
    """Points without needless zeros: `3`, `2.5`, `1.33`."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def plural(count: int, word: str, words: str = "") -> str:
    """`1 match`, `2 matches`"""
    return f"{count:,} {word if count == 1 else words or word + 's'}"
