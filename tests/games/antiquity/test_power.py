"""The power cards."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hippodrome.engine.game import TABLE
from hippodrome.games.antiquity import GAME, AntiquityState
from hippodrome.games.antiquity.components import BOX, POWERS
from hippodrome.games.antiquity.scoring import score_sheet

Position = Callable[..., AntiquityState]
Play = Callable[..., AntiquityState]
Words = Callable[[AntiquityState], list[str]]
SHIPS = "petra 1 5 9"


def why(state: AntiquityState, text: str) -> str:
    move = GAME.parse(text)
    assert not state.is_legal(move)
    return state.explain(move)[0]


def holders(state: AntiquityState) -> dict[str, str]:
    return {card["card"]: card["holder"] for card in state.view(0)["power_cards"]}


def powers(state: AntiquityState) -> list[str]:
    return [move.text for move in state.legal_moves() if move.text.split()[0] in ("acquire", "swap", "hero", "reorder")]


def test_each_card_goes_with_its_symbol() -> None:
    """§Power: naute with ships, scribe with scrolls, hero with helmets."""
    assert dict(zip(POWERS, BOX.power_symbols, strict=True)) == {"naute": "ship", "scribe": "scroll", "hero": "helmet"}


def test_acquiring_from_the_bank_costs_an_action_and_brings_two_points(position: Position, play: Play) -> None:
    """§Power: with the majority of the symbol on display, for 1 action, 2 VP at once."""
    s = position(3, power=True, displays={"red": SHIPS})
    assert powers(s) == ["acquire naute"]
    play(s, "acquire naute")
    assert (s.actions, s.points, holders(s)["naute"]) == (2, [2, 0, 0], "red")


def test_a_card_is_taken_from_its_holder_by_the_majority(position: Position, play: Play) -> None:
    """§Power: the holder cannot oppose; the taker gains 2 VP, the old holder keeps those of before."""
    s = position(3, power=True, displays={"red": SHIPS}, holders={"naute": "blue"}, points={"blue": 2})
    play(s, "acquire naute")
    assert (s.points, holders(s)["naute"]) == ([2, 2, 0], "red")


def test_the_transfer_is_not_automatic(position: Position, play: Play) -> None:
    """§Power: the majority alone moves nothing; the holder keeps card and power without it."""
    s = position(3, power=True, displays={"blue": SHIPS}, holders={"naute": "red"}, hands=("zeus 2",))
    assert powers(s) == ["swap"]
    play(s, "swap", "give zeus-2")
    assert holders(s)["naute"] == "red"


def test_majority_is_strictly_more_than_every_other_colour(position: Position) -> None:
    """ruling 1.5.17: a tie blocks it, and so does the own other colour with two players."""
    s = position(3, power=True, displays={"red": "petra 1 5", "green": "pharos 1 5"})
    assert why(s, "acquire naute") == "ruling 1.5.17"
    s = position(2, power=True, displays={"red": "petra 1 5", "blue": "pharos 1 5"})
    assert why(s, "acquire naute red") == why(s, "acquire naute blue") == "ruling 1.5.17"


def test_no_majority_without_a_card(position: Position) -> None:
    """ruling 1.5.17: nobody has the most of nothing."""
    assert powers(position(3, power=True)) == []


def test_an_own_power_card_is_not_acquired_again(position: Position) -> None:
    """ruling 1.5.18: from the bank or from another player only."""
    s = position(3, power=True, displays={"red": SHIPS}, holders={"naute": "red"})
    assert why(s, "acquire naute") == "ruling 1.5.18"


def test_a_colour_takes_a_card_from_the_own_other_colour(position: Position, play: Play) -> None:
    """§Power: with two players each colour is a player of its own."""
    s = position(2, power=True, displays={"blue": SHIPS}, holders={"naute": "red"})
    play(s, "acquire naute blue")
    assert (s.points, holders(s)["naute"]) == ([0, 2, 0, 0], "blue")


def test_without_the_expansion_nothing_of_it_is_legal(position: Position) -> None:
    """§Power: the cards are an option."""
    s = position(3, displays={"red": SHIPS}, hands=("zeus 1",))
    assert powers(s) == []
    assert {why(s, text) for text in ("acquire naute", "swap", "hero draw")} == {"§Power"}
    assert s.view(0)["power_cards"] == []


def test_naute_exchanges_a_hand_card_with_a_face_up_one(position: Position, play: Play, words: Words) -> None:
    """§Power: without an action, once per turn; the given card lies in the row, the taken one is known to all."""
    displays = {"blue": "kolossos 2 1"}
    s = position(3, power=True, holders={"naute": "red"}, hands=("zeus 2, petra 1",), face_up="pharos 1 2 3", displays=displays)
    assert "story" in words(s)
    play(s, "swap", "give zeus-2")
    assert words(s) == ["take pharos-1", "take pharos-2", "take pharos-3"]
    assert s.view(1)["pending"]["picked"] == ["zeus-2"]
    play(s, "take pharos-2")
    view = s.view(0)
    assert view["face_up"] == ["pharos-1", "pharos-3", "zeus-2"]
    assert view["hands"][0]["cards"] == ["petra-1", "pharos-2"]
    assert (view["hands"][0]["known"], s.actions) == (["pharos-2"], 3)
    assert why(s, "swap") == "ruling 1.5.19"
    assert why(s, "story") == "§2"


def test_the_exchange_needs_a_card_on_both_sides(position: Position) -> None:
    """§Power: a card from the hand against one of the row."""
    s = position(3, power=True, holders={"naute": "red"})
    assert why(s, "swap") == "§Power"
    s = position(3, power=True, holders={"naute": "blue"}, hands=("zeus 1",))
    assert why(s, "swap") == "§Power"
    s = position(3, power=True, holders={"naute": "red"}, hands=("zeus 1",), face_up="", actions=1, fresh=False)
    assert why(s, "swap") == "§Power"


def test_power_of_a_card_taken_in_this_turn(position: Position, play: Play) -> None:
    """ruling 1.5.19: usable at once, and once per turn even if it changes between the own colours."""
    s = position(2, power=True, displays={"blue": SHIPS}, holders={"naute": "red"}, hands=("zeus 2",), face_up="pharos 1 2 3")
    play(s, "swap", "give zeus-2", "take pharos-2", "acquire naute blue")
    assert why(s, "swap") == "ruling 1.5.19"
    s = position(3, power=True, displays={"red": SHIPS}, hands=("zeus 2",))
    play(s, "acquire naute", "swap", "give zeus-2")


def test_a_power_is_fresh_in_the_next_turn(position: Position, play: Play) -> None:
    """ruling 1.5.19: once in each turn."""
    s = position(3, power=True, holders={"naute": "red"}, used=("naute",), actions=1)
    assert why(s, "swap") == "ruling 1.5.19"
    play(s, "take " + s.view(0)["face_up"][0])
    assert (s.to_move, s.used) == (1, 0)


def test_scribe_puts_old_and_new_cards_into_any_order(position: Position, play: Play, words: Words) -> None:
    """§Power: when improving, the previously placed and the new cards may be rearranged."""
    s = position(3, power=True, displays={"red": "petra 1 9"}, holders={"scribe": "red"}, hands=("petra 5, zeus 1",))
    play(s, "improve petra", "add petra-5")
    assert words(s) == ["done", "reorder"]
    play(s, "reorder")
    assert words(s) == ["place petra-1", "place petra-5", "place petra-9"]
    play(s, "place petra-9", "place petra-1", "place petra-5")
    assert s.view(1)["colours"][0]["piles"] == [{"monument": "petra", "cards": ["petra-9", "petra-1", "petra-5"]}]
    assert (s.actions, s.to_move) == (2, 0)


def test_scribe_works_while_improving_only(position: Position, play: Play, words: Words) -> None:
    """ruling 1.5.21: not when building, not before a card is added, only with that pile."""
    s = position(3, power=True, displays={"red": "zeus 1 9"}, holders={"scribe": "red"}, hands=("petra 1 5 9, zeus 2",))
    t = play(s.copy(), "build petra", "add petra-1", "add petra-5")
    assert words(t) == ["add petra-9", "done"]
    assert why(t, "reorder") == "ruling 1.5.21"
    play(s, "improve zeus")
    assert why(s, "reorder") == "ruling 1.5.21"
    play(s, "add zeus-2", "reorder", "place zeus-9")
    assert why(s, "place petra-1") == why(s, "place zeus-9") == "ruling 1.5.21"


def test_scribe_works_once_a_turn(position: Position, play: Play, words: Words) -> None:
    """ruling 1.5.19: a second monument improved in the turn keeps its order."""
    displays = {"red": "zeus 1 9, petra 1 9"}
    s = position(3, power=True, displays=displays, holders={"scribe": "red"}, hands=("zeus 2, petra 2 3",))
    play(s, "improve zeus", "add zeus-2", "reorder", "place zeus-9", "place zeus-2", "place zeus-1")
    play(s, "improve petra", "add petra-2")
    assert words(s) == ["add petra-3", "done"]
    assert why(s, "reorder") == "ruling 1.5.19"


def test_only_the_colour_that_holds_the_scribe_reorders(position: Position, play: Play) -> None:
    """ruling 1.5.21: with two players the holder's own monuments, not those of the other colour."""
    s = position(2, power=True, displays={"red": "zeus 1 9"}, holders={"scribe": "blue"}, hands=("zeus 2 3",))
    play(s, "improve zeus red", "add zeus-2")
    assert why(s, "reorder") == "ruling 1.5.21"


