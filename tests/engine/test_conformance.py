"""Every registered game conforms; the checks themselves find a game that is broken in any one way."""

from __future__ import annotations

import importlib
import random
from types import ModuleType
from typing import Any

import pytest

from hippodrome.engine.conformance import CHECKS, Trial, all_rulesets, check_game
from hippodrome.engine.errors import InvalidMove
from hippodrome.engine.game import TABLE, Game, Move, Outcome, Ruleset, State
from hippodrome.games.registry import GAMES, get_game

RULESETS = [(name, str(ruleset)) for name in GAMES for ruleset in all_rulesets(get_game(name))]


@pytest.mark.parametrize(("name", "text"), RULESETS, ids=[text for _, text in RULESETS])
def test_registered_game_conforms(name: str, text: str) -> None:
    """Four games of each default ruleset, one of each other."""
    game = get_game(name)
    seeds = range(1 if "." in text else 4)
    problems = check_game(game, game.read_ruleset(text), seeds)
    assert not problems, "\n".join(map(str, problems))


@pytest.mark.parametrize(("name", "text"), RULESETS, ids=[text for _, text in RULESETS])
def test_views_fill_the_message_of_the_game(name: str, text: str) -> None:
    message = importlib.import_module("hippodrome.v1.view_pb2").View
    game = get_game(name)
    for view in _views(game, game.read_ruleset(text), seed=1):
        assert message(**{name: view}).WhichOneof("game") == name


def test_the_race_conforms(race: Game) -> None:
    rulesets = all_rulesets(race)
    assert [str(ruleset) for ruleset in rulesets][:3] == ["race-2p", "race-2p.goal=8", "race-3p"]
    for ruleset in rulesets:
        assert check_game(race, ruleset, seeds=range(3)) == []


def _views(game: Game, ruleset: Ruleset, seed: int) -> list[dict[str, Any]]:
    trial = Trial(game, ruleset, seed)
    return [state.view(seat) for state in trial.few for seat in trial.viewers]


def _never_ends(m: ModuleType) -> dict[str, Any]:
    return {"_go_on": lambda self, value: None}


def _misses_a_move(m: ModuleType) -> dict[str, Any]:
    return {"legal_moves": lambda self: m.RaceState.legal_moves(self) if self.pushed else [m.ROLL, m.ROLL]}


def _order_changes(m: ModuleType) -> dict[str, Any]:
    turn = iter(range(10**9))
    return {"legal_moves": lambda self: list(m.RaceState.legal_moves(self))[:: 1 - 2 * (next(turn) % 2)]}


def _is_legal_is_lax(m: ModuleType) -> dict[str, Any]:
    return {"is_legal": lambda self, move: self.to_move != TABLE}


def _copy_shares(m: ModuleType) -> dict[str, Any]:
    def copy(self: Any) -> Any:
        twin = m.RaceState.copy(self)
        twin.track = self.track
        return twin

    return {"copy": copy}


def _copy_forgets_the_dice(m: ModuleType) -> dict[str, Any]:
    def copy(self: Any) -> Any:
        twin = m.RaceState.copy(self)
        twin.chance = type(self.chance)(self.chance._seed)
        return twin

    return {"copy": copy}


def _key_is_blind(m: ModuleType) -> dict[str, Any]:
    return {"key": lambda self: str(self.track)}


def _key_hides_the_hands(m: ModuleType) -> dict[str, Any]:
    return {"key": lambda self: f"{self.to_move}{self.track}{len(self.deck)}{self.pushed}"}


def _key_is_not_ascii(m: ModuleType) -> dict[str, Any]:
    return {"key": lambda self: "§" + m.RaceState.key(self)}


def _view_has_a_tuple(m: ModuleType) -> dict[str, Any]:
    return {"view": lambda self, seat: m.RaceState.view(self, seat) | {"goal": (8, 12)}}


def _view_has_no_field_name(m: ModuleType) -> dict[str, Any]:
    return {"view": lambda self, seat: m.RaceState.view(self, seat) | {"Deck count": 1}}


def _view_shares_a_list(m: ModuleType) -> dict[str, Any]:
    return {"view": lambda self, seat: m.RaceState.view(self, seat) | {"track": self.track}}


