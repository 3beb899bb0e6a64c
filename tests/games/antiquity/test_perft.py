"""Exact numbers of move sequences from fixed deals: any change of what is legal shows here."""

from __future__ import annotations

import pytest

from hippodrome.engine.chance import Chance
from hippodrome.games.antiquity import GAME, AntiquityState


def perft(state: AntiquityState, depth: int) -> int:
    moves = state.legal_moves()
    if depth == 1:
        return len(moves)
    total = 0
    for move in moves:
        twin = state.copy()
        twin.apply(move)
        total += perft(twin, depth - 1)
    return total


@pytest.mark.parametrize(
    ("text", "seed", "counts"),
    [
        ("antiquity-2p", 1, (21, 140, 653, 3412)),
        ("antiquity-2p.unused=petra", 2, (21, 136, 610)),
        ("antiquity-3p", 3, (11, 68, 299, 1138)),
        ("antiquity-4p", 4, (7, 44, 195, 667)),
        ("antiquity-3p.power=true", 5, (10, 64, 304, 1220)),
        ("antiquity-2p.power=true.power_variant=true", 6, (23, 146, 637)),
    ],
)
def test_number_of_sequences_of_moves(text: str, seed: int, counts: tuple[int, ...]) -> None:
    state = GAME.new_state(GAME.read_ruleset(text), Chance(bytes([seed]) * 32))
    for _ in range(24):
        state.apply(state.neutral_move())
    assert tuple(perft(state, depth) for depth in range(1, len(counts) + 1)) == counts
