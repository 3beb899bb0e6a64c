"""`hippodrome games`: what can be played."""

from __future__ import annotations

import textwrap
from typing import Any

import click

from hippodrome.engine.errors import InvalidMove
from hippodrome.engine.game import Game, option_text
from hippodrome.games.registry import GAMES, get_game
from hippodrome.workers.cli.output import Column, emit, json_option, say, table


@click.command()
@click.argument("name", required=False)
@json_option
def games(name: str | None, as_json: bool) -> None:
    """List the games, or show the players, options and moves of NAME."""
    if name is None:
        _list(as_json)
    elif as_json:
        emit("game", _document(get_game(name)))
    else:
        game = get_game(name)
        click.echo(_page(game))
        say(f"next: hippodrome play {game.name} {' '.join(['random'] * game.players[0])}")


def _list(as_json: bool) -> None:
    found = [get_game(name) for name in GAMES]
    if as_json:
        emit("games", {"games": [_document(game) for game in found]})
        return
    columns = Column("game"), Column("players"), Column("title", drop=1)
    click.echo(table(columns, [(game.name, _players(game), game.title) for game in found]))
    say(f"next: hippodrome games {found[0].name}")


def _document(game: Game) -> dict[str, Any]:
    return {
        "name": game.name,
        "title": game.title,
        "rules_version": game.rules_version,
        "players": game.players,
        "hidden": game.hidden,
        "chance": game.chance,
        "options": [{"name": o.name, "choices": o.choices, "default": o.default, "help": o.help} for o in game.options],
        "notation": _notation(game),
    }


def _page(game: Game) -> str:
    lines = [f"{game.name}: {game.title} (rules {game.rules_version})", f"players    {_players(game)}"]
    lines += [f"hidden     {'yes: seats see different things' if game.hidden else 'no'}"]
    for option in game.options:
        choices = " | ".join(option_text(choice) for choice in option.choices)
        lines += _wrapped(f"option     {option.name}={choices}  ({option.help}; the first is the default)")
    lines += [f"rulesets   {', '.join(f'{game.name}-{n}p' for n in game.players)}"]
    lines += _wrapped(f"moves      {_notation(game)}")
    return "\n".join(lines)


def _players(game: Game) -> str:
    return ", ".join(map(str, game.players))


def _notation(game: Game) -> str:
    """What the game says to a text that is none of its moves: the forms of its notation."""
    try:
        game.parse("")
    except InvalidMove as error:
        return error.reason.rpartition("fix: ")[2]
    return ""


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 79, subsequent_indent=" " * 11)
