"""The pages and the read API. `create_app(settings)` makes the application; `python -m hippodrome.ladder.web` serves it."""

from __future__ import annotations

from hippodrome.ladder.web.app import create_app

__all__ = ["create_app"]
