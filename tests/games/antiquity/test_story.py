"""The Story turn."""

from __future__ import annotations

from collections.abc import Callable

from hippodrome.engine.game import TABLE
from hippodrome.games.antiquity import GAME, AntiquityState

Position = Callable[..., AntiquityState]
Play = Callable[..., AntiquityState]
Words = Callable[[AntiquityState], list[str]]


def space(state: AntiquityState, monument: str) -> int:
    found: int = next(row["space"] for row in state.view(0)["monuments"] if row["monument"] == monument)
    return found


def why(state: AntiquityState, text: str = "story") -> tuple[str, str]:
    move = GAME.parse(text)
    assert not state.is_legal(move)
    return state.explain(move)


def test_story_of_player_c_holds_akropolis_6_and_artemision_1(position: Position, play: Play) -> None:
    """§2: the top cards of the opponents' monuments; Pharos 5 stays, it is the only card of its monument."""
    s = position(
        3,
        to_move=2,
        displays={"red": "akropolis 7 6, pharos 5", "blue": "artemision 9 1", "green": "petra 9 8"},
    )
    play(s, "story")
    view = s.view(0)
    assert view["stories"] == [{"colour": "green", "cards": ["akropolis-6", "artemision-1"]}]
    left = [{pile["monument"]: pile["cards"] for pile in colour["piles"]} for colour in view["colours"]]
    assert left == [
        {"akropolis": ["akropolis-7"], "pharos": ["pharos-5"]},
        {"artemision": ["artemision-9"]},
        {"petra": ["petra-9", "petra-8"]},
    ]
    assert [space(s, name) for name in ("akropolis", "artemision", "pharos", "petra")] == [1, 1, 0, 0]
    assert view["colours"][2]["historians"] == 2
    assert s.to_move == 0


def test_a_story_needs_a_page_in_another_display(position: Position) -> None:
    """§2: a monument of two or more cards; the own display does not count."""
    s = position(3, displays={"red": "petra 9 8", "blue": "zeus 1"})
    assert why(s) == ("§2", "no other display has a monument of two or more cards")


def test_a_story_needs_a_historian(position: Position, words: Words) -> None:
    """§2: at least one historian must be available."""
    s = position(3, displays={"blue": "zeus 1 2"}, stories=("red: petra 1", "red: petra 2", "red: petra 3"))
    assert why(s) == ("§2", "no historian is left")
    assert "story" not in words(s)


def test_a_story_is_written_instead_of_actions(position: Position, play: Play, words: Words) -> None:
    """§1: the active player chooses between a Monument turn and a Story turn, before anything else."""
    s = position(3, displays={"blue": "zeus 1 2"})
    assert words(s)[0] == "story"
    play(s, "draw")
    assert why(s)[0] == "§2"


def test_a_monument_just_built_has_a_page_for_the_next_seat(position: Position, play: Play) -> None:
    """§2: a story chronicles the monuments that exist at the moment it is written."""
    s = position(3, hands=("petra 9 1", "zeus 1"), actions=1)
    play(s, "build petra", "add petra-9", "add petra-1")
    assert s.to_move == 1
    play(s, "story")
    assert s.view(2)["stories"] == [{"colour": "blue", "cards": ["petra-1"]}]


def test_a_monument_with_its_last_card_has_no_page_left(position: Position, play: Play) -> None:
    """§2: the next author finds one pile less and, without another, cannot write."""
    s = position(3, displays={"blue": "zeus 1 2, petra 3 2 1"})
    play(s, "story")
    assert s.view(0)["stories"][0]["cards"] == ["petra-1", "zeus-2"]
    s.to_move = 2
    play(s, "story")
    assert s.view(0)["stories"][1]["cards"] == ["petra-2"]
    s.to_move = 0
    assert why(s) == ("§2", "no other display has a monument of two or more cards")


