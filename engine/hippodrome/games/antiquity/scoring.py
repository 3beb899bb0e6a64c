"""The final scoring and the order of the seats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hippodrome.engine.game import Outcome
from hippodrome.games.antiquity.components import BOX, SERIES, SYMBOL_CARDS

if TYPE_CHECKING:
    from hippodrome.games.antiquity.state import AntiquityState


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one colour in victory points; `unused` is zero or less."""

    track: int
    monuments: int
    stories: int
    bonus: int
    unused: int
    powers: int

    @property
    def total(self) -> int:
        """ruling 1.5.16: may be negative."""
        return self.track + self.monuments + self.stories + self.bonus + self.unused + self.powers


def score_sheet(s: AntiquityState) -> list[Score]:
    """By colour: the score if the game ended now (it uses public knowledge only)."""
    monuments, stories, bonus = monument_points(s), story_points(s), story_bonus(s)
    return [
        Score(s.points[c], monuments[c], stories[c], bonus[c], unused_points(s, c), power_points(s, c))
        for c in range(s.setting.colours)
    ]


def builders(s: AntiquityState, monument: int) -> list[int]:
    """§VP monuments, ruling 1.5.12: colours that built it, the primary builder first: most cards, then the highest card
    anywhere in the pile."""

    def rank(colour: int) -> tuple[int, int]:
        pile = s.piles[colour * len(SERIES) + monument]
        return len(pile), max(pile, default=-1)

    found = [c for c in range(s.setting.colours) if s.built >> (c * len(SERIES) + monument) & 1]
    return sorted(found, key=rank, reverse=True)


def monument_points(s: AntiquityState) -> list[int]:
    """§VP monuments: the space of the marker pays a sole builder the bold value, two builders the pair of values."""
    points = [0] * s.setting.colours
    for monument, space in enumerate(s.spaces):
        ranked = builders(s, monument)
        values = (BOX.sole,) if len(ranked) == 1 else (BOX.primary, BOX.secondary)
        for colour, row in zip(ranked, values, strict=False):
            points[colour] += row[space]
    return points


def story_points(s: AntiquityState) -> list[int]:
    """§VP stories: each historian scores the value of its space, the number of pages."""
    points = [0] * s.setting.colours
    for story in s.stories:
        points[story[0]] += len(story) - 1
    return points


def story_bonus(s: AntiquityState) -> list[int]:
    """§VP stories, ruling 1.5.15: 9, 6 and 3 VP for the three longest stories, the older first among equals."""
    points = [0] * s.setting.colours
    ranked = sorted(s.stories, key=len, reverse=True)
    for story, bonus in zip(ranked, BOX.rank_bonus, strict=False):
        points[story[0]] += bonus
    return points


def unused_points(s: AntiquityState, colour: int) -> int:
    """§VP stories: 12 VP are lost for each historian that wrote nothing."""
    return BOX.unused_historian * s.historians[colour]


def power_points(s: AntiquityState, colour: int) -> int:
    """§Power: 3 VP for each power card held at the end."""
    return BOX.end_points * s.holders.count(colour)


def monuments_built(s: AntiquityState, colour: int) -> int:
    """Number of monuments in the colour's display."""
    return (s.built >> colour * len(SERIES) & (1 << len(SERIES)) - 1).bit_count()


def longest_story(s: AntiquityState, colour: int) -> tuple[int, int]:
    """Pages of the colour's longest story and minus its place among all stories in time; (0, 0) without a story."""
    return max(((len(story) - 1, -i) for i, story in enumerate(s.stories) if story[0] == colour), default=(0, 0))


def colour_rank(s: AntiquityState, colour: int, total: int) -> tuple[int, ...]:
    """§Victory, ruling 1.5.24: most VP, then most monuments built, then the longest story, then the older of equal ones."""
    return (total, monuments_built(s, colour), *longest_story(s, colour))


def pair_rank(s: AntiquityState, seat: int, totals: list[int]) -> tuple[int, ...]:
    """§Two-player, ruling 1.5.7: the lower score of the two colours, then the higher one, then the monuments of the lower
    colour (of two equal colours, the one with fewer)."""
    pair = sorted((totals[c], monuments_built(s, c)) for c, owner in enumerate(s.setting.seat_of) if owner == seat)
    return (pair[0][0], pair[1][0], pair[0][1])


def outcome(s: AntiquityState) -> Outcome:
    """§Victory: places by rank, equal ranks share; the score of a seat is its total, with two players the lower one."""
    totals = [score.total for score in score_sheet(s)]
    seats = range(s.setting.players)
    if s.setting.players == 2:
        ranks = [pair_rank(s, seat, totals) for seat in seats]
    else:
        ranks = [colour_rank(s, seat, totals[seat]) for seat in seats]
    places = tuple(1 + sum(other > mine for other in ranks) for mine in ranks)
    return Outcome(places, tuple(rank[0] for rank in ranks), "the deck could not fill the row of face-up cards")


def score_bounds(players: int, power: bool) -> tuple[int, int]:
    """Lowest and highest score of a seat. The highest adds up bounds that no single game can reach together.

    Lowest: no VP, every historian unused. Highest: sole builder of every series on the last space; every historian on
    a space of 12 pages a rival display, at most 24, and all bonuses; the score action, by symbol some pairs of its cards
    with all others of them (and a power card) on display; excess pages, at most 8 cards a series are collected;
    acquisitions, at most one for each card that enters or leaves the displays.
    """
    historians = BOX.historians[players]
    monuments = len(SERIES) * max(BOX.sole)
    stories = historians * 2 * len(SERIES) + sum(BOX.rank_bonus)
    score_actions = sum(_most_by_pairs(cards.bit_count(), power) for cards in SYMBOL_CARDS)
    excess = len(SERIES) * 8 * max(BOX.overflow_higher, BOX.overflow_other)
    powers = (2 * 108 * BOX.acquire_points + 3 * BOX.end_points) if power else 0
    return historians * BOX.unused_historian, BOX.start_points + monuments + stories + score_actions + excess + powers


def _most_by_pairs(cards: int, more: int) -> int:
    """The most points of the pairs of a symbol with that many cards, when `more` things on display count like cards."""
    return max(pairs * (cards - 2 * pairs + more) for pairs in range(cards // 2 + 1))
