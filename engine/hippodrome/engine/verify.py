"""Verification: play a record again with one's own copy of the rules and compare every line.

A result is rated only when the record reproduces itself: chance results from the seed, each move's legality and state
hash, the clock's arithmetic, the faults and what the policy made of them, ending, places, scores.
"""

from __future__ import annotations

from hippodrome.engine.chance import SEED_BYTES, commitment
from hippodrome.engine.clock import TimeControl
from hippodrome.engine.errors import HippodromeError, RecordError
from hippodrome.engine.game import Game
from hippodrome.engine.record import Line, Record
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
    except (HippodromeError, KeyError, TypeError) as error:
        raise RecordError(1, f"header: {error}") from None


def replay(record: Record, game: Game, upto: int | None = None) -> Referee:
    """A referee that was told everything the record holds, or only its first `upto` moves. Raises RecordError."""
    referee, done = Referee(read_spec(record, game), game), 0
    for number, line in enumerate(record.body, 2):
        if done == upto or "chance" in line or line.get("by") == "referee":
            done += "move" in line
            continue
        if referee.decision is None:
            raise RecordError(number, "an answer after the end of the match")
        _tell(referee, line, number)
        done += "move" in line
    return referee


def verify(record: Record, game: Game) -> Referee:
    """Play the record again; the referee at its end. Raises RecordError at the first line that differs."""
    referee = replay(record, game)
    again = referee.record
    if again is None:
        raise RecordError(0, f"the match is not over after its {len(record.moves)} moves")
    ours, theirs = [again.header, *again.body, again.closing], [record.header, *record.body, record.closing]
    for number, (expected, found) in enumerate(zip(ours, theirs, strict=False), 1):
        if expected != found:
            raise RecordError(number, _difference(expected, found))
    if len(ours) != len(theirs):
        raise RecordError(0, f"{len(theirs)} lines, re-execution gives {len(ours)}")
    return referee


def _seed(record: Record) -> bytes:
    try:
        seed = bytes.fromhex(record.closing["seed"])
    except (ValueError, TypeError):
        raise RecordError(0, "seed is not hexadecimal") from None
    if len(seed) != SEED_BYTES or commitment(seed) != record.header["commitment"]:
        raise RecordError(1, "the seed is not the one of the commitment")
    return seed


def _tell(referee: Referee, line: Line, number: int) -> None:
    try:
        receipt = Receipt(line["sent"], line["received"], line["credit"])
        if "move" in line:
            referee.answer(line["move"], receipt)
        elif "answer" in line:
            referee.answer(line["answer"], receipt)
        else:
            referee.fail(line["fault"], line["reason"], receipt)
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(number, f"cannot be played again: {error!r}") from None


def _difference(expected: Line, found: Line) -> str:
    for key in {**expected, **found}:
        if expected.get(key) != found.get(key):
            return f"{key} is {str(found.get(key))[:80]!r}, re-execution gives {str(expected.get(key))[:80]!r}"
    return "the order of its keys differs"
