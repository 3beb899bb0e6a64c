"""Positions set up by hand, through the public way from a table view to a state."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hippodrome.engine.chance import Chance, QuickChance
from hippodrome.engine.game import TABLE, Ruleset
from hippodrome.games.antiquity import GAME, AntiquityState
from hippodrome.games.antiquity.components import BOX, COLOURS, POWERS, SERIES, SYMBOL_WORDS
from hippodrome.games.antiquity.state import setting_of

Position = Callable[..., AntiquityState]
Play = Callable[..., AntiquityState]
Words = Callable[[AntiquityState], list[str]]

RULESETS = [
    GAME.ruleset(players, options)
    for players in (2, 3, 4)
    for options in ({}, {"power": True}, {"power": True, "power_variant": True})
] + [GAME.ruleset(2, {"unused": "petra"})]


def cards(words: str) -> list[str]:
    """`petra 1 9, zeus 4` -> petra-1, petra-9, zeus-4."""
    parts = [part.split() for part in words.split(",") if part.strip()]
    return [f"{name}-{value}" for name, *values in parts for value in values]


def _position(
    players: int = 3,
    *,
    displays: dict[str, str] | None = None,
    hands: tuple[str, ...] = (),
    known: tuple[str, ...] = (),
    deck: str | int = 20,
    face_up: str | int = 3,
    spaces: dict[str, int] | None = None,
    points: dict[str, int] | None = None,
    stories: tuple[str, ...] = (),
    holders: dict[str, str] | None = None,
    used: tuple[str, ...] = (),
    actions: int = BOX.actions,
    fresh: bool | None = None,
    bought: bool = False,
    to_move: int = 0,
    over: bool = False,
    **options: Any,
) -> AntiquityState:
    """A position. Displays and hands are written like `petra 1 9, zeus 4` (piles bottom to top); a story `red: petra 1`.

    A number for `deck` or `face_up` takes that many cards that are nowhere else; all other cards are removed ones.
    """
    ruleset = GAME.ruleset(players, options)
    setting = setting_of(ruleset)
    piles = {colour: _piles(words) for colour, words in (displays or {}).items()}
    held = [cards(words) for words in (*hands, *[""] * (players - len(hands)))]
    written = [(line.partition(":")[0], cards(line.partition(":")[2])) for line in stories]
    placed = [c for row in piles.values() for pile in row for c in pile["cards"]]
    placed += [c for hand in held for c in hand] + [c for _, pages in written for c in pages]
    placed += [c for words in (deck, face_up) if isinstance(words, str) for c in cards(words)]
    assert len(set(placed)) == len(placed), "a card lies in two places"
    rest = [f"{SERIES[c // 9]}-{c % 9 + 1}" for c in setting.cards]
    rest = [c for c in rest if c not in placed]
    row = cards(face_up) if isinstance(face_up, str) else [rest.pop() for _ in range(face_up)]
    pile = cards(deck) if isinstance(deck, str) else [rest.pop() for _ in range(deck)]
    counts = {colour: sum(owner == colour for owner, _ in written) for colour in COLOURS}
    builders = {name: sum(p["monument"] == name for ps in piles.values() for p in ps) for name in SERIES}
    view = {
        "phase": "over" if over else "turn",
        "actions": actions,
        "fresh": actions == BOX.actions and not bought if fresh is None else fresh,
        "bought": bought,
        "used_powers": list(used),
        "colours": [
            {
                "colour": colour,
                "seat": setting.seat_of[i],
                "points": (points or {}).get(colour, 0),
                "historians": setting.historians - counts[colour],
                "piles": piles.get(colour, []),
            }
            for i, colour in enumerate(COLOURS[: setting.colours])
        ],
        "monuments": [
            {"monument": SERIES[m], "space": (spaces or {}).get(SERIES[m], 0), "available": 2 - builders[SERIES[m]]}
            for m in setting.series
        ],
        "stories": [{"colour": colour, "cards": pages} for colour, pages in written],
        "face_up": row,
        "deck_count": len(pile),
        "discards": rest,
        "hands": [
            {"seat": seat, "count": len(hand), "cards": hand, "known": cards(known[seat]) if seat < len(known) else []}
            for seat, hand in enumerate(held)
        ],
        "power_cards": [{"card": p, "holder": (holders or {}).get(p, "")} for p in POWERS] if setting.power else [],
        "deck": pile,
    }
    if not over:
        view["to_move"] = to_move
    return GAME.sample(ruleset, view, QuickChance(random.Random(0)))


def _piles(words: str) -> list[dict[str, Any]]:
    parts = sorted((part.split() for part in words.split(",")), key=lambda part: SERIES.index(part[0]))
    return [{"monument": name, "cards": [f"{name}-{value}" for value in values]} for name, *values in parts]


@pytest.fixture
def position() -> Position:
    """Builds a position; see `_position`."""
    return _position


@pytest.fixture
def play() -> Play:
    """Plays moves given as text, each checked to be legal."""

    def run(state: AntiquityState, *texts: str) -> AntiquityState:
        for text in texts:
            move = GAME.parse(text)
            assert state.is_legal(move), f"{text}: {state.explain(move)}; legal: {state.legal_moves()}"
            state.apply(move)
        return state

    return run


@pytest.fixture
def words() -> Words:
    """The legal moves as texts."""
    return lambda state: [move.text for move in state.legal_moves()]


@pytest.fixture
def shown() -> Callable[[AntiquityState, str, str], int]:
    """Cards of a symbol on display of a colour."""
    return lambda state, word, colour: state.shown[SYMBOL_WORDS.index(word) * 4 + COLOURS.index(colour)]


@pytest.fixture(params=RULESETS, ids=str)
def ruleset(request: pytest.FixtureRequest) -> Ruleset:
    """Every way to play."""
    found: Ruleset = request.param
    return found


@pytest.fixture
def walk() -> Callable[[Ruleset, int], Iterator[AntiquityState]]:
    """All positions of a random game, the last one included; each is the same object, moved on."""

    def run(ruleset: Ruleset, seed: int) -> Iterator[AntiquityState]:
        source = random.Random(f"{ruleset} {seed}")
        state = GAME.new_state(ruleset, Chance(source.randbytes(32)))
        yield state
        while state.to_move != TABLE:
            state.apply(source.choice(state.legal_moves()))
            yield state

    return run