def test_cards_taken_for_a_story_score_no_more(position: Position, play: Play) -> None:
    """§2: the top card leaves the display and its symbol with it."""
    s = position(3, displays={"blue": "petra 5 1"}, hands=("", "zeus 1 5"))
    play(s, "story", "score ship", "discard zeus-1", "discard zeus-5")
    assert s.points[1] == 1


def test_face_up_cards_and_hands_stay_in_a_story_turn(position: Position, play: Play) -> None:
    """§2: nothing is drawn or replenished; set-aside cards are not removed from the game."""
    s = position(3, displays={"blue": "zeus 1 2"}, hands=("petra 1",))
    before = s.view(TABLE)
    after = play(s, "story").view(TABLE)
    assert [after[key] for key in ("face_up", "deck", "discards", "hands")] == [
        before[key] for key in ("face_up", "deck", "discards", "hands")
    ]


def test_story_cards_are_public(position: Position, play: Play) -> None:
    """ruling 1.5.13: set aside open, so that everybody can follow the values."""
    s = play(position(3, displays={"blue": "zeus 1 2"}), "story")
    assert [s.view(seat)["stories"] for seat in (0, 1, 2)] == [[{"colour": "red", "cards": ["zeus-2"]}]] * 3


def test_two_piles_of_a_series_are_two_pages_and_two_steps(position: Position, play: Play) -> None:
    """ruling 1.5.9: for each card the marker moves one space."""
    s = position(3, displays={"blue": "zeus 1 2", "green": "zeus 9 8 7"})
    play(s, "story")
    assert s.view(0)["stories"][0]["cards"] == ["zeus-2", "zeus-7"]
    assert space(s, "zeus") == 2


def test_marker_on_the_last_space_pays_both_builders(position: Position, play: Play) -> None:
    """§2: on 18/12-6 the holder of the higher card gets 2 VP, the other builder 1 VP."""
    s = position(3, displays={"blue": "zeus 9 2", "green": "zeus 6"}, spaces={"zeus": 5})
    play(s, "story")
    assert [colour["points"] for colour in s.view(0)["colours"]] == [0, 2, 1]
    assert space(s, "zeus") == 5


def test_each_excess_page_pays_after_all_pages_are_taken(position: Position, play: Play) -> None:
    """ruling 1.5.11: one page still moves the marker, the other pays; the 9 has gone into the story, so 8 beats 3."""
    s = position(4, displays={"blue": "zeus 3 9", "green": "zeus 8 1"}, spaces={"zeus": 4})
    play(s, "story")
    assert [colour["points"] for colour in s.view(0)["colours"]] == [0, 1, 2, 0]
    s = position(4, displays={"blue": "zeus 3 9", "green": "zeus 8 1"}, spaces={"zeus": 5})
    play(s, "story")
    assert [colour["points"] for colour in s.view(0)["colours"]] == [0, 2, 4, 0]


def test_a_sole_builder_gets_two_points_on_the_last_space(position: Position, play: Play) -> None:
    """ruling 1.5.10: he holds the higher card."""
    s = position(3, displays={"blue": "zeus 9 2"}, spaces={"zeus": 5})
    play(s, "story")
    assert [colour["points"] for colour in s.view(0)["colours"]] == [0, 2, 0]


def test_the_author_is_paid_too_as_the_other_builder(position: Position, play: Play) -> None:
    """§2: the two players who built the monument, whoever writes."""
    s = position(3, displays={"red": "zeus 9", "blue": "zeus 8 2"}, spaces={"zeus": 5})
    play(s, "story")
    assert [colour["points"] for colour in s.view(0)["colours"]] == [2, 1, 0]


def test_the_higher_card_decides_wherever_it_lies_in_the_longer_or_shorter_pile(position: Position, play: Play) -> None:
    """ruling 1.5.11: the highest value on display, not the top card, the lowest one or the number of cards."""
    s = position(4, displays={"blue": "zeus 2 9 3 5", "green": "zeus 6 7 8 4 1"}, spaces={"zeus": 5})
    play(s, "story")
    assert [colour["points"] for colour in s.view(0)["colours"]] == [0, 4, 2, 0]
