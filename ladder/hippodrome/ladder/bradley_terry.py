"""The fit under the ratings: weighted pairwise Bradley-Terry with a normal prior, by Newton's method. Pure Python.

Thetas are in nats (Elo times Q) around 0. Every sum runs in the sorted order of the pairs: equal counts give equal bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

Q: Final = math.log(10) / 400
"""Nats in one Elo."""
PairCounts = dict[tuple[int, int, int], list[int]]
"""(seats n, i, j) with i < j -> [half-points of i against j, meetings]."""
_START: Final = 150.0
_SPREAD: Final = (30.0, 350.0)
"""Elo: the usual spread of a pool, and the bounds of the fitted one."""
_USUAL: Final = 4
"""How many versions' worth of evidence the usual spread is."""
_ROUNDS: Final = 30
_STEPS: Final = 60
_DONE: Final = 1e-12
_DENSE: Final = 60
"""Up to so many versions the diagonal of the inverse is exact; above, 1/H_ii is within one per cent of it."""


@dataclass(frozen=True, slots=True)
class Fit:
    """`theta` in nats, `information` the diagonal of the Hessian with its prior, `prior` = 1/sigma^2 in 1/nats^2 (0: none)."""

    theta: list[float]
    information: list[float]
    prior: float


@dataclass(frozen=True, slots=True)
class _Pair:
    i: int
    j: int
    weight: float
    won: float


def logistic(x: float) -> float:
    """1/(1 + e^-x), without overflow."""
    if x >= 0:
        return 1 / (1 + math.exp(-x))
    small = math.exp(x)
    return small / (1 + small)


def fit(size: int, counts: Mapping[tuple[int, int, int], Sequence[int]]) -> Fit:
    """Fit `size` thetas and the spread of the pool: the spread is what the thetas and their uncertainty show, repeatedly."""
    pairs = _pairs(counts)
    theta, sigma = [0.0] * size, _START * Q
    for _ in range(_ROUNDS):
        theta = solve(size, pairs, 1 / sigma**2, theta)
        spread = _spread(pairs, theta, 1 / sigma**2)
        if abs(spread - sigma) < 1e-4 * sigma:
            break
        sigma = spread
    return Fit(theta, _diagonal(pairs, theta, 1 / sigma**2), 1 / sigma**2)


def fit_plain(size: int, counts: Mapping[tuple[int, int, int], Sequence[int]]) -> list[float]:
    """The thetas without a prior, their mean 0. Everybody must be connected by wins and losses, else it does not converge."""
    return solve(size, _pairs(counts), 0.0, [0.0] * size)


def solve(size: int, pairs: Sequence[_Pair], prior: float, start: Sequence[float]) -> list[float]:
    """Newton's method from `start`; a step that would make things worse is halved."""
    theta = list(start)
    value = _objective(pairs, theta, prior)
    for _ in range(_STEPS):
        gradient, weights = _slopes(pairs, theta, prior)
        step = _conjugate(gradient, weights, pairs, _diagonal_of(size, pairs, weights, prior), prior)
        scale = 1.0
        while scale > 1e-6:
            moved = [t + scale * s for t, s in zip(theta, step, strict=True)]
            better = _objective(pairs, moved, prior)
            if better >= value - 1e-12 * abs(value):
                break
            scale /= 2
        theta, value = moved, better
        if scale * max(map(abs, step)) < _DONE:
            break
    return theta


def _pairs(counts: Mapping[tuple[int, int, int], Sequence[int]]) -> list[_Pair]:
    """One row for each pair of versions, the table sizes added up in their order."""
    rows: dict[tuple[int, int], list[float]] = {}
    for (n, i, j), (half, meetings) in sorted(counts.items()):
        row = rows.setdefault((i, j), [0.0, 0.0])
        row[0] += 3 / (n + 1) * meetings
        row[1] += 3 / (n + 1) * half / 2
    return [_Pair(i, j, weight, won) for (i, j), (weight, won) in sorted(rows.items())]


def _objective(pairs: Sequence[_Pair], theta: Sequence[float], prior: float) -> float:
    """The log likelihood plus the log prior."""
    total = 0.0
    for p in pairs:
        x = theta[p.i] - theta[p.j]
        total += p.won * x - p.weight * (max(x, 0.0) + math.log1p(math.exp(-abs(x))))
    return total - prior / 2 * sum(t * t for t in theta)