def test_hero_draws_for_a_point(position: Position, play: Play) -> None:
    """§Power: an extra card for 1 VP, without an action, once per turn."""
    s = position(3, power=True, holders={"hero": "red"}, points={"red": 2}, deck="zeus 9 8 7")
    play(s, "hero draw")
    assert (s.points[0], s.actions, s.view(0)["hands"][0]["cards"]) == (1, 3, ["zeus-9"])
    assert why(s, "hero draw") == "ruling 1.5.19"


def test_hero_takes_from_the_display_and_the_gap_waits(position: Position, play: Play) -> None:
    """ruling 1.5.20: the gap is filled at the end of the turn."""
    s = position(3, power=True, holders={"hero": "red"}, points={"red": 1}, face_up="zeus 1 2 3")
    play(s, "hero take zeus-2")
    view = s.view(1)
    assert (view["face_up"], view["hands"][0]["known"], s.points[0]) == (["zeus-1", "zeus-3"], ["zeus-2"], 0)
    assert s.actions == 3
    s = position(3, power=True, holders={"hero": "red"}, points={"red": 1}, face_up="zeus 1 2 3")
    assert why(s, "hero take zeus-5") == "§1a"


def test_hero_needs_a_point_of_the_colour_that_holds_it(position: Position) -> None:
    """ruling 1.5.20: not usable at 0 VP; the other colour's points do not pay."""
    s = position(3, power=True, holders={"hero": "red"})
    assert why(s, "hero draw") == "ruling 1.5.20"
    s = position(2, power=True, holders={"hero": "red"}, points={"blue": 9})
    assert why(s, "hero draw") == "ruling 1.5.20"


