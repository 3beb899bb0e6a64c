"""How fast the rules are: random play and the cost of each operation, on one core.

    python bench/playouts.py [GAME ...] [--seconds 2] [--json]

For every game and number of players: decisions/s and games/s of random play (listing the legal moves, picking one evenly,
applying it), and microseconds for one copy, view, apply, legal_moves, key and sample, each averaged over positions of
random games. Best of several rounds: other work on the machine only ever makes a number worse.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from hippodrome.engine.chance import QuickChance
from hippodrome.engine.errors import HippodromeError
from hippodrome.engine.game import TABLE, Game, Move, Ruleset, State
from hippodrome.games.registry import GAMES, get_game

ROUNDS = 5


@dataclass(frozen=True)
class Row:
    """One line of the table: rates per second, the rest in microseconds."""

    ruleset: str
    decisions: float
    games: float
    length: float
    copy: float
    view: float
    apply: float
    legal_moves: float
    key: float
    sample: float


def play(game: Game, ruleset: Ruleset, source: random.Random) -> int:
    """One random game; the number of its decisions."""
    state, count, pick = game.new_state(ruleset, QuickChance(source)), 0, source.random
    while state.to_move != TABLE:
        moves = state.legal_moves()
        state.apply(moves[int(pick() * len(moves))])
        count += 1
    return count


def rate(game: Game, ruleset: Ruleset, seconds: float) -> tuple[float, float]:
    """Decisions and games a second of CPU time, over `seconds`."""
    source, decisions, games = random.Random(1), 0, 0
    start = time.process_time()
    while (spent := time.process_time() - start) < seconds or not games:
        decisions += play(game, ruleset, source)
        games += 1
    return decisions / spent, games / spent


def positions(game: Game, ruleset: Ruleset, games: int = 5) -> Iterator[tuple[State, Move]]:
    """Each position of some random games with the move played there."""
    source = random.Random(2)
    for _ in range(games):
        state = game.new_state(ruleset, QuickChance(source))
        while state.to_move != TABLE:
            move = source.choice(state.legal_moves())
            yield state.copy(), move
            state.apply(move)


def cost(action: Callable[[State, Move], object], prepared: Callable[[], Sequence[tuple[State, Move]]]) -> float:
    """Microseconds of CPU time for one `action`, the cost of an empty one taken off; best of several rounds."""
    return max(
        0.0, min(_timed(action, prepared()) for _ in range(ROUNDS)) - min(_timed(_nothing, prepared()) for _ in range(ROUNDS))
    )


def _timed(action: Callable[[State, Move], object], pairs: Sequence[tuple[State, Move]]) -> float:
    start = time.process_time()
    for state, move in pairs:
        action(state, move)
    return (time.process_time() - start) / len(pairs) * 1e6


def _nothing(state: State, move: Move) -> None:
    pass


def measure(game: Game, ruleset: Ruleset, seconds: float) -> Row:
    """The row of one ruleset."""
    pairs, quick = list(positions(game, ruleset)), QuickChance(random.Random(3))

    def kept() -> Sequence[tuple[State, Move]]:
        return pairs

    def copies() -> Sequence[tuple[State, Move]]:
        return [(state.copy(), move) for state, move in pairs]

    decisions, games = max(rate(game, ruleset, seconds / ROUNDS) for _ in range(ROUNDS))
    return Row(
        str(ruleset),
        decisions,
        games,
        decisions / games,
        cost(lambda state, move: state.copy(), kept),
        cost(lambda state, move: state.view(state.to_move), kept),
        cost(lambda state, move: state.apply(move), copies),
        cost(lambda state, move: state.legal_moves(), kept),
        cost(lambda state, move: state.key(), kept),
        cost(lambda state, move: state.determinize(state.to_move, quick), kept),
    )


def table(rows: Sequence[Row]) -> str:
    """The rows for a terminal."""
    head = ("ruleset", "decisions/s", "games/s", "length", "copy us", "view us", "apply us", "legal us", "key us", "sample us")
    lines = [f"{head[0]:<24}" + "".join(f"{name:>12}" for name in head[1:])]
    for row in rows:
        rates = f"{row.decisions:>12,.0f}{row.games:>12,.0f}{row.length:>12.0f}"
        costs = (row.copy, row.view, row.apply, row.legal_moves, row.key, row.sample)
        lines.append(f"{row.ruleset:<24}{rates}" + "".join(f"{value:>12.2f}" for value in costs))
    return "\n".join(lines)


def seconds_of(text: str) -> float:
    """A length of time above 0."""
    if not 0 < (seconds := float(text)) < 3600:
        raise argparse.ArgumentTypeError(f"{text} given; fix: give seconds from above 0 up to an hour")
    return seconds


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("game", nargs="*", help=f"games to measure, all when none is named: {', '.join(GAMES)}")
    parser.add_argument("--seconds", type=seconds_of, default=2.0, help="random play for each ruleset (default 2)")
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    given = parser.parse_args(arguments)
    try:
        games = [get_game(name) for name in given.game or GAMES]
    except HippodromeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    rows = [measure(game, game.ruleset(players), given.seconds) for game in games for players in game.players]
    print(json.dumps([asdict(row) for row in rows]) if given.json else table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
