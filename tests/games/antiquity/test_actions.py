"""The actions of a Monument turn: draw, build, improve, score."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hippodrome.engine.errors import InvalidMove
from hippodrome.games.antiquity import GAME, AntiquityState

Position = Callable[..., AntiquityState]
Play = Callable[..., AntiquityState]
Words = Callable[[AntiquityState], list[str]]


def piles(state: AntiquityState, colour: int) -> dict[str, list[str]]:
    return {pile["monument"]: pile["cards"] for pile in state.view(0)["colours"][colour]["piles"]}


def available(state: AntiquityState, monument: str) -> int:
    found: int = next(row["available"] for row in state.view(0)["monuments"] if row["monument"] == monument)
    return found


def why(state: AntiquityState, text: str) -> str:
    move = GAME.parse(text)
    assert not state.is_legal(move)
    return state.explain(move)[0]


def test_draw_takes_the_top_card_of_the_deck(position: Position, play: Play) -> None:
    """§1a: one action a card; the hand has no limit; nobody else sees the card."""
    many = "zeus 1 2 3 5 6 7 8 9, petra 1 2 3 5 6 7 8 9"
    s = position(3, hands=(many,), deck="kolossos 9 8, babylon 1 2 3", face_up="babylon 5 6 7")
    play(s, "draw")
    assert "kolossos-9" in s.view(0)["hands"][0]["cards"]
    assert s.view(1)["hands"][0] == {"seat": 0, "count": 17, "known": []}
    assert s.actions == 2


def test_take_puts_a_face_up_card_into_the_hand_and_leaves_a_gap(position: Position, play: Play, words: Words) -> None:
    """§1a: one of the face-up cards for an action; everybody knows it from then on, until it is played."""
    s = position(3, hands=("kolossos 1 2",), face_up="kolossos 5 6 7", deck="babylon 1 2 3 5")
    play(s, "take kolossos-6")
    assert s.view(1)["hands"][0] == {"seat": 0, "count": 3, "known": ["kolossos-6"]}
    assert [word for word in words(s) if word.startswith("take")] == ["take kolossos-5", "take kolossos-7"]
    assert why(s, "take kolossos-6") == "§1a"
    play(s, "build kolossos", "add kolossos-6", "add kolossos-1")
    assert s.view(1)["hands"][0]["known"] == []


def test_first_builder_needs_two_cards(position: Position, play: Play, words: Words) -> None:
    """§1b: at least two cards of the monument, more at will; the available card is turned."""
    s = position(3, hands=("petra 1 5 9, zeus 1",))
    assert [word for word in words(s) if word.startswith("build")] == ["build petra"]
    assert why(s, "build zeus") == "§1b"
    play(s, "build petra", "add petra-9")
    assert "done" not in words(s)
    assert why(s, "done") == "§1b"
    play(s, "add petra-5")
    assert words(s) == ["add petra-1", "done"]
    play(s, "done")
    assert piles(s, 0) == {"petra": ["petra-9", "petra-5"]}
    assert (available(s, "petra"), s.actions) == (1, 2)


def test_symbols_do_not_matter_for_building(position: Position, play: Play) -> None:
    """§1b: any cards of the series serve, whatever their symbols."""
    s = position(3, hands=("petra 1 2",))
    play(s, "build petra", "add petra-1", "add petra-2")
    assert piles(s, 0) == {"petra": ["petra-1", "petra-2"]}


def test_second_builder_needs_three_cards(position: Position, play: Play, words: Words) -> None:
    """§1b: three cards are enough, however many the first builder used; the available card leaves the game."""
    s = position(3, displays={"blue": "petra 9 8 7 6 5"}, hands=("petra 1 2",))
    assert why(s, "build petra") == "§1b"
    s = position(3, displays={"blue": "petra 9 8 7 6 5"}, hands=("petra 1 2 3, zeus 9",))
    play(s, "build petra", "add petra-3", "add petra-2")
    assert words(s) == ["add petra-1"]
    play(s, "add petra-1")
    assert piles(s, 0) == {"petra": ["petra-3", "petra-2", "petra-1"]}
    assert available(s, "petra") == 0


def test_nobody_builds_a_monument_twice(position: Position, words: Words) -> None:
    """§1b: a single player improves it instead."""
    s = position(3, displays={"red": "petra 9 8"}, hands=("petra 1 2 3",))
    assert [word for word in words(s) if "petra" in word] == ["improve petra"]
    assert why(s, "build petra") == "§1b"


def test_no_third_builder_even_onto_shrunken_piles(position: Position) -> None:
    """ruling 1.5.23: two builders are enough for ever; a pile cannot vanish."""
    s = position(4, displays={"blue": "petra 9", "green": "petra 8"}, hands=("petra 1 2 3 4 5",))
    assert why(s, "build petra") == "ruling 1.5.23"


def test_the_player_names_the_order_of_the_cards(position: Position, play: Play) -> None:
    """ruling 1.5.14: from the bottom up, any order; later cards always go on top."""
    s = position(3, hands=("petra 1 5 9",))
    play(s, "build petra", "add petra-5", "add petra-9", "add petra-1")
    assert piles(s, 0) == {"petra": ["petra-5", "petra-9", "petra-1"]}


def test_only_cards_of_the_monument_go_onto_its_pile(position: Position, play: Play) -> None:
    """§1b: cards of one series."""
    s = position(3, hands=("petra 1 5 9, zeus 1",))
    play(s, "build petra")
    assert why(s, "add zeus-1") == "§1b"
    assert why(s, "add petra-2") == "§1"
    assert why(s, "draw") == "§1b"


def test_improving_adds_any_number_on_top_for_one_action(position: Position, play: Play, words: Words) -> None:
    """§1c: the order below stays, one action for all the cards; one card is enough."""
    s = position(3, displays={"red": "petra 3 1"}, hands=("petra 2 5 9",))
    play(s, "improve petra")
    assert "done" not in words(s)
    assert why(s, "done") == why(s, "add zeus-1") == "§1c"
    play(s, "add petra-9")
    assert words(s) == ["add petra-2", "add petra-5", "done"]
    play(s, "add petra-2", "done")
    assert piles(s, 0) == {"petra": ["petra-3", "petra-1", "petra-9", "petra-2"]}
    assert s.actions == 2


def test_only_an_own_monument_is_improved(position: Position, words: Words) -> None:
    """§1c: a monument in the own display, with a card in the hand."""
    s = position(3, displays={"blue": "petra 3 1", "red": "zeus 1 2"}, hands=("petra 2",))
    assert not [word for word in words(s) if word.startswith("improve")]
    assert why(s, "improve petra") == why(s, "improve zeus") == "§1c"


def test_ship_score_of_player_b_is_two_points(position: Position, play: Play) -> None:
    """§1d: Petra 1 and Pharos 1 show ships; two cards of B's display bear a ship, so 2 VP; both cards are discarded."""
    s = position(
        3,
        to_move=1,
        displays={"red": "akropolis 7 2", "blue": "petra 9 8, artemision 3 1"},
        hands=("", "petra 1, pharos 1"),
    )
    play(s, "score ship", "discard petra-1", "discard pharos-1")
    assert [colour["points"] for colour in s.view(0)["colours"]] == [0, 2, 0]
    assert {"petra-1", "pharos-1"} <= set(s.view(0)["discards"])
    assert s.view(1)["hands"][1]["count"] == 0