def _text_leaks_the_deck(m: ModuleType) -> dict[str, Any]:
    return {"view": lambda self, seat: m.RaceState.view(self, seat) | {"next_card": (self.deck or [0])[-1]}}


def _error_leaks_a_hand(m: ModuleType) -> dict[str, Any]:
    def explain(self: Any, move: Move) -> tuple[str, str]:
        return "§Play", f"the next seat holds {self.hands[(self.to_move + 1) % len(self.hands)]}"

    return {"explain": explain}


def _error_is_empty(m: ModuleType) -> dict[str, Any]:
    return {"explain": lambda self, move: ("", "")}


def _outcome_too_early(m: ModuleType) -> dict[str, Any]:
    def outcome(self: Any) -> Outcome:
        scores = tuple(min(fields, int(self.ruleset["goal"])) for fields in self.track)
        return Outcome(tuple(1 + sum(o > s for o in scores) for s in scores), scores, "so it stands")

    return {"outcome": outcome}


def _places_are_no_ranking(m: ModuleType) -> dict[str, Any]:
    def outcome(self: Any) -> Outcome | None:
        true: Outcome | None = m.RaceState.outcome(self)
        return true and Outcome(tuple(place + 1 for place in true.places), true.scores, true.reason)

    return {"outcome": outcome}


def _score_out_of_bounds(m: ModuleType) -> dict[str, Any]:
    def outcome(self: Any) -> Outcome | None:
        true: Outcome | None = m.RaceState.outcome(self)
        return true and Outcome(true.places, tuple(score + 100 for score in true.scores), true.reason)

    return {"outcome": outcome}


def _neutral_is_illegal(m: ModuleType) -> dict[str, Any]:
    return {"neutral_move": lambda self: m.DRAW}


BROKEN_STATES = [
    (_never_ends, "random_games_end"),
    (_misses_a_move, "legal_moves_are_listed"),
    (_misses_a_move, "is_legal_agrees"),
    (_order_changes, "legal_moves_are_listed"),
    (_is_legal_is_lax, "is_legal_agrees"),
    (_copy_shares, "apply_leaves_copies_alone"),
    (_copy_forgets_the_dice, "copies_are_equal"),
    (_key_is_blind, "keys_tell_states_apart"),
    (_key_hides_the_hands, "keys_tell_states_apart"),
    (_key_is_not_ascii, "keys_tell_states_apart"),
    (_view_has_a_tuple, "views_are_plain"),
    (_view_has_no_field_name, "views_are_plain"),
    (_view_shares_a_list, "views_stay"),
    (_text_leaks_the_deck, "secrets_are_kept"),
    (_error_leaks_a_hand, "secrets_are_kept"),
    (_error_is_empty, "errors_are_explained"),
    (_outcome_too_early, "outcomes_are_ranked"),
    (_places_are_no_ranking, "outcomes_are_ranked"),
    (_score_out_of_bounds, "outcomes_are_ranked"),
    (_neutral_is_illegal, "neutral_moves_are_legal"),
]


@pytest.mark.parametrize(("broken", "check"), BROKEN_STATES, ids=[f"{b.__name__[1:]}-{c}" for b, c in BROKEN_STATES])
def test_a_broken_state_is_found(race_module: ModuleType, broken: Any, check: str) -> None:
    assert check in _found(race_module, broken(race_module), {})


def _any_move_reads(m: ModuleType) -> dict[str, Any]:
    return {"parse": lambda self, text: m.MOVES.get(text, m.ROLL)}


def _moves_are_made_anew(m: ModuleType) -> dict[str, Any]:
    def parse(self: Any, text: str) -> Move:
        return Move(m.Race.parse(self, text).text)

    return {"parse": parse}


def _no_reason_for_no_move(m: ModuleType) -> dict[str, Any]:
    def parse(self: Any, text: str) -> Move:
        if text not in m.MOVES:
            raise InvalidMove(text, "")
        move: Move = m.MOVES[text]
        return move

    return {"parse": parse}


