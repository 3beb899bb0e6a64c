"""`greedy`: looks one choice ahead. It tries each legal move on a position drawn from its view, finishes a compound choice
the same way, and takes what leaves it best off by a plain evaluation of the game."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import ClassVar, Final

from hippodrome.bot import Bot, MatchInfo, Turn, view_dict
from hippodrome.engine.chance import QuickChance
from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import Game, Move, Ruleset, State
from hippodrome.games.registry import get_game, read_ruleset

EVALUATIONS: Final = {"antiquity": "hippodrome.bots.antiquity"}
"""Game -> module with `worth(state, seat) -> float` and `settled(state, seat) -> bool` (no compound choice is open)."""


class Greedy(Bot):
    """The reference of a sensible beginner."""

    max_matches: ClassVar[int] = 8

    def start(self, match: MatchInfo) -> None:
        if match.game not in EVALUATIONS:
            raise FieldError("game", f"greedy has no evaluation of {match.game!r}", f"play one of {', '.join(EVALUATIONS)}")
        evaluation = import_module(EVALUATIONS[match.game])
        self._worth: Callable[[State, int], float] = evaluation.worth
        self._settled: Callable[[State, int], bool] = evaluation.settled
        self._game, self._ruleset = game_of(match)

    def move(self, turn: Turn) -> str:
        if len(turn.legal) == 1:
            return turn.legal[0]
        position = self._game.sample(self._ruleset, view_dict(turn.view), QuickChance(turn.rng))
        return max(turn.legal, key=lambda text: self._after(position, text, turn.seat))

    def _after(self, position: State, text: str, seat: int) -> float:
        """The worth once `text` is played in `position` and the choice is finished."""
        state = position.copy()
        state.apply(self._game.parse(text))
        while not self._settled(state, seat):
            state.apply(max(state.legal_moves(), key=lambda move: self._next(state, move, seat)))
        return self._worth(state, seat)

    def _next(self, state: State, move: Move, seat: int) -> float:
        twin = state.copy()
        twin.apply(move)
        return self._worth(twin, seat)


def game_of(match: MatchInfo) -> tuple[Game, Ruleset]:
    """The rules of a match."""
    ruleset = read_ruleset(match.ruleset)
    return get_game(ruleset.game), ruleset


if __name__ == "__main__":
    Greedy.run()
