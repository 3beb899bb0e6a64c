"""`hippodrome up` and `hippodrome demo`: the whole service on this machine."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from hippodrome.ladder.settings import Settings
from hippodrome.workers.cli.output import emit, json_option, say
from hippodrome.workers.cli.shown import crosstable, ladder_table
from hippodrome.workers.sources import Place, open_remote

if TYPE_CHECKING:
    from hippodrome.workers.demo import Demo
    from hippodrome.workers.server import Server


@click.command()
@click.option("--web", default="127.0.0.1:8080", show_default=True, metavar="HOST:PORT", help="Where the page is; port 0: any.")
@click.option("--api", default="127.0.0.1:0", show_default=True, metavar="HOST:PORT", help="Where the control API is.")
@click.option("--engine", default="127.0.0.1:0", show_default=True, metavar="HOST:PORT", help="Where bots play.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Worker processes.")
@click.option("--slots", type=click.IntRange(1), default=12, show_default=True, help="Matches at once, of each worker.")
@click.option("--bots", default="all", show_default=True, help="Built-in bots to run: all, none, or names with commas.")
@json_option
def up(web: str, api: str, engine: str, workers: int, slots: int, bots: str, as_json: bool) -> None:
    """Start the whole service on this machine and keep it running until Ctrl-C: database, broker, engine, workers, page."""
    from hippodrome.workers.programs import HouseBot, Options, builtin_bots
    from hippodrome.workers.supervise import Supervisor

    names = {"all": tuple(builtin_bots()), "none": ()}.get(bots) or tuple(filter(None, bots.split(",")))
    house = () if bots == "none" else tuple(map(HouseBot.parse, names))
    settings = Settings.load()
    supervisor = Supervisor(Options(web, api, engine, workers, slots, bots=house), settings)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: supervisor.stop())
    supervisor.run(lambda server: _tell_up(server, settings, as_json))
    say("stopped")


@click.command()
@click.option("--once", is_flag=True, help="End after the tables instead of leaving the page running.")
@json_option
def demo(once: bool, as_json: bool) -> None:
    """Play a tournament of the built-in bots for 2, 3 and 4 players, show crosstables and ladders, and leave the page running.

    Its data are in the folder `demo` of HIPPODROME_HOME, apart from yours.
    """
    from hippodrome.workers.cli.follow import Follower
    from hippodrome.workers.demo import run_demo

    with ExitStack() as stack, terminable():
        follower = stack.enter_context(Follower())
        played = stack.enter_context(run_demo(follower.report, Settings.load()))
        follower.close()
        _show_demo(played, as_json)
        if not once:
            say(f"web page: {played.server.web}   (Ctrl-C ends it)")
            _sleep_until_interrupted()
    say("next: hippodrome bot new mybot && hippodrome play antiquity mybot.py greedy")


def _tell_up(server: Server, settings: Settings, as_json: bool) -> None:
    document = {"pid": server.pid, "api": server.api, "web": server.web, "engines": server.engines, "home": str(settings.home)}
    if as_json:
        emit("up", document)
        return
    click.echo(f"page     {server.web}\napi      {server.api}\nengine   {', '.join(server.engines)}\ndata     {settings.home}")
    say("next: hippodrome tournament start antiquity-2p random greedy   (in another terminal; Ctrl-C here ends the service)")


def _show_demo(played: Demo, as_json: bool) -> None:
    source = open_remote(Place(played.server.api, played.server.token))
    try:
        tournaments = [source.tournament(name) for name in played.tournaments]
        ladders = [source.ladder(tournament.ruleset) for tournament in tournaments]
    finally:
        source.close()
    if as_json:
        emit("demo", {"tournaments": tournaments, "ladders": ladders, "web": played.server.web})
        return
    for tournament, ladder in zip(tournaments, ladders, strict=True):
        click.echo(f"\n{tournament.ruleset}: tournament {tournament.name.removeprefix('tournaments/')}, round robin")
        click.echo(crosstable(tournament))
        click.echo(f"\nladder {ladder.name}, {ladder.matches} rated matches")
        click.echo(ladder_table(ladder))
    click.echo("")


def _sleep_until_interrupted() -> None:
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        say("")


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM ends the block as Ctrl-C does, so that what it started is stopped."""

    def interrupt(number: int, frame: FrameType | None) -> Any:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
