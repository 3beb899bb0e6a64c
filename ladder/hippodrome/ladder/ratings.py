"""Ratings: pure functions from a log of matches to numbers. The same log in any order gives the same bits.

**Elo** here is the anchored pairwise Bradley-Terry fit of the whole log on the 400-point scale. With S the pair score
(1, 1/2, 0 by places), E_ij = 1/(1 + 10^((R_j - R_i)/400)) and q = ln(10)/400, theta = q (R - mean) maximises

    sum over matches, pairs  c_n [S ln E + (1 - S) ln(1 - E)]  -  sum theta^2 / (2 sigma^2)

* c_n = 3/(n+1) is the weight of a pair at a table of n: it makes the information equal to the variance of the score.
* sigma, the spread of the pool, is fitted too (empirical Bayes, 30 to 350 Elo). The prior keeps all-win versions finite.
* The standard error is the sandwich clustered by block, SE = sqrt(J)/H with J the sum over blocks of the squared gradients
  of a version and H its information, widened for few blocks; the interval uses the t quantile of (blocks - 1).
* Counts are whole half-points, the log is sorted, and sums run in one order: hence the same bits for any order of arrival.

The interval says how well a version's place in the field is known. An anchor only sets the zero of the scale: the mean of
the anchors gets the mean of their given ratings, without anchors the mean of all is 1500.

Source of formulas and of their calibration: docs/ratings.md.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

from hippodrome.ladder import bradley_terry as bt
from hippodrome.ladder.standings import pair_score

K = TypeVar("K", bound=Hashable)
MEAN: Final = 1500.0
"""The mean rating where there is no anchor."""
MAX_SE: Final = 70.0
"""Elo: above this standard error a version is provisional."""
MIN_BLOCKS: Final = 20
"""Below so many blocks a version is provisional."""
_Z: Final = 1.959963984540054
_T: Final = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314,
    2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
)  # fmt: skip
"""The 97.5 % quantile of Student's t with 1, 2, .. 30 degrees of freedom."""


