"""The engine's own test game, and helpers that play matches of it."""

from __future__ import annotations

import importlib.util
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from hippodrome.engine.clock import TimeControl
from hippodrome.engine.game import Game
from hippodrome.engine.referee import MatchSpec, Policy, Receipt, Referee, SeatSpec

Start = Callable[..., Referee]


@pytest.fixture(scope="session")
def race_module() -> ModuleType:
    """The module of the hidden-card race."""
    spec = importlib.util.spec_from_file_location("hidden_card_race", Path(__file__).with_name("race.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def race(race_module: ModuleType) -> Game:
    """The hidden-card race."""
    game: Game = race_module.RaceState.game
    return game


@pytest.fixture(scope="session")
def start(race: Game) -> Start:
    """Starts a match of the race: `start(players=2, policy="forfeit", clock="10s", seed=0, goal=12)`."""

    def begin(players: int = 2, policy: str = "forfeit", clock: str = "10s", seed: int = 0, goal: int = 12) -> Referee:
        seats = tuple(SeatSpec(f"bot{seat}", f"bots/bot{seat}/versions/1") for seat in range(players))
        ruleset = race.ruleset(players, {"goal": goal})
        spec = MatchSpec(f"m{seed}", ruleset, seats, TimeControl.parse(clock), Policy.parse(policy), bytes([seed] * 32))
        return Referee(spec, race)

    return begin


@pytest.fixture(scope="session")
def play_on() -> Callable[[Referee], Referee]:
    """Answers every open decision with a random legal move, 10 ms each, to the end of the match."""

    def finish(referee: Referee) -> Referee:
        source = random.Random(referee.spec.seed)
        while referee.decision is not None:
            referee.answer(source.choice(referee.decision.legal).text, Receipt(0, 10_000))
        return referee

    return finish
