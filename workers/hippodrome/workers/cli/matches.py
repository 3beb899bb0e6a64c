"""`hippodrome match`: look at matches, verify and export their records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hippodrome.engine.errors import FieldError, RecordError
from hippodrome.engine.game import TABLE, Game
from hippodrome.engine.record import Record, loads
from hippodrome.games.registry import get_game, read_ruleset
from hippodrome.workers.cli.connect import Connect, source_options
from hippodrome.workers.cli.output import Column, emit, json_option, paragraph, say, table
from hippodrome.workers.cli.report import FAILED
from hippodrome.workers.cli.shown import match_table, short_version

if TYPE_CHECKING:
    from hippodrome.ladder.pages import MatchPage

_NOT_YET = "its record and seed are published when its block is done; see `hippodrome match show`"


@click.command()
@click.option("--tournament", help="Only matches of this tournament.")
@click.option("--bot", help="Only matches with this bot.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many.")
@source_options
@json_option
def list_(connect: Connect, tournament: str | None, bot: str | None, limit: int, as_json: bool) -> None:
    """List matches, newest first."""
    found = connect().matches(tournament=tournament or "", bot=bot or "", limit=limit)
    if as_json:
        emit("matches", {"matches": found})
        return
    click.echo(match_table(found) if found else "no matches yet")
    say(
        f"next: hippodrome match show {found[0].name.removeprefix('matches/')}"
        if found
        else "next: hippodrome tournament start --help"
    )


@click.command()
@click.argument("match")
@click.option("--ply", type=click.IntRange(0), help="The board after so many moves; default: at the end.")
@click.option("--svg", type=click.Path(path_type=Path, dir_okay=False), help="Write the board as a picture to this file.")
@source_options
@json_option
def show(connect: Connect, match: str, ply: int | None, svg: Path | None, as_json: bool) -> None:
    """Show MATCH, an id or the file of a record, and its board at any move."""
    record = _of_file(match)
    if record is None:
        found = connect().match(match)
        if not found.published:
            _show_unpublished(found, ply, svg, as_json)
            return
        record = loads(connect().record(match))
    _show_record(match, record, ply, svg, as_json)


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@json_option
def verify(files: tuple[Path, ...], as_json: bool) -> int:
    """Play the records in FILES again with the rules installed here and compare every line. Exit code 1 on a difference."""
    results = [(file, *_verified(file)) for file in files]
    if as_json:
        emit(
            "verify",
            {"files": [{"file": str(f), "ok": not problem, "moves": n, "problem": problem} for f, n, problem in results]},
        )
    else:
        for file, moves, problem in results:
            click.echo(f"{file}: DIFFERS: {problem}" if problem else f"{file}: ok, {moves} moves")
    return FAILED if any(problem for _, _, problem in results) else 0


@click.command()
@click.argument("match")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file instead of stdout.")
@source_options
@json_option
def export(connect: Connect, match: str, out: Path | None, as_json: bool) -> None:
    """Write the record of MATCH in its text form (JSON Lines)."""
    text = connect().record(match)
    if out:
        out.write_text(text, encoding="utf-8")
    if as_json:
        emit("export", {"match": match, "file": str(out) if out else None, "record": None if out else text})
    elif out:
        say(f"wrote {out}\nnext: hippodrome match verify {out}")
    else:
        click.echo(text, nl=False)


def _of_file(match: str) -> Record | None:
    """The record in the file called `match`; None when there is no such file and it may be an id."""
    path = Path(match)
    if path.is_file():
        return read_record(path)
    if path.suffix or ("/" in match and not match.startswith("matches/")):
        raise FieldError(
            "match", f"no file {match!r}", "give the file of a record, or the id of a match: `hippodrome match list`"
        )
    return None


def read_record(path: Path) -> Record:
    """The record in a file. Raises RecordError, OSError."""
    try:
        return loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise RecordError(0, f"{path} is no text; fix: give a file written by `hippodrome match export`") from None


def _verified(path: Path) -> tuple[int, str]:
    """How many moves the record has, and what is wrong with it, if anything."""
    from hippodrome.engine.verify import verify as verify_record

    try:
        record = read_record(path)
        verify_record(record, _game(record))
    except (RecordError, FieldError) as error:
        return 0, str(error)
    return len(record.moves), ""


def _game(record: Record) -> Game:
    return get_game(read_ruleset(record.header["ruleset"]).game)


def _show_unpublished(match: MatchPage, ply: int | None, svg: Path | None, as_json: bool) -> None:
    """A match without a result, or one whose block goes on, has no board to show."""
    if ply is not None or svg is not None:
        waits = f", but {match.block_waits}" if match.state == "done" else ""
        raise FieldError("match", f"{match.name} is {match.state}{waits}: there is no board to show", _NOT_YET)
    if as_json:
        emit("match", {"match": match})
        return
    click.echo(f"{match.name}  {match.ruleset}  {match.state}, {match.moves} moves, attempt {match.attempts}")
    click.echo(_seats(match))
    say(f"next: hippodrome tournament status {match.tournament.removeprefix('tournaments/')}")


def _seats(match: MatchPage) -> str:
    """Who sits where and, once it is done, the result and what its record waits for."""
    if match.state != "done":
        return "  ".join(f"seat {n}: {short_version(seat.bot_version)}" for n, seat in enumerate(match.seats))
    faults = {fault["seat"]: fault["kind"] for fault in match.faults}
    names = [short_version(seat.bot_version) for seat in match.seats]
    ended = f"ended: {match.ending}: {match.reason}"
    when = f"{match.end_time:%Y-%m-%d %H:%M:%S} UTC; " if match.end_time else ""
    waits = f"{when}its record is published with its block: {match.block_waits}"
    return "\n".join([_result_table(names, match.places, match.scores, faults), paragraph(ended), paragraph(waits)])


def _show_record(match: str, record: Record, ply: int | None, svg: Path | None, as_json: bool) -> None:
    from hippodrome.engine.verify import replay

    moves, game = record.moves, _game(record)
    at = len(moves) if ply is None else ply
    if at > len(moves):
        raise FieldError("--ply", f"{at} is beyond the last move", f"give 0 to {len(moves)}")
    view = replay(record, game, at).state.view(TABLE)
    if svg:
        svg.write_text(game.svg(view), encoding="utf-8")
        say(f"wrote {svg}")
    if as_json:
        emit(
            "match",
            {
                "header": record.header,
                "closing": record.closing,
                "ply": at,
                "move": moves[at - 1] if at else None,
                "view": view,
            },
        )
        return
    click.echo("\n".join([*_head(record), _move_line(moves, at), "", game.text(view)]))
    say(f"next: hippodrome match show {match} --ply {at - 1 if at else len(moves)}")


def _head(record: Record) -> list[str]:
    head, end = record.header, record.closing
    faults = {fault["seat"]: fault["kind"] for fault in end["faults"]}
    shown = _result_table([seat["bot"] for seat in head["seats"]], end["places"], end["scores"], faults)
    lines = [f"{head['match']}  {head['ruleset']}  clock {head['clock']}  policy {head['policy']}", shown]
    return [*lines, paragraph(f"ended: {end['end']}: {end['reason']}")]


def _result_table(bots: Sequence[str], places: Sequence[int], scores: Sequence[int], faults: dict[int, str]) -> str:
    """A row a seat. Raises RecordError when there is not one of everything for each."""
    points = [str(score) for score in scores] or [""] * len(bots)
    if not len(bots) == len(places) == len(points):
        raise RecordError(0, "its places or scores are not one for each seat; fix: export it again")
    rows = [(str(n), bot, str(places[n]), points[n], faults.get(n, "")) for n, bot in enumerate(bots)]
    columns = (Column("seat", True), Column("bot"), Column("place", True), Column("score", True), Column("fault"))
    return table(columns, rows)


def _move_line(moves: list[dict[str, Any]], at: int) -> str:
    if not at:
        return f"before the first of {len(moves)} moves"
    line = moves[at - 1]
    by = " (the referee, for a failed seat)" if line.get("by") else f", {line['charged'] / 1000:.1f} ms"
    return f"move {at} of {len(moves)}: seat {line['seat']} {line['move']!r}{by}"
