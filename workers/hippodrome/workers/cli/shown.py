"""The tables that several commands show: matches, crosstable, ladder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from hippodrome.workers.cli.output import Column, table

if TYPE_CHECKING:
    from hippodrome.ladder.pages import LadderPage, MatchPage, TournamentPage

MOST_OPPONENTS: Final = 8
"""Beyond so many entries the columns of the single opponents may be left out."""


def short_version(name: str) -> str:
    """`bots/quokka/versions/3` -> `quokka@3`."""
    return name.removeprefix("bots/").replace("/versions/", "@")


def match_table(matches: Sequence[MatchPage]) -> str:
    """One row a match: seats, how it ended, places by seat."""
    columns = (
        Column("match"),
        Column("ruleset", drop=2),
        Column("seats"),
        Column("ended"),
        Column("places"),
        Column("moves", True, 1),
    )
    return table(columns, [_match_row(match) for match in matches])


def _match_row(match: MatchPage) -> tuple[str, ...]:
    seats, places = " ".join(seat.bot.removeprefix("bots/") for seat in match.seats), " ".join(map(str, match.places))
    return match.name.removeprefix("matches/"), match.ruleset, seats, match.ending or match.state, places, str(match.moves)


def crosstable(tournament: TournamentPage) -> str:
    """The standings with the points against each opponent, `7/10`: points of meetings."""
    order = [tournament.entries.index(row.bot_version) for row in tournament.standings]
    drop = 3 if len(order) > MOST_OPPONENTS else 0
    opponents = [Column(str(n + 1), right=True, drop=drop) for n in range(len(order))]
    columns = Column("#", True), Column("bot"), *opponents, Column("points", True), Column("faults", True, 1)
    rows = []
    for place, row in enumerate(tournament.standings):
        cells = [_against(row.against[other], row.meetings[other], other == order[place]) for other in order]
        points = f"{round(row.points, 2):g}/{row.matches}"
        rows.append((str(place + 1), short_version(row.bot_version), *cells, points, str(row.faults)))
    return table(columns, rows)


def _against(points: float, meetings: int, own: bool) -> str:
    return "-" if own else f"{round(points, 2):g}/{meetings}"


def ladder_table(ladder: LadderPage) -> str:
    """The ladder with the half-width of each 95 % interval."""
    columns = (
        Column("#", True), Column("bot"), Column("Elo", True), Column("± 95%", True), Column("score", True, 2),
        Column("matches", True), Column("blocks", True, 4), Column("faults", True, 1), Column("note", drop=3),
    )  # fmt: skip
    rows = [
        (
            str(row.rank or ""), short_version(row.bot_version), f"{row.rating:.0f}", f"{row.interval:.0f}", f"{row.score:.3f}",
            str(row.matches), str(row.blocks), str(row.faults),
            "anchor" if row.anchor else "provisional" if row.provisional else "",
        )
        for row in ladder.rows
    ]  # fmt: skip
    return table(columns, rows)
