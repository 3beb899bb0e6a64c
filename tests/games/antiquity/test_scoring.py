"""The final scoring, the examples of the rulebook with its numbers, and the order of the seats."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hippodrome.engine.game import Outcome
from hippodrome.games.antiquity import AntiquityState
from hippodrome.games.antiquity.components import BOX
from hippodrome.games.antiquity.scoring import Score, score_sheet

Position = Callable[..., AntiquityState]
STORIES = (
    "green: akropolis 1 2 3 5 6 7 8 9, artemision 1",
    "blue: babylon 1 2 3 5 6 7 8 9, artemision 2",
    "red: bet_hamikdash 1 2 3 5 6 7 8",
    "green: colosseum 1 2 3 5 6 7",
    "red: kolossos 1 2 3 5 6 7",
    "red: mausoleion 1 2 3 5",
    "blue: petra 1 2 3 5",
    "blue: pharos 1 2",
)


def end(state: AntiquityState) -> Outcome:
    outcome = state.outcome()
    assert outcome is not None
    return outcome


def test_track_pays_eighteen_or_twelve_and_six_on_its_last_space() -> None:
    """§VP monuments: the last space is 18/12-6, the spaces of the example 6, 6/3 and 8/4."""
    rows = list(zip(BOX.sole, BOX.primary, BOX.secondary, strict=True))
    assert rows[-1] == (18, 12, 6)
    assert (BOX.sole[1], rows[2][1:], rows[3][1:]) == (6, (6, 3), (8, 4))


def test_monument_example_of_three_players(position: Position) -> None:
    """§VP monuments: Akropolis 6 for C alone; Artemis 6 for A (two cards) and 3 for B (one); Pharos 8 for A (card 8) and 4
    for C (card 5)."""
    s = position(
        3,
        over=True,
        displays={"red": "artemision 2 3, pharos 8", "blue": "artemision 9", "green": "akropolis 6, pharos 5"},
        spaces={"akropolis": 1, "artemision": 2, "pharos": 3},
    )
    assert [score.monuments for score in score_sheet(s)] == [6 + 8, 3, 6 + 4]


def test_more_cards_beat_a_higher_card(position: Position) -> None:
    """§VP monuments: two cards are better than one; only a tie looks at the values."""
    s = position(3, over=True, displays={"red": "zeus 9", "blue": "zeus 1 2"}, spaces={"zeus": 5})
    assert [score.monuments for score in score_sheet(s)] == [6, 12, 0]


def test_covered_cards_count_for_the_primary_builder(position: Position) -> None:
    """ruling 1.5.12: the highest value anywhere in the pile."""
    s = position(3, over=True, displays={"red": "zeus 9 1", "blue": "zeus 2 8"})
    assert [score.monuments for score in score_sheet(s)] == [2, 1, 0]


def test_story_example_of_three_players(position: Position) -> None:
    """§VP stories: red 7 + 6 + 4 + 3 = 20; blue 9 + 4 + 2 + 6 = 21; green 9 + 6 - 12 = 3 and 9 for the first place."""
    red, blue, green = score_sheet(position(3, over=True, stories=STORIES))
    assert (red.stories, red.bonus, red.total) == (7 + 6 + 4, 3, 20)
    assert (blue.stories, blue.bonus, blue.total) == (9 + 4 + 2, 6, 21)
    assert (green.stories + green.unused, green.bonus, green.total) == (3, 9, 12)


def test_two_stories_of_four_and_five_pages_are_nine_points(position: Position) -> None:
    """§VP stories: the total value of the spaces."""
    s = position(4, over=True, stories=("red: petra 1 2 3 4", "red: zeus 1 2 3 4 5"))
    assert score_sheet(s)[0].stories == 9


def test_unused_historians_cost_twelve_points_each(position: Position) -> None:
    """§VP stories: -12 VP for each."""
    s = position(3, over=True, stories=("red: petra 1",))
    assert [score.unused for score in score_sheet(s)] == [-24, -36, -36]


def test_one_player_may_take_every_bonus(position: Position) -> None:
    """§VP stories: 9, 6 and 3 may go to the same player."""
    s = position(3, over=True, stories=("red: petra 1 2", "red: zeus 1 2 3", "red: pharos 1", "blue: pharos 2"))
    assert [score.bonus for score in score_sheet(s)] == [18, 0, 0]


def test_the_oldest_of_equal_stories_ranks_first(position: Position) -> None:
    """ruling 1.5.15: each bonus goes to one historian, the bottom one first."""
    s = position(4, over=True, stories=("blue: petra 1", "red: petra 2", "green: petra 3", "yellow: petra 4"))
    assert [score.bonus for score in score_sheet(s)] == [6, 9, 3, 0]


def test_bonuses_without_a_story_stay_unpaid(position: Position) -> None:
    """ruling 1.5.15: fewer than three stories."""
    s = position(3, over=True, stories=("blue: petra 1",))
    assert [score.bonus for score in score_sheet(s)] == [0, 9, 0]


def test_totals_may_be_negative(position: Position) -> None:
    """ruling 1.5.16: the penalty applies to the final number."""
    s = position(4, over=True, points={"red": 5})
    assert end(s).scores == (-19, -24, -24, -24)
    assert score_sheet(s)[0] == Score(5, 0, 0, 0, -24, 0)


def test_most_points_win(position: Position) -> None:
    """§Victory: places follow the totals; equal ones with nothing to tell them apart share."""
    s = position(4, over=True, points={"red": 5, "blue": 9, "green": 5})
    assert end(s).places == (2, 1, 2, 4)
    assert end(s).value(1) == 1.0


def test_a_tie_goes_to_the_most_monuments(position: Position) -> None:
    """§Victory: 3 + 3 for two monuments against 6 for one."""
    s = position(3, over=True, displays={"red": "zeus 9", "blue": "petra 1, pharos 1"}, spaces={"zeus": 1}, points={"green": 7})
    assert end(s).scores == (-30, -30, -29)
    assert end(s).places == (3, 2, 1)


def test_monuments_built_come_before_the_longest_story(position: Position) -> None:
    """§Victory: red has two monuments and one page, blue one monument and three pages, the totals are equal."""
    s = position(
        4,
        over=True,
        displays={"red": "petra 9, zeus 9", "blue": "pharos 9"},
        stories=("red: kolossos 1", "blue: kolossos 2 3 4"),
    )
    totals = [score.total for score in score_sheet(s)]
    s.points[0] += max(totals[:2]) - totals[0]
    s.points[1] += max(totals[:2]) - totals[1]
    assert end(s).scores[0] == end(s).scores[1]
    assert end(s).places == (1, 2, 3, 3)


@pytest.mark.parametrize(
    ("stories", "points", "places"),
    [
        (("red: petra 1 2", "red: zeus 1 2", "blue: petra 3 5 6", "blue: zeus 3"), {"red": 3}, (2, 1)),
        (("red: petra 1 2", "blue: petra 3 5"), {"blue": 3}, (1, 2)),
        (("blue: petra 3 5", "red: petra 1 2"), {"red": 3}, (2, 1)),
    ],
    ids=["longest story", "the older of equal ones", "and the other way round"],
)
def test_a_tie_in_monuments_goes_to_the_longest_story_then_the_older(
    position: Position, stories: tuple[str, ...], points: dict[str, int], places: tuple[int, int]
) -> None:
    """§Victory, ruling 1.5.24: longest story, then the older of equal stories."""
    s = position(4, over=True, stories=stories, points=points)
    totals = [score.total for score in score_sheet(s)]
    level = max(totals[:2])
    for colour in (0, 1):
        s.points[colour] += level - totals[colour]
    assert len(set(end(s).scores[:2])) == 1
    assert end(s).places[:2] == places


def test_a_complete_tie_is_shared(position: Position) -> None:
    """ruling 1.5.24: shared, with nothing left to compare."""
    assert end(position(4, over=True)).places == (1, 1, 1, 1)
