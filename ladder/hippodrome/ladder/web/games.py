"""The games of the registry as the pages show them: players, options, notation, the index of the rules, a first position."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Final

from hippodrome.engine.chance import SEED_BYTES, Chance
from hippodrome.engine.errors import FieldError, InvalidMove
from hippodrome.engine.game import TABLE, Game, did_you_mean, option_text
from hippodrome.games.registry import GAMES, get_game
from hippodrome.ladder.errors import NotFound

SHOWN_SEED: Final = bytes(SEED_BYTES)
"""The seed of the position shown: the same in every installation."""


@dataclass(frozen=True, slots=True)
class OptionInfo:
    """An option; values in text form."""

    name: str
    default: str
    choices: tuple[str, ...]
    help: str


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """A rule: its section in the rulebook, what it says, the function that plays it."""

    section: str
    rule: str
    function: str


@dataclass(frozen=True, slots=True)
class GameInfo:
    """A game. `rulesets` are those without options, one for each number of players."""

    name: str
    title: str
    rules_version: str
    players: tuple[int, ...]
    hidden: bool
    chance: bool
    rulesets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GamePage(GameInfo):
    """A game in full. `first_moves` are the legal moves of the position in `svg`."""

    options: tuple[OptionInfo, ...]
    notation: str
    first_moves: tuple[str, ...]
    rules: tuple[RuleInfo, ...]
    svg: str


def all_games() -> list[GameInfo]:
    """Every game, by name."""
    return [GameInfo(*_head(get_game(name))) for name in sorted(GAMES)]


@cache
def game_page(name: str) -> GamePage:
    """The game called `name`. Raises NotFound."""
    game = find_game(name)
    state = game.new_state(game.ruleset(game.players[0]), Chance(SHOWN_SEED))
    return GamePage(
        *_head(game),
        tuple(
            OptionInfo(option.name, option_text(option.default), tuple(map(option_text, option.choices)), option.help)
            for option in game.options
        ),
        _notation(game),
        tuple(str(move) for move in state.legal_moves()),
        _rules(name),
        game.svg(state.view(TABLE)),
    )


def example(name: str) -> str:
    """A ruleset of the game with an option off its default, if it has options."""
    game = find_game(name)
    for option in game.options:
        for value in option.choices[1:]:
            for players in reversed(game.players):
                with suppress(FieldError):
                    return str(game.ruleset(players, {option.name: value}))
    return str(game.ruleset(game.players[0]))


def find_game(name: str) -> Game:
    """The game called `name`. Raises NotFound."""
    try:
        return get_game(name)
    except FieldError:
        raise NotFound("game", f"no game {name[:60]!r}", did_you_mean(name[:60], list(GAMES)), tuple(GAMES)) from None


def _head(game: Game) -> tuple[str, str, str, tuple[int, ...], bool, bool, tuple[str, ...]]:
    rulesets = tuple(str(game.ruleset(players)) for players in game.players)
    return game.name, game.title, game.rules_version, game.players, game.hidden, game.chance, rulesets


def _notation(game: Game) -> str:
    """What the game says to a text that is none of its moves: the form of its notation."""
    try:
        game.parse("")
    except InvalidMove as error:
        return error.reason
    return ""


def _rules(name: str) -> tuple[RuleInfo, ...]:
    """The rule index at the top of the game's `rules` module."""
    text = import_module(f"{GAMES[name]}.rules").__doc__ or ""
    table = [line.strip().strip("|") for line in text.splitlines() if line.strip().startswith("|")]
    rows = [[cell.strip() for cell in line.split("|")] for line in table]
    return tuple(RuleInfo(*row) for row in rows[2:] if len(row) == 3)
