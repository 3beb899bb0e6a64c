"""Checks of how a game plays: its end, moves, copies, keys, outcome, seeds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Final

from hippodrome.engine.conformance.trial import BOUND, Trial
from hippodrome.engine.errors import InvalidMove
from hippodrome.engine.game import TABLE, State

_NO_MOVES: Final = ("", " ", "no such move", "0", "x" * 150, "\u00e9", "\n", "()")


def random_games_end(trial: Trial) -> Iterator[str]:
    """Random play comes to an end."""
    if not trial.ended:
        yield f"not over after {BOUND} decisions"


def rulesets_read_back(trial: Trial) -> Iterator[str]:
    """The text of the ruleset reads back, and the game keeps the ruleset."""
    if trial.game.read_ruleset(str(trial.ruleset)) != trial.ruleset:
        yield f"{str(trial.ruleset)!r} reads back as another ruleset"
    if any(state.ruleset != trial.ruleset for state in trial.few):
        yield "a state has another ruleset"


def legal_moves_are_listed(trial: Trial) -> Iterator[str]:
    """At least one before the end, none after it, no doubles, the same list each time."""
    for n, state in enumerate(trial.states):
        legal = list(state.legal_moves())
        if bool(legal) != (state.to_move != TABLE):
            yield f"{len(legal)} legal moves after {n} moves with to_move {state.to_move}"
        if len(set(legal)) < len(legal):
            yield f"doubles among the legal moves after {n} moves"
        if list(state.legal_moves()) != legal or list(state.copy().legal_moves()) != legal:
            yield f"the order of the legal moves is not fixed after {n} moves"


def is_legal_agrees(trial: Trial) -> Iterator[str]:
    """`is_legal` says of every move what the list says."""
    for n, state in enumerate(trial.states):
        legal = set(state.legal_moves())
        yield from (f"is_legal({m}) is wrong after {n} moves" for m in trial.seen if state.is_legal(m) != (m in legal))


def moves_read_back(trial: Trial) -> Iterator[str]:
    """The text of a move names that very object; anything else is refused with InvalidMove."""
    for move in trial.seen:
        if trial.game.parse(move.text) is not move:
            yield f"{move.text!r} reads back as another object"
        if not move.text.isascii() or not move.text.isprintable() or move.text.split(" ") != move.text.split():
            yield f"{move.text!r} is not one line of ASCII words"
    for text in _NO_MOVES:
        try:
            yield f"{text!r} reads as {trial.game.parse(text)!r}"
        except InvalidMove as error:
            if not error.reason.strip():
                yield f"no reason why {text!r} is no move"


def apply_leaves_copies_alone(trial: Trial) -> Iterator[str]:
    """Playing any legal move on a copy leaves the original as it was."""
    for state in trial.few:
        before = _whole(trial, state)
        for move in state.legal_moves():
            state.copy().apply(move)
        if _whole(trial, state) != before:
            yield f"moves on copies of the position {before[0]!r} change it"


def copies_are_equal(trial: Trial) -> Iterator[str]:
    """A copy is the same in all it shows, and the same moves lead both to the same positions, chance included."""
    for n, state in enumerate(trial.states):
        if state.copy().key() != state.key():
            yield f"a copy after {n} moves has another key"
    for state in trial.few:
        if _whole(trial, state.copy()) != _whole(trial, state):
            yield f"a copy of {state.key()!r} differs"
    for n in {0, len(trial.moves) // 2}:
        state = trial.states[n].copy()
        for move, after in zip(trial.moves[n:], trial.states[n + 1 :], strict=True):
            state.apply(move)
            if state.key() != after.key():
                yield f"a copy after {n} moves goes another way than its original"
                break


def keys_tell_states_apart(trial: Trial) -> Iterator[str]:
    """A key is one line of ASCII, steady, changes with every move, and equal keys mean equal states."""
    keys = [state.key() for state in trial.states]
    yield from (f"key {key!r} is not one line of ASCII" for key in keys if not (key.isascii() and key.isprintable() and key))
    for n, move in enumerate(trial.moves):
        if keys[n] == keys[n + 1]:
            yield f"{move} after {n} moves leaves the key as it was"
    if keys != [state.key() for state in trial.states]:
        yield "asking for the key changes it"
    views: dict[str, Any] = {}
    for state in itertools.chain(trial.states, (state.determinize(0, trial.chance(1)) for state in trial.few)):
        if views.setdefault(state.key(), state.view(TABLE)) != state.view(TABLE):
            yield f"two states with different views of the table have the key {state.key()!r}"


def outcomes_are_ranked(trial: Trial) -> Iterator[str]:
    """An outcome only at the end; places are a competition ranking; scores keep to their bounds."""
    for n, state in enumerate(trial.states):
        if (state.outcome() is not None) != (state.to_move == TABLE):
            yield f"outcome {state.outcome()} with to_move {state.to_move} after {n} moves"
    outcome, players = trial.states[-1].outcome(), trial.ruleset.players
    if outcome is None:
        return
    low, high = trial.game.score_bounds(trial.ruleset)
    if len(outcome.places) != players or len(outcome.scores) != players or not outcome.reason.strip():
        yield f"{outcome} does not name a place and a score for each of {players} seats and a reason"
    if any(place != 1 + sum(other < place for other in outcome.places) for place in outcome.places):
        yield f"places {outcome.places} are no ranking in which the best is 1 and equals share a place"
    if not all(low <= score <= high for score in outcome.scores):
        yield f"scores {outcome.scores} are not within {low} and {high}"


def neutral_moves_are_legal(trial: Trial) -> Iterator[str]:
    """The neutral move is legal wherever it may be needed, and neutral play ends."""
    for n, state in enumerate(trial.open):
        if not state.is_legal(state.neutral_move()):
            yield f"the neutral move {state.neutral_move()} is not legal after {n} moves"
            return
    state, count = trial.new_state(), 0
    while state.to_move != TABLE and count < BOUND:
        state.apply(state.neutral_move())
        count += 1
    if state.to_move != TABLE:
        yield f"neutral play is not over after {BOUND} decisions"


def seeds_decide(trial: Trial) -> Iterator[str]:
    """The same seed gives the same game, and where chance plays a part another seed gives another one."""
    again = Trial(trial.game, trial.ruleset, trial.seed)
    if [s.key() for s in again.states] != [s.key() for s in trial.states]:
        yield "played again it is another game"
    chance = trial.chance()
    trial.game.new_state(trial.ruleset, chance)
    drawn = bool(chance.take_log())
    if drawn and len({trial.new_state(salt).key() for salt in range(9)}) == 1:
        yield "nine seeds give one set-up"


def _whole(trial: Trial, state: State) -> tuple[Any, ...]:
    views = [state.view(seat) for seat in trial.viewers]
    return state.key(), state.to_move, list(state.legal_moves()), state.outcome(), views