def _slopes(pairs: Sequence[_Pair], theta: Sequence[float], prior: float) -> tuple[list[float], list[float]]:
    """The gradient by version, and T E (1-E) by pair."""
    gradient = [-prior * t for t in theta]
    weights = []
    for p in pairs:
        e = logistic(theta[p.i] - theta[p.j])
        slope = p.won - p.weight * e
        gradient[p.i] += slope
        gradient[p.j] -= slope
        weights.append(p.weight * e * (1 - e))
    return gradient, weights


def _diagonal_of(size: int, pairs: Sequence[_Pair], weights: Sequence[float], prior: float) -> list[float]:
    diagonal = [prior] * size
    for p, w in zip(pairs, weights, strict=True):
        diagonal[p.i] += w
        diagonal[p.j] += w
    return diagonal


def _diagonal(pairs: Sequence[_Pair], theta: Sequence[float], prior: float) -> list[float]:
    return _diagonal_of(len(theta), pairs, _slopes(pairs, theta, prior)[1], prior)


def _conjugate(
    gradient: Sequence[float], weights: Sequence[float], pairs: Sequence[_Pair], diagonal: Sequence[float], prior: float
) -> list[float]:
    """H x = gradient by conjugate gradients, preconditioned with the diagonal. Without a prior H is singular along (1, .., 1):
    the gradient has no part there, so neither has the answer."""
    edges = [(p.i, p.j, w) for p, w in zip(pairs, weights, strict=True)]

    def times(x: Sequence[float]) -> list[float]:
        product = [prior * value for value in x]
        for i, j, w in edges:
            flow = w * (x[i] - x[j])
            product[i] += flow
            product[j] -= flow
        return product

    return _conjugate_gradients(times, gradient, [1 / d if d > 0 else 0.0 for d in diagonal])


def _conjugate_gradients(
    times: Callable[[Sequence[float]], list[float]], right: Sequence[float], inverse: Sequence[float]
) -> list[float]:
    x, residual = [0.0] * len(right), list(right)
    scaled = [r * m for r, m in zip(residual, inverse, strict=True)]
    direction, rho = scaled[:], _dot(residual, scaled)
    target = rho * 1e-24
    for _ in range(2 * len(right) + 10):
        if rho <= target or rho == 0:
            break
        product = times(direction)
        alpha = rho / _dot(direction, product)
        for k in range(len(x)):
            x[k] += alpha * direction[k]
            residual[k] -= alpha * product[k]
        scaled = [r * m for r, m in zip(residual, inverse, strict=True)]
        rho, before = _dot(residual, scaled), rho
        direction = [s + rho / before * d for s, d in zip(scaled, direction, strict=True)]
    return x


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(map(float.__mul__, a, b))


def _spread(pairs: Sequence[_Pair], theta: Sequence[float], prior: float) -> float:
    """One step of expectation and maximisation for sigma: the mean of theta^2 + its variance, within bounds. In nats.

    A small pool tells little about its spread, so the usual spread counts as much as some versions more."""
    variance = _variances(pairs, theta, prior)
    seen = sum(t * t + v for t, v in zip(theta, variance, strict=True))
    mean = (seen + _USUAL * (_START * Q) ** 2) / (len(theta) + _USUAL)
    low, high = (bound * Q for bound in _SPREAD)
    return min(max(math.sqrt(mean), low), high)


def _variances(pairs: Sequence[_Pair], theta: Sequence[float], prior: float) -> list[float]:
    """The diagonal of the inverse Hessian."""
    if len(theta) > _DENSE:
        return [1 / h for h in _diagonal(pairs, theta, prior)]
    weights = _slopes(pairs, theta, prior)[1]
    matrix = [[0.0] * len(theta) for _ in theta]
    for i, d in enumerate(_diagonal_of(len(theta), pairs, weights, prior)):
        matrix[i][i] = d
    for p, w in zip(pairs, weights, strict=True):
        matrix[p.i][p.j] = matrix[p.j][p.i] = -w
    return _inverse_diagonal(matrix)


def _inverse_diagonal(matrix: list[list[float]]) -> list[float]:
    """The diagonal of the inverse of a symmetric positive matrix, through its Cholesky factor L: the squared columns of 1/L."""
    size = len(matrix)
    lower = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            rest = matrix[i][j] - _dot(lower[i][:j], lower[j][:j])
            lower[i][j] = math.sqrt(rest) if i == j else rest / lower[j][j]
    diagonal = []
    for column in range(size):
        x = [0.0] * size
        for i in range(column, size):
            x[i] = (float(i == column) - _dot(lower[i][column:i], x[column:i])) / lower[i][i]
        diagonal.append(_dot(x, x))
    return diagonal
