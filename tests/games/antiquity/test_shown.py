"""Views, texts, pictures, and the neutral move."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from xml.etree import ElementTree

from hippodrome.bot import view_dict
from hippodrome.engine.chance import Chance, QuickChance
from hippodrome.engine.game import TABLE, Ruleset, View
from hippodrome.games.antiquity import GAME, AntiquityState
from hippodrome.games.antiquity.phases import SWAPPING
from hippodrome.v1.antiquity_pb2 import AntiquityView

Walk = Callable[[Ruleset, int], Iterator[AntiquityState]]
Position = Callable[..., AntiquityState]
Play = Callable[..., AntiquityState]
SVG = "{http://www.w3.org/2000/svg}"


def test_every_view_fills_its_message(ruleset: Ruleset, walk: Walk) -> None:
    for number, state in enumerate(walk(ruleset, 3)):
        if number % 9 == 0 or state.to_move == TABLE:
            for seat in range(TABLE, ruleset.players):
                view = state.view(seat)
                message = AntiquityView(**view)
                assert message.HasField("seat") == (seat != TABLE)
                assert message.HasField("to_move") == (state.to_move != TABLE)
                assert [c.points for c in message.colours] == state.points


def test_lists_of_a_view_that_did_not_change_are_kept(position: Position, play: Play) -> None:
    before = position(2).view(0)
    after = play(position(2), "draw").view(0)
    kept = {name for name, value in after.items() if type(value) is list and before[name] is value}
    assert kept >= {"colours", "monuments", "stories", "face_up", "discards", "power_cards"}


def test_texts_have_at_most_eighty_columns_and_no_trailing_blanks(ruleset: Ruleset, walk: Walk) -> None:
    for state in walk(ruleset, 4):
        lines = GAME.text(state.view(TABLE)).split("\n")
        assert max(map(len, lines)) <= 80
        assert all(line == line.rstrip() for line in lines)
        assert lines[-1] == ""


def test_text_shows_the_table(position: Position) -> None:
    s = position(3, displays={"blue": "petra 9 1"}, hands=("zeus 1 2",), points={"red": 4}, spaces={"petra": 3})
    text = GAME.text(s.view(0))
    assert text.startswith("Antiquity: seat 0 to move, 3 actions left\n")
    assert "petra             3   12/8-4  .           91          .\n" in text
    assert "red    seat 0    4 VP  historians 3" in text
    assert "2 cards: zeus-1s zeus-2c" in text
    assert "zeus-1" not in GAME.text(s.view(1))


def test_picture_has_role_title_and_description_and_no_script(ruleset: Ruleset, walk: Walk) -> None:
    for number, state in enumerate(walk(ruleset, 6)):
        if number % 20 == 0 or state.to_move == TABLE:
            root = ElementTree.fromstring(GAME.svg(state.view(TABLE)))
            assert (root.tag, root.get("role")) == (SVG + "svg", "img")
            assert [child.tag for child in root][:2] == [SVG + "title", SVG + "desc"]
            assert all(len(child.text or "") > 10 for child in list(root)[:2])
            assert (root.get("viewBox") or "").startswith("0 0 360 ")
            assert root.find(f".//{SVG}script") is None


def test_nothing_in_the_picture_lies_outside_its_frame(ruleset: Ruleset, walk: Walk) -> None:
    for number, state in enumerate(walk(ruleset, 8)):
        if number % 20 == 0 or state.to_move == TABLE:
            root = ElementTree.fromstring(GAME.svg(state.view(TABLE)))
            height = float((root.get("viewBox") or "").split()[3])
            for rect in root.iter(SVG + "rect"):
                assert float(rect.get("x", "0")) + float(rect.get("width", "0")) <= 360
                assert float(rect.get("y", "0")) + float(rect.get("height", "0")) <= height
            assert all(0 < float(text.get("y", "0")) < height for text in root.iter(SVG + "text"))


def test_picture_says_the_unfinished_choice(position: Position, play: Play) -> None:
    s = play(position(2, hands=("petra 1 2 3",)), "build petra red", "add petra-3")
    assert "builds Petra for red, 1 more at least" in GAME.svg(s.view(1))


def test_other_seats_see_only_their_own_hand(position: Position) -> None:
    s = position(3, hands=("zeus 1 2", "petra 1", ""), known=("zeus 2",))
    assert [hand.get("cards") for hand in s.view(1)["hands"]] == [None, ["petra-1"], None]
    assert [hand["known"] for hand in s.view(1)["hands"]] == [["zeus-2"], [], []]
    assert "deck" not in s.view(1)
    assert "deck" in s.view(TABLE)


def test_final_view_holds_the_scores(walk: Walk) -> None:
    for state in walk(GAME.ruleset(3), 1):
        assert ("scores" in state.view(0)) == (state.to_move == TABLE)
    outcome = state.outcome()
    assert outcome is not None
    assert tuple(score["total"] for score in state.view(0)["scores"]) == outcome.scores


def test_neutral_move_draws_and_ends(position: Position, play: Play) -> None:
    """The most passive legal move: end or done, else draw, else take, else the first."""
    s = position(3, displays={"blue": "zeus 1 2"}, hands=("petra 1 5 9, zeus 5",), deck="pharos 1 2 3")
    assert s.neutral_move().text == "draw"
    play(s, "build petra", "add petra-1")
    assert s.neutral_move().text == "add petra-5"
    play(s, "add petra-5")
    assert s.neutral_move().text == "done"
    s = position(3, deck=0, face_up="pharos 1 2 3", hands=("zeus 1",))
    assert s.neutral_move().text == "take pharos-1"
    play(s, "take pharos-1", "take pharos-2", "take pharos-3")
    assert s.neutral_move().text == "end"


def test_neutral_moves_end_the_game(ruleset: Ruleset) -> None:
    state = GAME.new_state(ruleset, QuickChance(random.Random(1)))
    for _ in range(1000):
        if state.to_move == TABLE:
            return
        state.apply(state.neutral_move())
    raise AssertionError("the game did not end")


def wired(view: View) -> View:
    """The view as a bot gets it, through its message: lists that were left out are empty there."""
    return view_dict(AntiquityView(**view))


def test_view_from_the_wire_reads_like_that_of_the_engine(ruleset: Ruleset, walk: Walk) -> None:
    """Text and picture are the same, and so is the sample drawn from it."""
    for number, state in enumerate(walk(ruleset, 11)):
        if number % 9 == 0 or state.to_move == TABLE or state.phase == SWAPPING:
            for seat in range(TABLE, ruleset.players):
                view = state.view(seat)
                assert GAME.text(wired(view)) == GAME.text(view)
                assert GAME.svg(wired(view)) == GAME.svg(view)
                keys = [GAME.sample(ruleset, v, Chance(bytes(32))).key() for v in (view, wired(view))]
                assert keys[0] == keys[1]


def test_cards_known_to_all_are_shown_of_hands_that_are_not_open(position: Position) -> None:
    """Also where the message holds an empty list of cards; an open hand without cards is empty."""
    s = position(3, hands=("zeus 1 2", "petra 1 2", ""), known=("zeus 2", ""))
    for view in (s.view(1), wired(s.view(1))):
        assert "seat 0   2 cards, known: zeus-2c" in GAME.text(view)
        assert "seat 1   2 cards: petra-1s petra-2h" in GAME.text(view)
        assert "Seat 0: 2 cards, known to all" in GAME.svg(view)
        assert "Zeus 2" in GAME.svg(view)
        assert "Zeus 1" not in GAME.svg(view)
    assert "seat 2   0 cards: none" in GAME.text(wired(s.view(2)))
    assert "seat 2   0 cards: none" in GAME.text(wired(s.view(TABLE)))
