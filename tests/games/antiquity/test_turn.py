"""Set-up, the course of a turn, and the end of the game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from hippodrome.engine.chance import Chance
from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import TABLE, Ruleset
from hippodrome.games.antiquity import GAME, AntiquityState
from hippodrome.games.antiquity.components import BOX, CARD_OF, CARDS, MONUMENT_OF, SERIES, SYMBOL_OF, SYMBOL_WORDS

Position = Callable[..., AntiquityState]
Play = Callable[..., AntiquityState]
Words = Callable[[AntiquityState], list[str]]


def deal(ruleset: Ruleset, seed: int = 1) -> AntiquityState:
    return GAME.new_state(ruleset, Chance(bytes([seed]) * 32))


def why(state: AntiquityState, text: str) -> str:
    move = GAME.parse(text)
    assert not state.is_legal(move)
    return state.explain(move)[0]


def test_component_example_akropolis_7_shows_a_ship() -> None:
    """§Setup: Monument: Akropolis, value: 7, symbol: Ship; 108 cards in 12 series of 9."""
    card = CARD_OF["akropolis-7"]
    assert (MONUMENT_OF[card], SYMBOL_WORDS[SYMBOL_OF[card]]) == (SERIES.index("akropolis"), "ship")
    assert len(CARDS) == 108
    assert Counter(MONUMENT_OF) == dict.fromkeys(range(12), 9)


@pytest.mark.parametrize(("players", "deck", "in_play"), [(2, 86, 99), (3, 70, 88), (4, 85, 108)])
def test_deck_holds_what_hands_and_face_up_cards_leave(players: int, deck: int, in_play: int) -> None:
    """§Setup: five cards for each seat, three face up, the rest is the deck: 86, 70 or 85 cards."""
    view = deal(GAME.ruleset(players)).view(TABLE)
    assert (view["deck_count"], len(view["face_up"])) == (deck, 3)
    assert [hand["count"] for hand in view["hands"]] == [5] * players
    everything = [*view["deck"], *view["face_up"], *(card for hand in view["hands"] for card in hand["cards"])]
    assert len(everything) == len(set(everything)) == in_play


def test_deal_belongs_to_the_seat_in_the_order_of_the_shuffled_cards() -> None:
    """§Setup: the shuffled cards go to seat 0, 1, 2, then face up, then the deck, whoever starts."""
    ruleset, seed = GAME.ruleset(3), bytes(range(32))
    order = list(CARDS)
    order = [c for c in order if MONUMENT_OF[c] != SERIES.index("semiramis") and c % 9 != 3]
    chance = Chance(seed)
    chance.stream("deck").shuffle(order)
    state = GAME.new_state(ruleset, Chance(seed))
    view = state.view(TABLE)
    dealt = [{CARD_OF[card] for card in hand["cards"]} for hand in view["hands"]]
    assert dealt == [set(order[0:5]), set(order[5:10]), set(order[10:15])]
    assert [CARD_OF[card] for card in view["face_up"]] == order[15:18]
    assert [CARD_OF[card] for card in view["deck"]] == order[18:]


def test_three_players_play_without_semiramis_and_the_fours() -> None:
    """§Setup: with three players 20 cards and the marker of Semiramis stay in the box."""
    view = deal(GAME.ruleset(3)).view(TABLE)
    seen = [*view["deck"], *view["face_up"], *(card for hand in view["hands"] for card in hand["cards"])]
    assert not [card for card in seen if card.startswith("semiramis") or card.endswith("-4")]
    assert "semiramis" not in [row["monument"] for row in view["monuments"]]
    assert len(view["monuments"]) == 11


@pytest.mark.parametrize(("players", "historians"), [(2, 2), (3, 3), (4, 2)])
def test_colours_begin_with_their_historians_at_zero_points(players: int, historians: int) -> None:
    """§Setup: a counter on 0 and three historians for each, two with four players; markers on the leftmost space."""
    view = deal(GAME.ruleset(players)).view(TABLE)
    assert {(c["historians"], c["points"]) for c in view["colours"]} == {(historians, 0)}
    assert {(row["space"], row["available"]) for row in view["monuments"]} == {(0, 2)}


def test_first_player_is_chosen_at_random() -> None:
    """§1: stream `start` chooses; every seat begins at times, and the published stream can be re-read."""
    ruleset = GAME.ruleset(4)
    first = [deal(ruleset, seed).to_move for seed in range(40)]
    assert set(first) == {0, 1, 2, 3}
    assert first == [Chance(bytes([seed]) * 32).stream("start").below(4) for seed in range(40)]


def test_three_actions_in_any_order_and_the_same_one_again(position: Position, play: Play) -> None:
    """§1: three actions, the same one several times, then the next seat clockwise."""
    s = position(3, hands=("petra 1 2",), deck=20)
    play(s, "draw", "draw")
    assert (s.to_move, s.actions) == (0, 1)
    play(s, "build petra", "add petra-2", "add petra-1")
    if s.to_move == 0:
        play(s, "end")
    assert (s.to_move, s.actions, s.fresh, s.bought) == (1, 3, True, False)


def test_turn_passes_clockwise_from_the_last_seat_to_the_first(position: Position, play: Play) -> None:
    """§1: play proceeds clockwise."""
    s = position(3, to_move=2, face_up="zeus 1 2 3", deck="petra 1 2 3 5 6 7, zeus 5 6 7")
    play(s, "take zeus-1", "draw", "take zeus-2")
    assert s.to_move in (0, 2)
    if s.to_move == 2:
        play(s, "end")
    assert s.to_move == 0


def test_face_up_cards_are_replenished_at_the_end_of_the_turn(position: Position, play: Play, words: Words) -> None:
    """§1: gaps stay during the turn and are filled from the deck at its end."""
    s = position(3, face_up="zeus 1 2 3", deck="petra 1 2 3 5 6, pharos 1", hands=("", "", ""))
    play(s, "take zeus-1", "take zeus-2")
    assert s.view(1)["face_up"] == ["zeus-3"]
    assert not [word for word in words(s) if word in ("take zeus-1", "take petra-1")]
    play(s, "draw")
    if s.to_move == 0:
        play(s, "end")
    assert s.view(1)["face_up"] == ["zeus-3", "petra-2", "petra-3"]


def test_fourth_action_is_paid_with_two_cards_of_a_symbol(position: Position, play: Play) -> None:
    """§1: the two cards leave the game, one more action is there; colours or series of the cards do not matter."""
    s = position(4, hands=("petra 1, pharos 1, zeus 5, zeus 2",))
    assert why(s, "buy scroll") == "§1"
    play(s, "buy ship", "discard petra-1", "discard pharos-1")
    assert s.actions == 4
    assert {"petra-1", "pharos-1"} <= set(s.view(2)["discards"])
    assert s.view(0)["hands"][0]["cards"] == ["zeus-2", "zeus-5"]


@pytest.mark.parametrize(
    ("symbol", "pair", "others"),
    [
        ("ship", ("petra-1", "petra-5"), "2 3"),
        ("helmet", ("petra-2", "petra-6"), "1 2"),
        ("scroll", ("petra-3", "petra-4"), "1 3"),
    ],
)
def test_two_cards_of_any_one_symbol_buy_at_the_start_of_a_turn(
    position: Position, play: Play, words: Words, symbol: str, pair: tuple[str, str], others: str
) -> None:
    """§1: the two cards bear the same symbol, scroll, ship or helmet; it is no action itself."""
    s = position(4, hands=(f"petra {pair[0][-1]} {pair[1][-1]}, zeus {others}",))
    assert [word for word in words(s) if word.startswith("buy")] == [f"buy {symbol}"]
    play(s, f"buy {symbol}")
    assert words(s) == [f"discard {pair[0]}"]
    assert {why(s, f"discard {card}") for card in (pair[1], f"zeus-{others[0]}", f"zeus-{others[-1]}")} == {"§1"}
    play(s, f"discard {pair[0]}")
    assert words(s) == [f"discard {pair[1]}"]
    play(s, f"discard {pair[1]}")
    assert (s.actions, s.to_move) == (4, 0)


def test_a_story_turn_sells_no_action(position: Position, play: Play, words: Words) -> None:
    """§2: an additional action cannot be bought in a Story turn; whoever has bought one is in a Monument turn."""
    s = position(3, displays={"blue": "petra 9 1"}, hands=("zeus 1, pharos 1 5",))
    assert "story" in words(s)
    play(s, "buy ship", "discard pharos-1", "discard zeus-1")
    assert "story" not in words(s)
    s = position(3, displays={"blue": "petra 9 1"}, hands=("zeus 1, pharos 1",))
    play(s, "story")
    assert s.to_move == 1


def test_actions_are_compulsory_while_one_is_legal(position: Position, words: Words) -> None:
    """ruling 1.5.1: no `end` while an action is left and something can be done."""
    s = position(3, hands=("petra 1, pharos 1",))
    assert "end" not in words(s)
    assert why(s, "end") == "ruling 1.5.1"


def test_turn_ends_by_itself_where_no_action_is_legal(position: Position, play: Play) -> None:
    """ruling 1.5.1: the actions left are lost; here the deck and the row are empty, so the game is over as well."""
    s = position(3, hands=("petra 1, zeus 2",), deck=0, face_up="zeus 3")
    play(s, "take zeus-3")
    assert s.to_move == 0
    assert s.legal_moves() == [GAME.parse("build zeus")]
    play(s, "build zeus", "add zeus-3", "add zeus-2")
    assert s.to_move == TABLE


def test_end_is_offered_while_only_a_purchase_is_possible(position: Position, play: Play, words: Words) -> None:
    """ruling 1.5.1, ruling 1.5.2: after the third action the fourth may still be bought; its cards may be from this turn."""
    s = position(3, hands=("petra 1",), face_up="pharos 1, zeus 2 3", actions=1, deck=9)
    play(s, "take pharos-1")
    assert words(s) == ["end", "buy ship"]
    t = s.copy()
    play(t, "end")
    assert t.to_move == 1
    play(s, "buy ship", "discard petra-1", "discard pharos-1")
    assert (s.to_move, s.actions, s.bought) == (0, 1, True)


def test_one_action_a_turn_can_be_bought(position: Position, play: Play, words: Words) -> None:
    """ruling 1.5.2: once in a Monument turn, and again in the next turn."""
    s = position(3, hands=("petra 1 5 9, pharos 1 5 9, zeus 1 5 9",))
    play(s, "draw", "buy ship", "discard petra-1", "discard pharos-1")
    assert not [word for word in words(s) if word.startswith("buy")]
    assert s.explain(GAME.parse("buy ship"))[0] == "ruling 1.5.2"
    s = position(3, hands=("petra 1 5",), actions=3, bought=True)
    assert not [word for word in words(s) if word.startswith("buy")]
    play(s, "score ship", "discard petra-1", "discard petra-5", "draw", "draw")
    assert (s.to_move, s.bought) == (1, False)


def test_game_ends_when_the_row_cannot_be_replenished(position: Position, play: Play) -> None:
    """§End: the game ends as soon as a face-up gap cannot be filled."""
    s = position(3, deck="zeus 9", face_up="zeus 1 2 3", hands=("petra 1",))
    play(s, "take zeus-1", "draw", "take zeus-2")
    if s.to_move == 0:
        play(s, "end")
    assert s.to_move == TABLE
    assert s.legal_moves() == []
    assert s.outcome() is not None
    assert s.view(TABLE)["face_up"] == ["zeus-3"]


def test_the_end_comes_at_once_in_the_middle_of_a_round(position: Position, play: Play) -> None:
    """ruling 1.5.4: the turn whose refill fails is the last, later seats get no equal turns."""
    s = position(4, to_move=1, deck=0, face_up="zeus 1 2 3", actions=1, fresh=False, hands=("", "petra 9"))
    play(s, "take zeus-1")
    assert s.to_move == TABLE or (play(s, "end").to_move == TABLE)


def test_an_empty_deck_alone_does_not_end_the_game(position: Position, play: Play) -> None:
    """ruling 1.5.4: with three cards in the row the game goes on, and so it does after a story."""
    s = position(3, deck="petra 1 2", face_up="zeus 1 2 3", hands=("pharos 6, kolossos 1",), actions=2, fresh=False)
    play(s, "draw", "draw")
    if s.to_move == 0:
        play(s, "end")
    assert (s.to_move, s.size - s.drawn) == (1, 0)
    s = position(3, deck=0, face_up="zeus 1 2 3", displays={"blue": "petra 9 1"})
    assert play(s, "story").to_move == 1


def test_drawing_from_an_empty_deck_is_illegal(position: Position, words: Words) -> None:
    """ruling 1.5.3: a face-up card may still be taken."""
    s = position(3, deck=0, face_up="zeus 1 2 3")
    assert words(s) == ["take zeus-1", "take zeus-2", "take zeus-3"]
    assert s.explain(GAME.parse("draw"))[0] == "ruling 1.5.3"


@pytest.mark.parametrize(
    ("players", "options", "field"),
    [
        (5, {}, "players"),
        (3, {"unused": "petra"}, "options.unused"),
        (4, {"unused": "zeus"}, "options.unused"),
        (2, {"unused": "atlantis"}, "options.unused"),
        (2, {"power_variant": True}, "options.power_variant"),
        (2, {"powr": True}, "options"),
    ],
)
def test_wrong_options_name_the_field_and_the_fix(players: int, options: dict[str, bool | str], field: str) -> None:
    with pytest.raises(FieldError, match="fix: ") as error:
        GAME.ruleset(players, options)
    assert error.value.field == field


def test_rulesets_read_back(ruleset: Ruleset) -> None:
    assert GAME.read_ruleset(str(ruleset)) == ruleset
    assert BOX.unused_monument == "semiramis"
