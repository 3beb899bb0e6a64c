"""The game for two: two colours for each player."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hippodrome.engine.chance import Chance
from hippodrome.engine.game import TABLE, Outcome
from hippodrome.games.antiquity import GAME, AntiquityState
from hippodrome.games.antiquity.components import SERIES
from hippodrome.games.antiquity.scoring import score_sheet

Position = Callable[..., AntiquityState]
Play = Callable[..., AntiquityState]
Words = Callable[[AntiquityState], list[str]]


def end(state: AntiquityState) -> Outcome:
    outcome = state.outcome()
    assert outcome is not None
    return outcome


@pytest.mark.parametrize("unused", SERIES)
def test_any_one_series_is_left_out_and_the_marks_are_ignored(unused: str) -> None:
    """ruling 1.5.8: 99 cards, the fours among them, and eleven markers."""
    view = GAME.new_state(GAME.ruleset(2, {"unused": unused}), Chance(bytes(32))).view(TABLE)
    seen = [*view["deck"], *view["face_up"], *(card for hand in view["hands"] for card in hand["cards"])]
    assert len(seen) == 99
    assert not [card for card in seen if card.startswith(unused + "-")]
    assert len([card for card in seen if card.endswith("-4")]) == 11
    assert [row["monument"] for row in view["monuments"]] == [name for name in SERIES if name != unused]


def test_each_player_has_two_colours_one_hand_and_five_cards() -> None:
    """§Two-player: two displays each, one hand of five cards, three actions."""
    s = GAME.new_state(GAME.ruleset(2), Chance(bytes(32)))
    view = s.view(TABLE)
    assert [(c["colour"], c["seat"]) for c in view["colours"]] == [("red", 0), ("blue", 0), ("green", 1), ("yellow", 1)]
    assert [hand["count"] for hand in view["hands"]] == [5, 5]
    assert s.actions == 3


def test_two_historians_for_each_colour() -> None:
    """ruling 1.5.5: four for each player."""
    view = GAME.new_state(GAME.ruleset(2), Chance(bytes(32))).view(TABLE)
    assert [colour["historians"] for colour in view["colours"]] == [2, 2, 2, 2]


def test_actions_of_a_turn_serve_either_colour(position: Position, play: Play, words: Words) -> None:
    """§Two-player: the actions within a turn may benefit whichever own colour; the other player's colours never."""
    s = position(2, hands=("petra 1 2, zeus 1 2 3",))
    assert [word for word in words(s) if word.startswith("build")] == [
        "build petra red", "build zeus red", "build petra blue", "build zeus blue",
    ]  # fmt: skip
    assert s.explain(GAME.parse("build petra green"))[0] == "§Two-player"
    assert s.explain(GAME.parse("build petra"))[0] == "§Two-player"
    play(s, "build petra red", "add petra-2", "add petra-1", "build zeus blue", "add zeus-3", "add zeus-2", "add zeus-1")
    assert [[pile["monument"] for pile in c["piles"]] for c in s.view(1)["colours"]] == [["petra"], ["zeus"], [], []]


def test_no_colour_is_named_with_more_players(position: Position) -> None:
    """§Two-player: the word belongs to the game for two."""
    s = position(3, hands=("petra 1 2",))
    assert s.explain(GAME.parse("build petra red"))[0] == "§Two-player"


def test_both_colours_of_a_player_may_build_a_series(position: Position, play: Play, words: Words) -> None:
    """ruling 1.5.6: two cards for the one, three for the other, as each colour counts as a player."""
    s = position(2, hands=("petra 1 2 3 4 5",))
    play(s, "build petra red", "add petra-1", "add petra-2", "done")
    assert "build petra blue" in words(s)
    assert "build petra red" not in words(s)
    play(s, "build petra blue", "add petra-3", "add petra-4")
    assert words(s) == ["add petra-5"]


def test_a_score_counts_the_display_of_its_colour_only(position: Position, play: Play) -> None:
    """ruling 1.5.6: VP are specific to the colour, and so are the cards that count."""
    s = position(2, displays={"red": "petra 1", "blue": "petra 5 9, pharos 9"}, hands=("zeus 1 5 9, pharos 1 5",))
    play(s, "score ship blue", "discard pharos-1", "discard zeus-1")
    assert s.points == [0, 3, 0, 0]
    play(s, "score ship red", "discard pharos-5", "discard zeus-5")
    assert s.points == [1, 3, 0, 0]


