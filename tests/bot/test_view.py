"""`view_dict` gives back the tree that the engine made the message of."""

from __future__ import annotations

import random
from typing import Any

import pytest

from hippodrome.bot import view_dict
from hippodrome.bot.hosting import game_view
from hippodrome.engine.chance import Chance
from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import TABLE, Game, Ruleset
from hippodrome.games.registry import GAMES, get_game
from hippodrome.v1.antiquity_pb2 import AntiquityColour, AntiquityMonument, AntiquityView
from hippodrome.v1.view_pb2 import View

RULESETS = [(game, players) for game in GAMES for players in get_game(game).players]


@pytest.mark.parametrize(("name", "players"), RULESETS)
@pytest.mark.parametrize("every_option", [False, True])
def test_every_view_of_a_game_survives_the_wire(name: str, players: int, every_option: bool) -> None:
    game = get_game(name)
    ruleset = full_ruleset(game, players) if every_option else game.ruleset(players)
    state, source = game.new_state(ruleset, Chance(bytes(32))), random.Random(players)
    looked = 0
    while state.to_move != TABLE:
        seat = looked % players
        view = state.view(seat)
        sent = message(name, view).SerializeToString()
        tree = view_dict(game_view(View.FromString(sent)))
        assert without_empty(tree) == without_empty(view)
        if looked % 20 == 0:
            sampled = game.sample(ruleset, tree, Chance(bytes([looked % 256]) * 32))
            assert sampled.view(seat) == view
            assert sampled.key() == game.sample(ruleset, view, Chance(bytes([looked % 256]) * 32)).key()
            assert game.text(tree).splitlines()[0] == game.text(view).splitlines()[0]
        state.apply(source.choice(state.legal_moves()))
        looked += 1
    assert looked > 20
    last = state.view(0)
    assert without_empty(view_dict(game_view(message(name, last)))) == without_empty(last)


def message(name: str, view: Any) -> View:
    return View(**{name: view})


def full_ruleset(game: Game, players: int) -> Ruleset:
    """As many options off their default as can be set together."""
    options: dict[str, Any] = {}
    for option in game.options:
        try:
            game.ruleset(players, {**options, option.name: option.choices[-1]})
        except FieldError:
            continue
        options[option.name] = option.choices[-1]
    return game.ruleset(players, options)


def without_empty(tree: Any) -> Any:
    """A tree of the engine may leave out lists that do not apply; a message cannot tell them from empty ones."""
    if isinstance(tree, dict):
        return {key: without_empty(value) for key, value in tree.items() if value != []}
    return [without_empty(value) for value in tree] if isinstance(tree, list) else tree


def test_unset_optional_fields_are_absent_and_lists_are_always_there() -> None:
    tree = view_dict(AntiquityView(phase="turn", monuments=[AntiquityMonument(monument="petra", space=0)]))
    assert "seat" not in tree
    assert "pending" not in tree
    assert tree["colours"] == []
    assert tree["monuments"] == [{"monument": "petra", "space": 0, "available": 0}]
    assert view_dict(AntiquityColour())["piles"] == []
