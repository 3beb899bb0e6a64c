"""Published matches played again: the position after each move, kept for the matches looked at last."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from hippodrome.engine.chance import Chance
from hippodrome.engine.errors import FieldError, RecordError
from hippodrome.engine.game import TABLE, Game, State, View
from hippodrome.engine.record import Line, Record, loads
from hippodrome.engine.verify import read_spec
from hippodrome.games.registry import get_game
from hippodrome.ladder.errors import NotFound

KEPT: Final = 24
"""Matches kept in memory, about 0.3 MB each."""
_STYLE: Final = re.compile(r"<style[^>]*>(.*?)</style>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Replayed:
    """A record with its positions: `states[p]` is the one after `p` moves. Empty, with the reason in `problem`, when these
    rules cannot play the record again (it is of another version)."""

    record: Record
    text: str
    game: Game
    states: tuple[State, ...]
    problem: str

    @property
    def plies(self) -> int:
        """The number of moves."""
        return len(self.record.moves)

    def ply(self, asked: int | None) -> int:
        """`asked` checked, the last one when none is asked for. Raises FieldError."""
        if asked is None:
            return self.plies
        if not 0 <= asked <= self.plies:
            raise FieldError("ply", f"{str(asked)[:30]} is not in this match", f"give a number from 0 to {self.plies}")
        return asked

    def view(self, ply: int) -> View:
        """What the whole table is after `ply` moves. Raises NotFound when the record cannot be played again here."""
        if self.problem:
            raise NotFound("match", f"its board cannot be drawn: {self.problem}", "read its moves, or download its record")
        return self.states[ply].view(TABLE)

    def svg(self, ply: int) -> str:
        """The picture after `ply` moves. Raises NotFound."""
        return self.game.svg(self.view(ply))

    def last(self, ply: int) -> Line | None:
        """The line of the move that led to `ply`; None at the start."""
        return self.record.moves[ply - 1] if ply else None

    def banks(self, ply: int) -> list[int | None]:
        """By seat: the microseconds on its clock after `ply` moves; None before its first answer."""
        found: list[int | None] = [None] * len(self.record.header["seats"])
        for line in self.lines(ply):
            if "bank" in line:
                found[line["seat"]] = line["bank"]
        return found

    def lines(self, ply: int) -> list[Line]:
        """The lines of the record up to and with the move `ply`."""
        found: list[Line] = []
        for line in self.record.body:
            if "move" in line:
                if not ply:
                    break
                ply -= 1
            found.append(line)
        return found


@dataclass(frozen=True, slots=True)
class MoveLine:
    """A line of the record for people: a move, or an answer that failed. Times in microseconds; `ply` counts moves."""

    ply: int
    number: int
    seat: int
    move: str
    neutral: bool
    fault: str
    reason: str
    sent: int | None
    received: int | None
    charged: int | None
    bank: int | None


def move_lines(record: Record) -> list[MoveLine]:
    """All moves and failed answers, in order."""
    found, ply = [], 0
    for line in record.body:
        if "chance" not in line:
            ply += "move" in line
            times = (line.get(name) for name in ("sent", "received", "charged", "bank"))
            words = (line.get(name, "") for name in ("fault", "reason"))
            found.append(MoveLine(ply, line["n"], line["seat"], line.get("move", ""), "by" in line, *words, *times))
    return found


class Boards:
    """Matches by id. `fetch` reads the text of the record of a published match; it raises NotFound or the like."""

    def __init__(self, fetch: Callable[[str], str]) -> None:
        # a result never changes, so what is kept never goes stale
        self.get: Callable[[str], Replayed] = lru_cache(KEPT)(lambda match: replay(fetch(match)))


def replay(text: str) -> Replayed:
    """The record in `text` with its positions. The result was verified before it was stored: moves are only applied here."""
    record = loads(text)
    game = get_game(record.header["ruleset"].split(".")[0].rpartition("-")[0])
    try:
        return Replayed(record, text, game, _states(record, game), "")
    except RecordError as error:
        return Replayed(record, text, game, (), error.problem)


def _states(record: Record, game: Game) -> tuple[State, ...]:
    spec = read_spec(record, game)
    state = game.new_state(spec.ruleset, Chance(spec.seed))
    states = [state.copy()]
    for line in record.moves:
        state.apply(game.parse(line["move"]))
        states.append(state.copy())
    return tuple(states)


def style_hashes(svg: str) -> tuple[str, ...]:
    """The hashes that a Content-Security-Policy must list so that the inline styles of `svg` are applied."""
    return tuple(f"sha256-{_digest(style)}" for style in dict.fromkeys(_STYLE.findall(svg)))


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