def test_a_story_takes_pages_from_the_own_other_colour_too(position: Position, play: Play) -> None:
    """§Two-player: both displays of the opponent and the own other colour's; the writer's own stays."""
    s = position(2, displays={"red": "petra 9 1", "blue": "zeus 9 1", "green": "pharos 9 1", "yellow": "pyramids 9 1"})
    play(s, "story blue")
    assert s.view(1)["stories"] == [{"colour": "blue", "cards": ["petra-1", "pharos-1", "pyramids-1"]}]
    assert s.historians == [2, 1, 2, 2]
    assert s.to_move == 1


def test_the_own_other_colour_alone_makes_a_story_possible(position: Position, words: Words) -> None:
    """§Two-player: red cannot write about its own display, blue can."""
    s = position(2, displays={"red": "petra 9 1"})
    assert [word for word in words(s) if word.startswith("story")] == ["story blue"]
    assert s.explain(GAME.parse("story red"))[0] == "§2"


def test_the_lower_score_of_each_player_is_compared(position: Position) -> None:
    """§Two-player: 10 and 40 lose to 11 and 11."""
    s = position(2, over=True, points={"red": 10, "blue": 40, "green": 11, "yellow": 11})
    assert end(s).scores == (10 - 24, 11 - 24)
    assert end(s).places == (2, 1)


@pytest.mark.parametrize(
    ("displays", "points", "places"),
    [
        ({}, {"red": 10, "blue": 12, "green": 10, "yellow": 11}, (1, 2)),
        ({"green": "petra 1"}, {"red": 10, "blue": 20, "green": 7, "yellow": 19}, (1, 2)),
        ({"red": "petra 1"}, {"red": 7, "blue": 20, "green": 10, "yellow": 20}, (1, 2)),
        ({"blue": "petra 1"}, {"red": 10, "blue": 17, "green": 10, "yellow": 20}, (1, 1)),
        ({}, {"red": 10, "blue": 20, "green": 20, "yellow": 10}, (1, 1)),
    ],
    ids=["the higher scores", "before monuments", "the monuments of the lower colour", "not those of the higher one", "shared"],
)
def test_equal_lower_scores(
    position: Position, displays: dict[str, str], points: dict[str, int], places: tuple[int, int]
) -> None:
    """ruling 1.5.7: then the higher scores, then the monuments of the lower colour, then shared."""
    s = position(2, over=True, displays=displays, points=points)
    lows = [min(score.total for score in score_sheet(s)[i : i + 2]) for i in (0, 2)]
    assert lows[0] == lows[1]
    assert end(s).places == places


def test_stories_do_not_break_the_tie_of_two_players(position: Position) -> None:
    """ruling 1.5.7: lower scores, higher scores and monuments are equal, so the longer story does not matter."""
    stories = ("red: zeus 1 2 3 4 5", "green: petra 1", "blue: zeus 6", "yellow: petra 2")
    s = position(2, over=True, stories=stories)
    totals = [score.total for score in score_sheet(s)]
    for colour, total in enumerate(totals):
        s.points[colour] += max(totals) - total
    assert end(s).places == (1, 1)


def test_both_colours_of_a_player_are_paid_for_the_last_space(position: Position, play: Play) -> None:
    """§Two-player: each colour is a player of its own, also as a builder of a chronicled monument."""
    s = position(2, to_move=1, displays={"red": "zeus 3 1", "blue": "zeus 9"}, spaces={"zeus": 5})
    play(s, "story green")
    assert s.points == [1, 2, 0, 0]


def test_both_colours_of_a_player_share_a_monument_in_the_end(position: Position) -> None:
    """§Two-player: one is the primary builder, the other the secondary one; nobody is the only one."""
    s = position(2, over=True, displays={"red": "zeus 3 1", "blue": "zeus 9"}, spaces={"zeus": 5})
    assert [score.monuments for score in score_sheet(s)] == [12, 6, 0, 0]


def test_a_purchase_names_no_colour(position: Position, play: Play, words: Words) -> None:
    """ruling 1.5.6: a purchase serves the seat, so it names no colour."""
    s = position(2, hands=("petra 1 5, zeus 2",))
    assert [word for word in words(s) if word.startswith("buy")] == ["buy ship"]
    play(s, "buy ship", "discard petra-1", "discard petra-5")
    assert s.actions == 4