@pytest.mark.parametrize(("holder", "left"), [("red", [2, 3, 0, 0]), ("blue", [3, 2, 0, 0])])
def test_hero_is_paid_by_the_colour_that_holds_it(position: Position, play: Play, holder: str, left: list[int]) -> None:
    """ruling 1.5.20: with two players the score of the holding colour goes back, the other one stays."""
    s = position(2, power=True, holders={"hero": holder}, points={"red": 3, "blue": 3})
    assert s.points == play(s, "hero draw").points == left


def test_hero_cannot_draw_from_an_empty_deck(position: Position) -> None:
    """ruling 1.5.3: a card must be there."""
    s = position(3, power=True, holders={"hero": "red"}, points={"red": 1}, deck=0, face_up="zeus 1 2 3")
    assert why(s, "hero draw") == "ruling 1.5.3"
    assert powers(s) == ["hero take zeus-1", "hero take zeus-2", "hero take zeus-3"]


def test_a_free_power_keeps_the_turn_open(position: Position, play: Play, words: Words) -> None:
    """ruling 1.5.1: after the last action `end` is offered beside the power, and the turn ends once it is used."""
    s = position(3, power=True, holders={"hero": "red"}, points={"red": 1}, actions=1, deck="zeus 9 2, petra 1")
    play(s, "draw")
    assert words(s)[:2] == ["end", "hero draw"]
    play(s, "hero draw")
    assert s.to_move == 1