def _sample_ignores_chance(m: ModuleType) -> dict[str, Any]:
    source = random.Random(5)

    def sample(self: Any, ruleset: Ruleset, view: dict[str, Any], chance: Any) -> State:
        state: State = m.Race.sample(self, ruleset, view, type(chance)(source.randbytes(32)))
        return state

    return {"sample": sample}


def _sample_reshuffles_the_table(m: ModuleType) -> dict[str, Any]:
    def sample(self: Any, ruleset: Ruleset, view: dict[str, Any], chance: Any) -> State:
        state: Any = m.Race.sample(self, ruleset, view, chance)
        state.deck.sort()
        return state  # type: ignore[no-any-return]

    return {"sample": sample}


def _says_nothing_is_hidden(m: ModuleType) -> dict[str, Any]:
    return {"hidden": False}


def _seed_is_ignored(m: ModuleType) -> dict[str, Any]:
    def new_state(self: Any, ruleset: Ruleset, chance: Any) -> State:
        state: State = m.Race.new_state(self, ruleset, chance.__class__(bytes(32)))
        chance.stream("deck").below(2)
        return state

    return {"new_state": new_state}


def _every_deal_is_new(m: ModuleType) -> dict[str, Any]:
    source = random.Random(7)

    def new_state(self: Any, ruleset: Ruleset, chance: Any) -> State:
        state: State = m.Race.new_state(self, ruleset, chance.__class__(source.randbytes(32)))
        return state

    return {"new_state": new_state}


def _ruleset_does_not_read_back(m: ModuleType) -> dict[str, Any]:
    return {"read_ruleset": lambda self, text: self.ruleset(4, {"goal": 8})}


def _text_is_too_wide(m: ModuleType) -> dict[str, Any]:
    return {"text": lambda self, view: "-" * 81}


def _picture_is_no_xml(m: ModuleType) -> dict[str, Any]:
    return {"svg": lambda self, view: "<svg>"}


def _picture_says_nothing(m: ModuleType) -> dict[str, Any]:
    return {"svg": lambda self, view: '<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 1 1"/>'}


def _picture_has_a_script(m: ModuleType) -> dict[str, Any]:
    return {"svg": lambda self, view: m.Race.svg(self, view).replace("<desc>", "<script>alert(1)</script><desc>")}


BROKEN_GAMES = [
    (_any_move_reads, "moves_read_back"),
    (_moves_are_made_anew, "moves_read_back"),
    (_no_reason_for_no_move, "moves_read_back"),
    (_sample_ignores_chance, "samples_are_states"),
    (_sample_reshuffles_the_table, "samples_are_states"),
    (_says_nothing_is_hidden, "secrets_are_kept"),
    (_seed_is_ignored, "seeds_decide"),
    (_every_deal_is_new, "seeds_decide"),
    (_every_deal_is_new, "records_verify"),
    (_ruleset_does_not_read_back, "rulesets_read_back"),
    (_text_is_too_wide, "pictures_are_readable"),
    (_picture_is_no_xml, "pictures_are_readable"),
    (_picture_says_nothing, "pictures_are_readable"),
    (_picture_has_a_script, "pictures_are_readable"),
]


@pytest.mark.parametrize(("broken", "check"), BROKEN_GAMES, ids=[f"{b.__name__[1:]}-{c}" for b, c in BROKEN_GAMES])
def test_a_broken_game_is_found(race_module: ModuleType, broken: Any, check: str) -> None:
    assert check in _found(race_module, {}, broken(race_module))


def test_every_check_is_shown_to_find_something() -> None:
    assert {check for _, check in BROKEN_STATES + BROKEN_GAMES} == {name for name, _ in CHECKS}


def _found(m: ModuleType, state: dict[str, Any], game: dict[str, Any]) -> set[str]:
    """The checks that a race with some members of its state and its game replaced does not pass."""
    state_class = type("BrokenState", (m.RaceState,), {"__slots__": (), **state})
    broken: Game = type("BrokenRace", (m.Race,), {"state_class": state_class, **game})()
    state_class.game = broken  # type: ignore[attr-defined]
    return {problem.check for problem in check_game(broken, broken.ruleset(3), seeds=range(2))}
