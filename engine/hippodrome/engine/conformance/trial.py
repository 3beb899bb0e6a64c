"""A trial: one random game with all its positions, which the checks look at."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final

from hippodrome.engine.chance import Chance
from hippodrome.engine.game import TABLE, Game, Move, Ruleset, State

BOUND: Final = 20_000
"""A random game of more decisions counts as one that does not end."""
_FEW: Final = 12


class Trial:
    """One random game: `states[i]` is the position before `moves[i]`, the last state the one where play stopped."""

    def __init__(self, game: Game, ruleset: Ruleset, seed: int) -> None:
        self.game, self.ruleset, self.seed = game, ruleset, seed
        self.states: list[State] = []
        self.moves: list[Move] = []
        self._play(random.Random(seed))

    def _play(self, source: random.Random) -> None:
        state = self.new_state()
        while state.to_move != TABLE and len(self.moves) < BOUND:
            self.states.append(state.copy())
            self.moves.append(source.choice(state.legal_moves()))
            state.apply(self.moves[-1])
        self.states.append(state)

    def new_state(self, salt: int = 0) -> State:
        """The first position of this trial's seed, or of another one."""
        return self.game.new_state(self.ruleset, self.chance(salt))

    def chance(self, salt: int = 0) -> Chance:
        """The match's chance; with `salt` an unrelated one."""
        return Chance(hashlib.sha256(f"conformance/{self.seed}/{salt}".encode("ascii")).digest())

    @property
    def ended(self) -> bool:
        """Whether play came to its end within the bound."""
        return self.states[-1].to_move == TABLE

    @property
    def open(self) -> list[State]:
        """The positions in which a seat is to move."""
        return [state for state in self.states if state.to_move != TABLE]

    @cached_property
    def few(self) -> list[State]:
        """At most a dozen positions from first to last."""
        last = len(self.states) - 1
        return [self.states[i] for i in sorted({round(last * k / (_FEW - 1)) for k in range(_FEW)})]

    @cached_property
    def seen(self) -> list[Move]:
        """All moves that were legal at some time, in order of appearance."""
        return list(dict.fromkeys(move for state in self.states for move in state.legal_moves()))

    @property
    def viewers(self) -> range:
        """TABLE and all seats."""
        return range(TABLE, self.ruleset.players)

    def illegal(self, state: State) -> list[Move]:
        """Moves seen in this game that are not legal in `state`."""
        return [move for move in self.seen if not state.is_legal(move)]


Check = Callable[[Trial], Iterator[str]]
"""Yields a sentence for each thing that is wrong."""
