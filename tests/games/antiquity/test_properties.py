"""Random play in every ruleset: what must hold in each position, and what a seat may know."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hippodrome.engine.chance import Chance, QuickChance
from hippodrome.engine.game import TABLE, Ruleset, View
from hippodrome.games.antiquity import GAME, AntiquityState
from hippodrome.games.antiquity.moves import ALL_MOVES, MOVES

Walk = Callable[[Ruleset, int], Iterator[AntiquityState]]
Position = Callable[..., AntiquityState]
Play = Callable[..., AntiquityState]
DERIVED = [name for name in AntiquityState.__slots__ if name not in ("deck", "drawn", "size")]
SHIPS = {"petra-1", "petra-9", "pharos-1"}
seeds = st.integers(0, 2**32)
fixtures = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def everything(view: View) -> list[str]:
    """Every card of a table view, wherever it lies."""
    places = [view["face_up"], view["deck"], view["discards"]]
    places += [pile["cards"] for colour in view["colours"] for pile in colour["piles"]]
    places += [story["cards"] for story in view["stories"]] + [hand["cards"] for hand in view["hands"]]
    places += [view["pending"]["picked"]] if view["phase"] == "swap" else []
    return [card for place in places for card in place]


@given(seed=seeds)
@fixtures
def test_no_card_is_lost_or_doubled(ruleset: Ruleset, walk: Walk, seed: int) -> None:
    size = {2: 99, 3: 88, 4: 108}[ruleset.players]
    for state in walk(ruleset, seed):
        cards = everything(state.view(TABLE))
        assert len(cards) == len(set(cards)) == size


@given(seed=seeds)
@fixtures
def test_every_running_count_equals_the_count_made_from_the_table(ruleset: Ruleset, walk: Walk, seed: int) -> None:
    """The state keeps counts by hand; a state made from the table view counts anew."""
    for state in walk(ruleset, seed):
        twin = GAME.sample(ruleset, state.view(TABLE), QuickChance(random.Random(0)))
        assert {name: getattr(twin, name) for name in DERIVED} == {name: getattr(state, name) for name in DERIVED}
        assert twin.key() == state.key()
        assert twin.legal_moves() == state.legal_moves()


@given(seed=seeds)
@fixtures
def test_markers_points_and_historians_stay_in_their_bounds(ruleset: Ruleset, walk: Walk, seed: int) -> None:
    for state in walk(ruleset, seed):
        assert all(0 <= space <= 5 for space in state.spaces)
        assert all(points >= 0 for points in state.points)
        written = Counter(story[0] for story in state.stories)
        assert all(left + written[c] == state.setting.historians for c, left in enumerate(state.historians))
        assert all(known & ~hand == 0 for known, hand in zip(state.known, state.hands, strict=True))
    low, high = GAME.score_bounds(ruleset)
    outcome = state.outcome()
    assert outcome is not None
    assert all(low <= score <= high for score in outcome.scores)


@given(seed=seeds)
@fixtures
def test_is_legal_agrees_with_the_list_for_every_move_of_the_game(ruleset: Ruleset, walk: Walk, seed: int) -> None:
    """All moves that exist are asked in one position of twenty; whatever is not legal has a section and a reason."""
    for number, state in enumerate(walk(ruleset, seed)):
        if (number + seed) % 20 and state.to_move != TABLE:
            continue
        listed = state.legal_moves()
        assert len(set(listed)) == len(listed)
        assert bool(listed) == (state.to_move != TABLE)
        legal = [move for move in ALL_MOVES if state.is_legal(move)]
        assert set(legal) == set(listed)
        before = state.key()
        for move in ALL_MOVES:
            if move not in set(legal):
                section, reason = state.explain(move)
                assert section.startswith(("§", "ruling 1.5."))
                assert reason
        assert state.key() == before


def test_every_move_reads_back() -> None:
    assert len(MOVES) == len(ALL_MOVES) == len(set(ALL_MOVES))
    assert all(GAME.parse(move.text) is move for move in ALL_MOVES)


@given(seed=seeds)
@fixtures
def test_a_copy_is_equal_and_independent(ruleset: Ruleset, walk: Walk, seed: int) -> None:
    source = random.Random(seed)
    for state in walk(ruleset, seed):
        if source.random() > 0.1 or state.to_move == TABLE:
            continue
        key, twin = state.key(), state.copy()
        assert {name: getattr(twin, name) for name in state.__slots__} == {n: getattr(state, n) for n in state.__slots__}
        while twin.to_move != TABLE:
            twin.apply(source.choice(twin.legal_moves()))
        assert state.key() == key != twin.key()


@given(seed=seeds)
@fixtures
def test_what_a_seat_cannot_see_changes_nothing_that_it_gets(ruleset: Ruleset, walk: Walk, seed: int) -> None:
    """Hidden cards are exchanged at will: view, texts and pictures stay, and for the seat to move its moves and errors."""
    source = random.Random(seed)
    for state in walk(ruleset, seed):
        if source.random() > 0.04 and state.drawn < state.size:
            continue
        for seat in range(ruleset.players):
            twin = shuffled(state, seat, source)
            assert twin.view(seat) == state.view(seat)
            if seat == state.to_move:
                assert twin.legal_moves() == state.legal_moves()
                for move in ALL_MOVES:
                    assert twin.is_legal(move) == state.is_legal(move)
                    if not state.is_legal(move):
                        assert twin.explain(move) == state.explain(move)
        view = state.view(0)
        assert GAME.text(view) == GAME.text(shuffled(state, 0, source).view(0))
        assert GAME.svg(view) == GAME.svg(shuffled(state, 0, source).view(0))


def shuffled(state: AntiquityState, seat: int, source: random.Random) -> AntiquityState:
    """The same position with all cards exchanged that `seat` has not seen."""
    view = state.view(TABLE)
    hidden = list(view["deck"])
    for hand in view["hands"]:
        if hand["seat"] != seat:
            hidden += [card for card in hand["cards"] if card not in hand["known"]]
    source.shuffle(hidden)
    for hand in view["hands"]:
        if hand["seat"] != seat:
            hand["cards"] = hand["known"] + [hidden.pop() for _ in range(hand["count"] - len(hand["known"]))]
    view["deck"] = hidden
    return GAME.sample(state.ruleset, view, QuickChance(source))


@given(seed=seeds)
@fixtures
def test_a_sample_agrees_with_the_view_and_can_be_played(ruleset: Ruleset, walk: Walk, seed: int) -> None:
    source = random.Random(seed)
    for state in walk(ruleset, seed):
        if source.random() > 0.1 or state.to_move == TABLE:
            continue
        for seat in range(ruleset.players):
            twin = state.determinize(seat, QuickChance(source))
            assert twin.view(seat) == state.view(seat)
            assert twin.legal_moves()
            twin.apply(source.choice(twin.legal_moves()))


def test_samples_follow_the_published_stream(walk: Walk) -> None:
    """Equal chance, equal sample."""
    ruleset = GAME.ruleset(3)
    for number, state in enumerate(walk(ruleset, 5)):
        if number % 25 == 0:
            keys = {state.determinize(1, Chance(bytes(32))).key() for _ in range(3)}
            assert len(keys) == 1


def frequencies(state: AntiquityState, seat: int, other: int, number: int) -> Counter[frozenset[str]]:
    source = QuickChance(random.Random(7))
    hands = (state.determinize(seat, source).view(TABLE)["hands"][other]["cards"] for _ in range(number))
    return Counter(frozenset(hand) for hand in hands)


def test_unseen_hands_are_drawn_evenly(position: Position) -> None:
    """Two unknown cards beside a known one from eight unseen cards: each of the 28 hands as often, within five sigma."""
    s = position(3, hands=("zeus 1 2", "zeus 3 5, petra 1", ""), known=("", "zeus 5"), deck="petra 2 3 5, pharos 1 2 3")
    found = frequencies(s, 0, 1, 5600)
    assert all("zeus-5" in hand for hand in found)
    unseen = ["zeus-3", "petra-1", "petra-2", "petra-3", "petra-5", "pharos-1", "pharos-2", "pharos-3"]
    assert set(found) == {frozenset({"zeus-5", *pair}) for pair in combinations(unseen, 2)}
    assert all(abs(count - 200) < 5 * 14 for count in found.values())


@pytest.mark.parametrize(
    ("moves", "possible"),
    [
        (("build petra",), lambda hand: sum(card.startswith("petra") for card in hand) >= 2),
        (("score ship",), lambda hand: sum(card in SHIPS for card in hand) >= 2),
        (("score ship", "discard petra-1"), lambda hand: sum(card in SHIPS and card > "petra-1" for card in hand) >= 1),
    ],
    ids=["build", "score", "score_second"],
)
def test_hands_in_an_unfinished_choice_are_drawn_evenly_among_the_possible_ones(
    position: Position, play: Play, moves: tuple[str, ...], possible: Callable[[frozenset[str]], bool]
) -> None:
    """The seat to move must be able to finish; every hand with which it can is as likely, within five sigma."""
    s = position(3, hands=("petra 1 9, zeus 3", "", ""), deck="petra 2 3, pharos 1 2 3")
    play(s, *moves)
    hidden = sorted({*s.view(TABLE)["deck"], *s.view(TABLE)["hands"][0]["cards"]})
    count = s.view(TABLE)["hands"][0]["count"]
    wanted = {frozenset(hand) for hand in combinations(hidden, count) if possible(frozenset(hand))}
    found = frequencies(s, 1, 0, 200 * len(wanted))
    assert set(found) == wanted
    assert all(abs(number - 200) < 5 * 14.2 for number in found.values())


def test_a_seat_with_few_cards_still_has_a_choice_in_every_sample(position: Position, play: Play) -> None:
    """After the third action the turn is open for a purchase only, so the three unseen cards hold a pair of a symbol."""
    displays = {"red": "zeus 9 8"}
    s = position(3, hands=("petra 1 9, zeus 3 2",), displays=displays, deck="petra 2 3, pharos 1 2 3 5", actions=1)
    play(s, "improve zeus", "add zeus-3", "done")
    assert (s.to_move, s.actions) == (0, 0)
    source = QuickChance(random.Random(3))
    twins = [s.determinize(1, source) for _ in range(300)]
    assert len({twin.key() for twin in twins}) > 250
    assert all({"end", *map(str, twin.legal_moves())} > {"end"} for twin in twins)
