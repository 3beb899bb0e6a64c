"""`mcts`: determinised Monte Carlo tree search through the public contract only, so it plays every game.

Each iteration draws a position from the view (what is hidden is dealt anew), walks one shared tree of the moves' texts by
UCB over the moves legal there (Cowling, Powley and Whitehouse 2012, single-observer information set search), adds a node,
and plays on, preferring moves that did well on average in this match's searches (after Finnsson and Bjornsson 2008). A
result counts by place and by the margin of the score over the best rival, measured against the margins seen so far.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from typing import ClassVar, Final

from hippodrome.bot import Bot, MatchInfo, Turn, view_dict
from hippodrome.bots.greedy import game_of
from hippodrome.engine.chance import QuickChance
from hippodrome.engine.game import TABLE, Move, Outcome, State

_EXPLORE: Final = 0.7
_GREED: Final = 0.8
"""How often a playout takes the better of two moves by their averages, else any move."""
_PLACE: Final = 0.8
"""What the place counts in a result; the margin counts the rest."""
_PRIOR: Final = 4.0
"""The average of a move counts as much as so many visits of its node."""
_NOISE: Final = 0.1
"""Untried moves of a node come by their averages plus up to this."""
_FADE: Final = 0.8
"""What the averages of earlier searches of the match still count in the next one."""
_DEALS: Final = 12
"""Positions drawn for one decision; the iterations take turns on them."""
_HURRY: Final = 100
"""One part in so many of what the clock allows may go into a decision; the matches of a process share it."""


class Node:
    """A move of the tree: visits, summed value for the seat that made it, times it was legal, what followed."""

    __slots__ = ("children", "seen", "total", "visits")

    def __init__(self) -> None:
        self.children: dict[Move, Node] = {}
        self.visits = self.seen = 0
        self.total = 0.0


class Mcts(Bot):
    """The reference of a strong bot: `iterations` for each decision, fewer when the clock runs short."""

    max_matches: ClassVar[int] = 2
    iterations: ClassVar[int] = 512

    def start(self, match: MatchInfo) -> None:
        self._game, self._ruleset = game_of(match)
        self._habits = Habits(match.players)
        self._number, self._tree = 0, Node()

    def move(self, turn: Turn) -> str:
        if len(turn.legal) == 1:
            return self._follow(turn, self._tree_of(turn), turn.legal[0])
        chance, view = QuickChance(turn.rng), view_dict(turn.view)
        deals = [self._game.sample(self._ruleset, view, chance) for _ in range(min(_DEALS, self.iterations))]
        self._habits.fade()
        search = Search(turn.rng, self._habits, self._tree_of(turn))
        stop = time.monotonic() + turn.limit.total_seconds() / (_HURRY * self.max_matches)
        for i in range(self.iterations):
            search.iterate(deals[i % len(deals)].copy())
            if time.monotonic() > stop:
                break
        return self._follow(turn, search.root, search.best(turn.legal))

    def _tree_of(self, turn: Turn) -> Node:
        """What the last search learnt of the position, if this seat chooses twice running."""
        return self._tree if turn.number == self._number + 1 else Node()

    def _follow(self, turn: Turn, tree: Node, choice: str) -> str:
        """Keep the part of `tree` behind `choice` for the next decision."""
        after = [node for move, node in tree.children.items() if move.text == choice]
        self._number, self._tree = turn.number, after[0] if after else Node()
        return choice


class MctsLight(Mcts):
    """Few iterations, for quick tournaments."""

    max_matches: ClassVar[int] = 8
    iterations: ClassVar[int] = 32


class Habits:
    """By seat: how each move did on average, over this match's searches; older ones count less."""

    def __init__(self, seats: int) -> None:
        self.seats = range(seats)
        self._sums: list[dict[Move, list[float]]] = [{} for _ in self.seats]
        self.value: list[dict[Move, float]] = [{} for _ in self.seats]

    def learn(self, seat: int, move: Move, value: float) -> None:
        """One more result of `move`, from 0 to 1. Each move starts with one result of 0.5."""
        pair = self._sums[seat].get(move)
        if pair is None:
            pair = self._sums[seat][move] = [1.0, 0.5]
        pair[0] += 1
        pair[1] += value
        self.value[seat][move] = pair[1] / pair[0]

    def fade(self) -> None:
        """Let what was learnt so far count less."""
        for sums in self._sums:
            for pair in sums.values():
                pair[0] = 1 + (pair[0] - 1) * _FADE
                pair[1] = 0.5 + (pair[1] - 0.5) * _FADE