def test_the_exchange_keeps_the_turn_open_and_leaves_gaps_for_its_end(position: Position, play: Play, words: Words) -> None:
    """ruling 1.5.1: after the last action the naute may still be used with what is left of the row, then the turn ends."""
    s = position(
        3, power=True, holders={"naute": "red"}, hands=("zeus 2",), face_up="pharos 1 2 3", deck="petra 1 2 3", actions=1
    )
    play(s, "take pharos-1")
    assert words(s) == ["end", "swap"]
    play(s, "swap", "give zeus-2", "take pharos-3")
    assert (s.to_move, s.view(1)["face_up"]) == (1, ["pharos-2", "zeus-2", "petra-1"])


def test_a_hero_without_a_card_to_draw_does_not_keep_the_turn_open(position: Position, play: Play) -> None:
    """ruling 1.5.3: deck and row are empty, so the turn is over, and the game with it."""
    s = position(3, power=True, holders={"hero": "red"}, points={"red": 1}, deck=0, face_up="zeus 1", actions=1, fresh=False)
    assert play(s, "take zeus-1").to_move == TABLE


def test_powers_belong_to_a_monument_turn(position: Position, play: Play) -> None:
    """§Power: after a power no story can be written in that turn."""
    s = position(3, power=True, holders={"hero": "red"}, points={"red": 1}, displays={"blue": "zeus 9 1"})
    assert s.is_legal(GAME.parse("story"))
    play(s, "hero draw")
    assert why(s, "story") == "§2"


def test_power_cards_are_three_points_each_in_the_end(position: Position) -> None:
    """§Power: 3 VP in the final scoring for the holder."""
    s = position(3, power=True, over=True, holders={"naute": "red", "hero": "red", "scribe": "green"})
    assert [score.powers for score in score_sheet(s)] == [6, 0, 3]


@pytest.mark.parametrize(("variant", "points"), [(False, 2), (True, 3)])
def test_variant_counts_a_power_card_in_the_score_action(
    position: Position, play: Play, variant: bool, points: int
) -> None:
    """ruling 1.5.22: off by default; when on it adds 1 to the symbol's count."""
    s = position(
        3, power=True, power_variant=variant, displays={"red": "petra 1 5"}, holders={"naute": "red"}, hands=("zeus 1 5",)
    )
    play(s, "score ship", "discard zeus-1", "discard zeus-5")
    assert s.points[0] == points


@pytest.mark.parametrize(
    ("players", "holders", "points"),
    [
        (3, {"naute": "blue"}, 2),
        (3, {"scribe": "red", "hero": "red"}, 2),
        (2, {"naute": "blue"}, 2),
        (2, {"naute": "red", "scribe": "red"}, 3),
    ],
    ids=["of another player", "of other symbols", "of the own other colour", "of this colour"],
)
def test_variant_counts_only_the_own_power_card_of_the_symbol(
    position: Position, play: Play, players: int, holders: dict[str, str], points: int
) -> None:
    """ruling 1.5.22: one more for the colour that scores if it holds the card of that symbol, else nothing."""
    s = position(
        players, power=True, power_variant=True, displays={"red": "petra 1 5"}, holders=holders, hands=("zeus 1 5",)
    )
    play(s, "score ship red" if players == 2 else "score ship", "discard zeus-1", "discard zeus-5")
    assert s.points == [points, *[0] * (len(s.points) - 1)]


def test_variant_does_not_help_to_a_majority(position: Position, play: Play) -> None:
    """ruling 1.5.22: majorities count cards on display only, so three beat two and a power card."""
    s = position(
        3, power=True, power_variant=True, displays={"red": SHIPS, "blue": "zeus 1 5"}, holders={"naute": "blue"}
    )
    play(s, "acquire naute")
    assert holders(s)["naute"] == "red"
