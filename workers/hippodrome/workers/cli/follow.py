"""Progress of tournaments: a bar for each on a terminal, single lines elsewhere. On stderr."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from hippodrome.workers.cli.output import say

if TYPE_CHECKING:
    from hippodrome.ladder.pages import TournamentPage
    from hippodrome.workers.tournament import Event


class Follower:
    """Shows what it is told: `report` takes the events of `hippodrome.workers.tournament`, `move` a tournament."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._plain = not console.is_terminal
        columns = (
            TextColumn("{task.description}"),
            BarColumn(20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=console, disable=self._plain)
        self._tasks: dict[str, Any] = {}
        self._closed = False

    def __enter__(self) -> Follower:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Leave the bars as they are; nothing more is drawn."""
        if not self._closed:
            self._closed = True
            self._bar.stop()

    def report(self, event: Event) -> None:
        """Draw an event."""
        from hippodrome.workers.tournament import Ended, Moved, Planned, ServiceUp

        match event:
            case ServiceUp(server, seconds):
                self._say(f"service started in {seconds:.1f} s: {server.web}" if seconds else f"service: {server.web}")
            case Planned(name, ruleset, matches):
                self._plan(name, f"{ruleset} {name}", matches)
            case Moved(name, done, matches, _, _):
                self._tell(name, name, done, matches)
            case Ended(name, parked, seconds):
                self._end(name, parked, seconds)

    def move(self, tournament: TournamentPage) -> None:
        """Draw how far a tournament is."""
        name = tournament.name.removeprefix("tournaments/")
        self._tell(name, f"{tournament.ruleset} {name}", tournament.matches_done, tournament.matches_planned)

    def _plan(self, name: str, title: str, matches: int) -> None:
        self._tasks[name] = self._bar.add_task(title, total=matches)
        if self._plain:
            self._say(f"{title}: {matches} matches")

    def _tell(self, name: str, title: str, done: int, matches: int) -> None:
        if name not in self._tasks:
            self._plan(name, title, matches)
        self._bar.update(self._tasks[name], completed=done, total=matches)

    def _end(self, name: str, parked: int, seconds: float) -> None:
        if parked:
            self._say(f"{name}: {parked} matches parked after too many failed attempts, see `hippodrome match list`")
            self._say(f"  to try them again: hippodrome tournament resume {name}")
        if self._plain:
            self._say(f"{name}: done in {seconds:.1f} s")

    def _say(self, text: str) -> None:
        if self._plain:
            say(text)
        else:
            self._bar.console.print(text, highlight=False)
