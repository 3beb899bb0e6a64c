"""Verification: play a record again with one's own copy of the rules and compare every line.

A result is rated only when the record reproduces itself: chance results from the seed, each move's legality and state
hash, the clock's arithmetic, the faults and what the policy made of them, ending, places, scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hippodrome.engine.chance import SEED_BYTES, Chance, commitment
from hippodrome.engine.clock import TimeControl
from hippodrome.engine.errors import HippodromeError, InvalidMove, RecordError
from hippodrome.engine.game import Game, Move, State
from hippodrome.engine.record import Line, Record, checked, encode
from hippodrome.engine.referee import MatchSpec, Policy, Receipt, Referee, SeatSpec


def read_spec(record: Record, game: Game) -> MatchSpec:
    """The spec that the record's header and closing line state. Raises RecordError."""
    header, seed = record.header, _seed(record)
    if header["rules"] != game.rules_version:
        raise RecordError(1, f"rules version {header['rules']!r}, here are rules {game.rules_version!r}; fix: use that version")
    try:
        return MatchSpec(
            header["match"],
            game.read_ruleset(header["ruleset"]),
            tuple(SeatSpec(seat["bot"], seat["version"]) for seat in header["seats"]),
            TimeControl.parse(header["clock"]),
            Policy.parse(header["policy"]),
            seed,
        ).checked()
    except HippodromeError as error:
        raise RecordError(1, f"header: {error}") from None


def replay(record: Record, game: Game, upto: int | None = None) -> Referee:
    """A referee that was told what the record holds, or only what led to its first `upto` moves (and what the referee then
    played by itself). Raises RecordError at the first line that the referee writes otherwise."""
    referee, lines, agreed = Referee(read_spec(checked(record), game), game), record.lines, 0
    while True:
        _agree(referee.lines, lines, agreed)
        agreed = len(referee.lines)
        if referee.decision is None or agreed == len(lines) - 1 or (upto is not None and _moves(referee) >= upto):
            return referee
        _tell(referee, lines[agreed], agreed + 1)


def positions(record: Record, game: Game) -> Iterator[tuple[Line | None, State]]:
    """The first position (with None), then each move's line and the position after it: one and the same state, copy it
    to keep it. For pictures and exports; judges legality alone. Raises RecordError."""
    spec = read_spec(checked(record), game)
    state = game.new_state(spec.ruleset, Chance(spec.seed))
    yield None, state
    for number, line in enumerate(record.body, 2):
        if "move" in line:
            state.apply(_legal(game, state, line["move"], number))
            yield line, state


def verify(record: Record, game: Game) -> Referee:
    """Play the record again; the referee at its end. Raises RecordError at the first line that differs."""
    referee = replay(record, game)
    again = referee.record
    if again is None:
        raise RecordError(0, f"the match is not over after its {len(record.moves)} moves")
    if len(again.lines) != len(record.lines):
        raise RecordError(len(again.lines), f"{len(record.lines)} lines, re-execution gives {len(again.lines)}")
    _agree(again.lines, record.lines, len(record.lines) - 1)
    return referee


def _seed(record: Record) -> bytes:
    try:
        seed = bytes.fromhex(record.closing["seed"])
    except ValueError:
        raise RecordError(0, "seed is not hexadecimal") from None
    if len(seed) != SEED_BYTES or commitment(seed) != record.header["commitment"]:
        raise RecordError(1, "the seed is not the one of the commitment")
    return seed


def _tell(referee: Referee, line: Line, number: int) -> None:
    if "sent" not in line:
        raise RecordError(number, "re-execution expects an answer of the seat to move here")
    receipt = Receipt(line["sent"], line["received"], line["credit"])
    if "move" in line or "answer" in line:
        referee.answer(line["move"] if "move" in line else line["answer"], receipt)
        return
    try:
        referee.fail(line["fault"], line["reason"], receipt)
    except ValueError as error:
        raise RecordError(number, f"cannot be played again: {error}") from None


def _legal(game: Game, state: State, text: str, number: int) -> Move:
    try:
        move = game.parse(text)
    except InvalidMove as error:
        raise RecordError(number, str(error)) from None
    if not state.is_legal(move):
        raise RecordError(number, f"{text!r} is not legal here")
    return move


def _moves(referee: Referee) -> int:
    return sum("move" in line for line in referee.lines)


def _agree(ours: Sequence[Line], theirs: Sequence[Line], start: int) -> None:
    """Lines from index `start` on are the same, the order of their keys included."""
    for number in range(start + 1, len(ours) + 1):
        expected, found = ours[number - 1], theirs[number - 1] if number <= len(theirs) else {}
        if encode(expected) != encode(found):
            raise RecordError(number, _difference(expected, found))


def _difference(expected: Line, found: Line) -> str:
    for key in {**expected, **found}:
        if expected.get(key) != found.get(key):
            return f"{key} is {str(found.get(key))[:80]!r}, re-execution gives {str(expected.get(key))[:80]!r}"
    return "the order of its keys differs"