class Search:
    """One decision's search."""

    def __init__(self, rng: random.Random, habits: Habits, root: Node) -> None:
        self.root, self._rng, self._habits = root, rng, habits
        self._margins, self._spread = 0, 0.0

    def iterate(self, state: State) -> None:
        """Walk, add a node, play out, learn."""
        path = self._descend(state)
        played = self._play_out(state)
        outcome = state.outcome()
        assert outcome is not None
        values = self._values(outcome)
        for seat, _, node in path:
            node.visits += 1
            node.total += values[seat]
        self.root.visits += 1
        learn = self._habits.learn
        for seat, move in [(seat, move) for seat, move, _ in path] + played:
            learn(seat, move, values[seat])

    def best(self, legal: Sequence[str]) -> str:
        """The legal move visited most."""
        visits = {move.text: node.visits for move, node in self.root.children.items()}
        return max(legal, key=lambda text: visits.get(text, 0))

    def _descend(self, state: State) -> list[tuple[int, Move, Node]]:
        path: list[tuple[int, Move, Node]] = []
        node = self.root
        while state.to_move != TABLE:
            seat, legal = state.to_move, state.legal_moves()
            known = self._habits.value[seat]
            fresh = [move for move in legal if move not in node.children]
            move = self._untried(fresh, known) if fresh else self._choose(node, legal, known)
            child = node.children.setdefault(move, Node())
            for other in legal:
                if other in node.children:
                    node.children[other].seen += 1
            state.apply(move)
            path.append((seat, move, child))
            node = child
            if fresh:
                break
        return path

    def _untried(self, fresh: Sequence[Move], known: dict[Move, float]) -> Move:
        return max(fresh, key=lambda move: known.get(move, 0.5) + _NOISE * self._rng.random())

    def _choose(self, node: Node, legal: Sequence[Move], known: dict[Move, float]) -> Move:
        children = node.children

        def bound(move: Move) -> float:
            child = children[move]
            if not child.visits:
                return math.inf
            mean = (child.total + _PRIOR * known.get(move, 0.5)) / (child.visits + _PRIOR)
            return mean + _EXPLORE * math.sqrt(math.log(child.seen + 1) / child.visits)

        return max(legal, key=bound)

    def _play_out(self, state: State) -> list[tuple[int, Move]]:
        """Play to the end; the moves made, with their seats."""
        played: list[tuple[int, Move]] = []
        rand, habits = self._rng.random, self._habits.value
        while (seat := state.to_move) != TABLE:
            legal = state.legal_moves()
            count = len(legal)
            move = legal[int(rand() * count)]
            if count > 1 and rand() < _GREED:
                known, other = habits[seat], legal[int(rand() * count)]
                if known.get(other, 0.5) > known.get(move, 0.5):
                    move = other
            state.apply(move)
            played.append((seat, move))
        return played

    def _values(self, outcome: Outcome) -> list[float]:
        """By seat, in [0, 1]: for the place and for the margin over the best rival."""
        scores = outcome.scores
        return [_PLACE * outcome.value(seat) + (1 - _PLACE) * self._margin(scores, seat) for seat in self._habits.seats]

    def _margin(self, scores: Sequence[int], seat: int) -> float:
        if len(scores) < 2:
            return 0.5
        margin = scores[seat] - max(score for other, score in enumerate(scores) if other != seat)
        self._margins += 1
        self._spread += (abs(margin) - self._spread) / self._margins
        return 1 / (1 + math.exp(-margin / (self._spread + 1)))


if __name__ == "__main__":
    Mcts.run()
