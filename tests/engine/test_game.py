"""Rulesets, options, outcomes and the registry."""

from __future__ import annotations

import pytest

from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import Game, Outcome
from hippodrome.games.registry import GAMES, get_game, read_ruleset


def test_a_ruleset_shows_only_what_is_off_its_default(race: Game) -> None:
    assert str(race.ruleset(2)) == "race-2p"
    assert str(race.ruleset(2, {"goal": 12})) == "race-2p"
    assert str(race.ruleset(4, {"goal": 8})) == "race-4p.goal=8"
    assert race.ruleset(4, {"goal": "8"}) == race.ruleset(4, {"goal": 8})
    assert race.ruleset(3)["goal"] == 12
    with pytest.raises(KeyError):
        race.ruleset(3)["speed"]


def test_a_ruleset_reads_back(race: Game) -> None:
    for players in race.players:
        for goal in (12, 8):
            ruleset = race.ruleset(players, {"goal": goal})
            assert race.read_ruleset(str(ruleset)) == ruleset


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "ruleset"),
        ("race", "ruleset"),
        ("race-2", "ruleset"),
        ("race-p", "ruleset"),
        ("race-\u00b2p", "ruleset"),
        ("race-\u0662p", "ruleset"),
        ("race--2p", "ruleset"),
        ("rac-2p", "ruleset"),
        ("race-2p.goal=8.goal=12", "ruleset"),
        ("race-5p", "players"),
        ("race-02p", "ruleset"),
        ("race-2p.", "options"),
        ("race-2p.gaol=8", "options"),
        ("race-2p.goal=9", "options.goal"),
        ("race-2p.goal", "options.goal"),
    ],
)
def test_a_wrong_ruleset_names_its_field(race: Game, text: str, field: str) -> None:
    with pytest.raises(FieldError) as caught:
        race.read_ruleset(text)
    assert caught.value.field == field
    assert "\n" not in str(caught.value)


def test_a_wrong_option_gets_the_nearest_word(race: Game) -> None:
    with pytest.raises(FieldError, match="did you mean 'goal'"):
        race.ruleset(2, {"gaol": 8})


@pytest.mark.parametrize(
    ("places", "values"),
    [
        ((1, 2), (1.0, 0.0)),
        ((1, 1), (0.5, 0.5)),
        ((1, 2, 2, 4), (1.0, 0.5, 0.5, 0.0)),
        ((2, 1, 3), (0.5, 1.0, 0.0)),
        ((1,), (1.0,)),
    ],
)
def test_the_value_of_a_seat_is_its_mean_pair_score(places: tuple[int, ...], values: tuple[float, ...]) -> None:
    outcome = Outcome(places, tuple(0 for _ in places), "")
    assert tuple(outcome.value(seat) for seat in range(len(places))) == values
    assert sum(values) == pytest.approx(len(places) / 2 if len(places) > 1 else 1)


def test_the_registry_knows_its_games_and_no_others() -> None:
    for name in GAMES:
        assert get_game(name).name == name
        assert get_game(name) is get_game(name)
    with pytest.raises(FieldError, match="did you mean 'antiquity'") as caught:
        get_game("antiquty")
    assert caught.value.legal == tuple(GAMES)


@pytest.mark.parametrize("text", ["antiquity-3p", "antiquity-2p"])
def test_a_ruleset_is_read_by_the_game_it_names(text: str) -> None:
    assert str(read_ruleset(text)) == text


@pytest.mark.parametrize("text", ["", "antiquity", "chess-2p", "-2p", ".", "antiquity-2p.x"])
def test_a_ruleset_that_no_game_reads_is_refused(text: str) -> None:
    with pytest.raises(FieldError):
        read_ruleset(text)
