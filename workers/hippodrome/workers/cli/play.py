"""`hippodrome play`: matches on this machine, without a server. The same referee and clock as everywhere."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import closing, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from hippodrome.engine.clock import TimeControl
from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import Ruleset
from hippodrome.engine.record import dumps
from hippodrome.engine.referee import Policy
from hippodrome.games.registry import get_game, read_ruleset
from hippodrome.workers.cli.output import Column, emit, json_option, paragraph, progress, say, table
from hippodrome.workers.cli.report import BOT, INTERRUPTED

if TYPE_CHECKING:
    from hippodrome.workers.local import Played
    from hippodrome.workers.local_series import Planned, Row, Series, SeriesSpec

Matches = Generator["tuple[Planned, Played]", None, None]


@click.command()
@click.argument("game")
@click.argument("bots", nargs=-1, required=True)
@click.option("--games", type=click.IntRange(1, 1_000_000), help="Matches to play. Default: one.")
@click.option("--seed", help="Any text; the same seed plays the same series. Default: drawn, and shown.")
@click.option("--clock", help="Bank+increment, then /cap and @start-up: 60s+100ms/10s@10s. Default: 60s+100ms@10s.")
@click.option("--policy", default="forfeit", show_default=True, help="forfeit, retry:N or substitute:N.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the game; may be given again.")
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder for the records, one file a match.")
@json_option
def play(
    game: str,
    bots: tuple[str, ...],
    games: int | None,
    seed: str | None,
    clock: str | None,
    policy: str,
    options: tuple[str, ...],
    jobs: int,
    out: Path | None,
    as_json: bool,
) -> int:
    """Play GAME (antiquity, or a ruleset: antiquity-2p) between BOTS (random, mybot.py, mybot.py:Class, or 'cmd:./mybot').

    Matches of one block share a seed and give every bot every seat. Exit code 4 if a bot misbehaved.
    """
    from hippodrome.workers.botfiles import read_bots
    from hippodrome.workers.local_series import SeriesSpec

    ruleset = read_game(game, len(bots), options)
    spec = SeriesSpec(ruleset, read_bots(bots), games or 1, policy=Policy.parse(policy))
    spec = replace(spec, clock=TimeControl.parse(clock)) if clock else spec
    spec = replace(spec, seed=seed) if seed else spec
    return _play(spec, jobs, _Folder(out), as_json)


def read_game(text: str, players: int, options: Sequence[str]) -> Ruleset:
    """The ruleset of `antiquity` with so many players and `options`, or of `antiquity-2p`. Raises FieldError."""
    given = dict(_pair(option) for option in options)
    if not re.search(r"-\d+p", text):
        return get_game(text).ruleset(players, given)
    if given:
        raise FieldError("--option", f"{text} names its options already", f"write {text.partition('-')[0]} --option ...")
    return read_ruleset(text)


def _pair(text: str) -> tuple[str, str]:
    name, sep, value = text.partition("=")
    if not sep:
        raise FieldError("--option", f"{text!r} has no value", "write NAME=VALUE; `hippodrome games NAME` shows all")
    return name, value


class _Folder:
    """Where records go; none are kept without a folder. Raises FieldError rather than write over others."""

    def __init__(self, path: Path | None) -> None:
        self.path, self.files = path, list[str]()
        if path and any(path.glob("match-*.jsonl")):
            raise FieldError("--out", f"{path} holds records already", "give an empty or a new folder")

    def keep(self, planned: Planned, played: Played) -> None:
        """Write the record of a match."""
        if self.path:
            self.path.mkdir(parents=True, exist_ok=True)
            file = self.path / f"match-{planned.number:05}.jsonl"
            file.write_text(dumps(played.record), encoding="ascii")
            self.files.append(str(file))


def _play(spec: SeriesSpec, jobs: int, folder: _Folder, as_json: bool) -> int:
    from hippodrome.workers.local_pool import play_many
    from hippodrome.workers.local_series import Series

    series, last, begun = Series(spec.checked()), None, time.monotonic()
    interrupted = False
    with (
        redirect_stdout(sys.stderr),
        progress(str(spec.ruleset), spec.games) as advance,
        closing(cast(Matches, play_many(spec, jobs))) as matches,
    ):
        try:
            for planned, played in matches:
                series.add(planned, played)
                folder.keep(planned, played)
                last = played
                advance(series.matches, spec.games)
        except KeyboardInterrupt:
            interrupted = True
    seconds = time.monotonic() - begun
    _show(series, last, seconds, folder, as_json)
    if interrupted:
        say(f"stopped after {series.matches} of {spec.games} matches\nthe same series again: {_command(spec)}")
        return INTERRUPTED
    return BOT if series.troubles or any(row.faults for row in series.rows()) else 0


def _show(series: Series, last: Played | None, seconds: float, folder: _Folder, as_json: bool) -> None:
    """Results on stdout, what bots did wrong on stderr."""
    spec, rows = series.spec, series.rows()
    if as_json:
        emit("play", _document(series, rows, folder))
        return
    click.echo(f"{spec.ruleset}  {series.matches} of {spec.games} matches  seed {spec.seed}  {series.matches / seconds:.1f}/s")
    if not series.matches:
        return
    click.echo(_table(rows))
    if last is not None and spec.games == 1:
        click.echo(paragraph(f"ended: {last.record.closing['end']}: {last.record.closing['reason']}"))
    for bot, number, trouble in series.troubles[:1]:
        say(f"\n{bot}, match {number}, decision {trouble.number}:\n{trouble.report}")
    say(_next(series, folder))


def _table(rows: Sequence[Row]) -> str:
    columns = (
        Column("bot"), Column("games", True, 3), Column("won", True), Column("shared", True, 2), Column("score", True),
        Column("Elo", True), Column("95%", True), Column("faults"), Column("median", True, 1),
    )  # fmt: skip
    return table(columns, [_cells(row) for row in rows])


def _cells(row: Row) -> tuple[str, ...]:
    elo, interval = _elo(row.elo.value), f"[{_elo(row.elo.low, '-inf')}, {_elo(row.elo.high, '+inf')}]"
    faults = ", ".join(f"{count} {kind}" for kind, count in row.faults.items()) or "0"
    median = "" if row.median_us is None else f"{row.median_us / 1000:.2f} ms"
    return row.bot, str(row.games), str(row.wins), str(row.shared), f"{row.score:.3f}", elo, interval, faults, median


def _elo(value: float | None, unbounded: str = "-") -> str:
    return unbounded if value is None else f"{value:+.0f}"


def _document(series: Series, rows: Sequence[Row], folder: _Folder) -> dict[str, Any]:
    spec = series.spec
    troubles = [{"bot": bot, "match": match, "decision": t.number, "report": t.report} for bot, match, t in series.troubles]
    return {
        "ruleset": str(spec.ruleset),
        "seed": spec.seed,
        "clock": str(spec.clock),
        "policy": str(spec.policy),
        "games": series.matches,
        "rows": rows,
        "troubles": troubles,
        "records": folder.files,
    }


def _next(series: Series, folder: _Folder) -> str:
    """What to do now: look at a record, or play on."""
    if folder.files:
        return f"next: hippodrome match show {folder.files[0]}"
    if series.spec.games == 1:
        return f"next: {_command(series.spec)} --games 10 --out records"
    return f"next: {_command(series.spec)} --out records"


def _command(spec: SeriesSpec) -> str:
    """The command line that plays the series again."""
    import shlex

    bots = [bot.source if bot.source.startswith("cmd:") or ".py" in bot.source else bot.name.split("-")[0] for bot in spec.bots]
    words = ["hippodrome", "play", str(spec.ruleset), *bots, "--seed", spec.seed]
    return shlex.join(words + (["--games", str(spec.games)] if spec.games > 1 else []))
