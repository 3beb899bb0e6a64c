"""The registry: one line a game. Games are loaded when first asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Final

from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import Game, Ruleset, did_you_mean

GAMES: Final = {
    "antiquity": "hippodrome.games.antiquity",
}
"""Name of the game -> module that holds its `GAME`."""


@cache
def get_game(name: str) -> Game:
    """The game called `name`. Raises FieldError with the nearest name."""
    if name not in GAMES:
        raise FieldError("game", f"no game {name!r}", did_you_mean(name, list(GAMES)), tuple(GAMES))
    game: Game = import_module(GAMES[name]).GAME
    return game


def read_ruleset(text: str) -> Ruleset:
    """The ruleset whose text form is `text`, for example `antiquity-3p`. Raises FieldError."""
    name = text.split(".")[0].rpartition("-")[0]
    return get_game(name or text).read_ruleset(text)