def test_scoring_counts_covered_cards_and_may_bring_nothing(position: Position, play: Play) -> None:
    """§1d: every card on display with the symbol scores, at the top or below; without one the two cards bring 0."""
    s = position(3, displays={"red": "petra 1 5 9, zeus 9 1 5"}, hands=("pharos 1 5, pyramids 2 1 8, zeus 2",))
    play(s, "score ship", "discard pharos-1", "discard pharos-5")
    assert s.points[0] == 6
    play(s, "score scroll", "discard pyramids-1", "discard zeus-2")
    assert s.points[0] == 6


def test_cards_just_built_or_added_score(position: Position, play: Play) -> None:
    """§1d: whatever is in the display at that moment counts."""
    s = position(3, displays={"red": "zeus 9"}, hands=("petra 1 5, zeus 1, pharos 1 5 9, kolossos 3",))
    play(s, "build petra", "add petra-1", "add petra-5", "improve zeus", "add zeus-1")
    play(s, "score ship", "discard pharos-1", "discard pharos-5")
    assert s.points[0] == 4


def test_each_pair_is_offered_once_and_can_be_completed(position: Position, play: Play, words: Words) -> None:
    """§1d: two cards with the symbol; of a pair the lower in the order of cards is named first."""
    s = position(3, hands=("petra 1 9, pharos 1, zeus 2",))
    play(s, "score ship")
    assert words(s) == ["discard petra-1", "discard petra-9"]
    highest = "pharos-1"
    assert why(s, f"discard {highest}") == "§1d"
    assert why(s, "discard zeus-2") == "§1d"
    assert why(s, "discard zeus-9") == "§1"
    play(s, "discard petra-9")
    assert words(s) == [f"discard {highest}"]
    assert why(s, "discard petra-1") == "§1d"


def test_scoring_needs_two_cards_of_the_symbol(position: Position, words: Words) -> None:
    """§1d: two cards with the same symbol."""
    s = position(3, hands=("petra 1, zeus 2",))
    assert not [word for word in words(s) if word.startswith(("score", "buy"))]
    assert why(s, "score ship") == "§1d"


@pytest.mark.parametrize("text", ["build", "build petra purple", "take petra-10", "take petra 7", "", " draw", "DRAW", "hero"])
def test_texts_that_are_no_moves_are_refused_with_the_forms(text: str) -> None:
    with pytest.raises(InvalidMove, match=r"fix: .*take CARD"):
        GAME.parse(text)