@dataclass(frozen=True, slots=True)
class RatedMatch(Generic[K]):
    """One match: its block, the versions by seat, their places by seat (1 is best, equal places share)."""

    block: str
    seats: tuple[K, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rated:
    """A version's numbers. Elo: `rating`, `se`, `interval` (half of the 95 % interval). `score`: mean pair score of its
    matches, 0 to 1. `rank` among those not provisional, with the best and worst it could be; None while provisional."""

    rating: float
    interval: float
    se: float
    matches: int
    blocks: int
    score: float
    provisional: bool
    anchor: bool
    rank: int | None = None
    rank_best: int | None = None
    rank_worst: int | None = None


def expected(mine: float, other: float) -> float:
    """The expected pair score of rating `mine` against `other`."""
    return 1 / (1 + 10 ** ((other - mine) / 400))


def pair_weight(seats: int) -> float:
    """The weight of each pair at a table of so many seats: 3/(n+1)."""
    return 3 / (seats + 1)


def elo_step(ratings: Sequence[float], places: Sequence[int], k: float = 32.0) -> list[float]:
    """What one match changes in classic Elo, by seat, all from the ratings before it: K c_n sum (S - E).

    For explanations; the ladder itself fits the whole log. The changes sum to zero.
    """
    weight = k * pair_weight(len(ratings))
    return [
        weight * sum(pair_score(p, places[j]) / 2 - expected(r, ratings[j]) for j in range(len(ratings)) if j != i)
        for i, (r, p) in enumerate(zip(ratings, places, strict=True))
    ]


def rate(log: Iterable[RatedMatch[K]], anchors: Mapping[K, float] | None = None) -> dict[K, Rated]:
    """The ratings of all versions in `log`, best first. Leave out what must not count, such as matches of one owner.

    Keys of one log must sort. Versions of a match must differ.
    """
    matches = [match for match in log if len(match.seats) > 1]
    keys: list[K] = sorted({seat for match in matches for seat in match.seats}, key=_as_it_is)
    if not keys:
        return {}
    index = {key: i for i, key in enumerate(keys)}
    played = sorted((m.block, tuple(index[seat] for seat in m.seats), tuple(m.places)) for m in matches)
    fit = bt.fit(len(keys), _pair_counts(played))
    summary = _Summary(played, fit, len(keys))
    pins = {index[key]: value for key, value in (anchors or {}).items() if key in index}
    zero = _zero(fit.theta, pins)
    rows = [summary.rated(i, zero, i in pins) for i in range(len(keys))]
    return _with_ranks(keys, rows)


def rank_spans(rows: Sequence[tuple[float, float]]) -> list[tuple[int, int, int]]:
    """For (rating, SE) in falling order of rating: rank, and the best and worst rank that the data allow at 95 %."""
    spans = []
    for rating, se in rows:
        margins = [(other - rating) / (_Z * math.hypot(se, other_se)) for other, other_se in rows]
        better, worse = sum(m > 1 for m in margins), sum(m < -1 for m in margins)
        spans.append((1 + sum(other > rating for other, _ in rows), 1 + better, len(rows) - worse))
    return spans


def t_quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t."""
    if freedom <= len(_T):
        return _T[freedom - 1]
    return _Z + (_Z**3 + _Z) / (4 * freedom) + (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * freedom**2)


_Played = list[tuple[str, tuple[int, ...], tuple[int, ...]]]


def _as_it_is(key: Any) -> Any:
    """Tells the type checker that keys sort."""
    return key


def _pair_counts(played: _Played) -> bt.PairCounts:
    """(n, i, j) with i < j -> [half-points of i, meetings]."""
    counts: bt.PairCounts = defaultdict(lambda: [0, 0])
    for _, seats, places in played:
        for a, i in enumerate(seats):
            for b in range(a + 1, len(seats)):
                j, half = seats[b], pair_score(places[a], places[b])
                count = counts[(len(seats), i, j) if i < j else (len(seats), j, i)]
                count[0] += half if i < j else 2 - half
                count[1] += 1
    return counts


class _Summary:
    """What is summed for each version besides the fit: matches, blocks, score, the squared gradients by block."""

    def __init__(self, played: _Played, fit: bt.Fit, size: int) -> None:
        self.fit = fit
        self.matches, self.blocks, self.score, self.meat = [0] * size, [0] * size, [0.0] * size, [0.0] * size
        open_block, gradients = "", dict[int, float]()
        for block, seats, places in played:
            if block != open_block:
                self._close(gradients)
                open_block, gradients = block, {}
            self._add(seats, places, gradients)
        self._close(gradients)

    def _add(self, seats: tuple[int, ...], places: tuple[int, ...], gradients: dict[int, float]) -> None:
        weight, theta = pair_weight(len(seats)), self.fit.theta
        for a, i in enumerate(seats):
            half = sum(pair_score(places[a], place) for place in places) - 1
            hoped = sum(bt.logistic(theta[i] - theta[j]) for j in seats if j != i)
            gradients[i] = gradients.get(i, 0.0) + weight * (half / 2 - hoped)
            self.matches[i] += 1
            self.score[i] += half / 2 / (len(seats) - 1)

    def _close(self, gradients: dict[int, float]) -> None:
        for i, gradient in gradients.items():
            self.blocks[i] += 1
            self.meat[i] += gradient * gradient

    def rated(self, i: int, zero: float, anchor: bool) -> Rated:
        interval = self._interval(i)
        se = interval / _Z
        return Rated(
            rating=zero + self.fit.theta[i] / bt.Q,
            interval=interval,
            se=se,
            matches=self.matches[i],
            blocks=self.blocks[i],
            score=self.score[i] / self.matches[i],
            provisional=se > MAX_SE or self.blocks[i] < MIN_BLOCKS,
            anchor=anchor,
        )

    def _interval(self, i: int) -> float:
        """Half of the 95 % interval, in Elo. With few blocks their spread says little: then not below what the information
        alone gives. Never wider than the prior, which is what is known without any match."""
        information, blocks, prior = self.fit.information[i], self.blocks[i], self.fit.prior
        plain = _Z / math.sqrt(information)
        if blocks < 2:
            return min(plain, _Z / math.sqrt(prior)) / bt.Q
        sandwich = math.sqrt(self.meat[i] + prior) / information * math.sqrt(blocks / (blocks - 1.5))
        half = t_quantile(blocks - 1) * sandwich
        if blocks < MIN_BLOCKS:
            half = max(half, plain)
        return min(half, _Z / math.sqrt(prior)) / bt.Q


def _zero(theta: Sequence[float], pins: Mapping[int, float]) -> float:
    """The rating of theta 0."""
    if not pins:
        return MEAN - math.fsum(theta) / len(theta) / bt.Q
    return (math.fsum(pins.values()) - math.fsum(theta[i] for i in pins) / bt.Q) / len(pins)


def _with_ranks(keys: Sequence[K], rows: list[Rated]) -> dict[K, Rated]:
    order = sorted(range(len(keys)), key=lambda i: (rows[i].provisional, -rows[i].rating, i))
    settled = [i for i in order if not rows[i].provisional]
    for i, span in zip(settled, rank_spans([(rows[i].rating, rows[i].se) for i in settled]), strict=True):
        rows[i] = replace(rows[i], rank=span[0], rank_best=span[1], rank_worst=span[2])
    return {keys[i]: rows[i] for i in order}
