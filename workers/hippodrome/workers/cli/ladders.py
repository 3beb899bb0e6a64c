"""`hippodrome ladder`: ratings with their intervals."""

from __future__ import annotations

import click

from hippodrome.workers.cli.connect import Connect, source_options
from hippodrome.workers.cli.output import emit, json_option, say
from hippodrome.workers.cli.shown import ladder_table


@click.command()
@click.argument("name", required=False)
@source_options
@json_option
def ladder(connect: Connect, name: str | None, as_json: bool) -> None:
    """Show the ladder NAME, for example antiquity-2p; without a name, all ladders."""
    source = connect()
    if name is None:
        names = source.ladders()
        if as_json:
            emit("ladders", {"ladders": names})
        else:
            click.echo("\n".join(names) if names else "no rated matches yet")
            say(f"next: hippodrome ladder {names[0]}" if names else "next: hippodrome demo --once")
        return
    page = source.ladder(name)
    if as_json:
        emit("ladder", {"name": page.name, "matches": page.matches, "rows": page.rows})
        return
    click.echo(f"{page.name}, {page.matches} rated matches\n{ladder_table(page)}")
    if page.rows:
        say(f"next: hippodrome bot show {page.rows[0].bot_version.split('/')[1]}")
