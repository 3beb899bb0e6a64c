"""Records: exact round trip, whatever is wrong with one is named, verification catches every changed field."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hippodrome.engine.errors import RecordError
from hippodrome.engine.game import TABLE, Game
from hippodrome.engine.record import Record, dumps, kind, loads, seal, state_hash
from hippodrome.engine.referee import Receipt, Referee
from hippodrome.engine.verify import positions, replay, verify

Start = Callable[..., Referee]
Finish = Callable[[Referee], Referee]


def record_of(referee: Referee) -> Record:
    assert referee.record is not None
    return referee.record


@pytest.fixture(scope="module")
def faulty(start: Start, play_on: Finish) -> Record:
    """A match of three in which every kind of line stands: chance, moves, a retried and a failing answer, neutral moves."""
    referee = start(players=3, policy="retry:1", clock="10s+1ms/5s@1s")
    for text in ("roll", "jump over", "draw"):
        referee.answer(text, Receipt(10, 20_010, 5))
    referee.answer("roll", Receipt(0, 6_000_001))
    return record_of(play_on(referee))


def test_a_record_reads_back_exactly(faulty: Record) -> None:
    text = dumps(faulty)
    assert loads(text) == faulty
    assert dumps(loads(text)) == text
    assert {kind(line) for line in faulty.lines} == {"record", "chance", "move", "fault", "end"}
    assert any(line.get("by") == "referee" for line in faulty.moves)
    assert text.isascii()
    assert text.endswith("\n")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 255), st.integers(2, 4), st.text(max_size=250))
def test_any_answer_can_be_recorded_and_verified(start: Start, race: Game, seed: int, players: int, answer: str) -> None:
    referee = start(players=players, seed=seed, policy="substitute:2")
    referee.answer(answer, Receipt(0, 1))
    source = random.Random(seed)
    while referee.decision is not None:
        referee.answer(source.choice(referee.decision.legal).text, Receipt(0, 1))
    record = loads(dumps(record_of(referee)))
    assert verify(record, race).result == referee.result


def test_the_hash_is_that_of_the_key(faulty: Record, race: Game) -> None:
    for line, state in positions(faulty, race):
        assert line is None or line["hash"] == state_hash(state.key())
    assert state.to_move == TABLE


def test_positions_are_those_of_the_moves(faulty: Record, race: Game) -> None:
    shown = [line for line, _ in positions(faulty, race)]
    assert shown == [None, *faulty.moves]


def test_replay_stops_after_any_number_of_moves(start: Start, play_on: Finish, race: Game) -> None:
    referee = play_on(start(players=2))
    record = record_of(referee)
    keys = [state.key() for _, state in positions(record, race)]
    for upto in range(len(record.moves) + 1):
        again = replay(record, race, upto)
        assert again.state.key() == keys[upto]
    assert replay(record, race).result == referee.result


def test_replay_stops_in_the_middle_of_a_match_with_faults(faulty: Record, race: Game) -> None:
    for upto in range(len(faulty.moves) + 1):
        played = sum("move" in line for line in replay(faulty, race, upto).lines)
        assert upto <= played
        assert all(line.get("by") == "referee" for line in faulty.moves[upto:played])


# What is wrong with the text of a record


def _broken(lines: list[str]) -> Iterator[tuple[str, str, int, str]]:
    """Name, text, the line that is named, a word of the reason."""
    n = len(lines)

    def text(changed: list[str]) -> str:
        return "".join(line + "\n" for line in changed)

    header, move = lines[0], next(i for i, line in enumerate(lines) if '"move"' in line)
    yield "empty", "", 1, "no header"
    yield "blank line", text([header, "", *lines[1:]]), 2, "is not JSON"
    yield "no header", text(lines[1:]), 1, "no header"
    yield (
        "another version",
        text([header.replace("hippodrome/1", "hippodrome/2"), *lines[1:]]),
        1,
        "'hippodrome/2' is not known",
    )
    yield "version of another type", text([header.replace('"hippodrome/1"', "1"), *lines[1:]]), 1, "'1' is not known"
    yield "cut after a line", text(lines[:-1]), n - 1, "cut off"
    yield "cut in a line", text(lines[:-1])[:-9], n - 1, "is not JSON"
    yield "no newline", text(lines)[:-1], 0, "canonical"
    yield "other newlines", text(lines).replace("\n", "\r\n"), 0, "canonical"
    yield "spaces", text([header.replace(",", ", "), *lines[1:]]), 0, "canonical"
    yield "not JSON", text([header, "roll", *lines[2:]]), 2, "'roll' is not JSON"
    yield "no object", text([header, "[1]", *lines[2:]]), 2, "is no object"
    yield "unknown kind", text([header, '{"note":"hi"}', *lines[1:]]), 2, "unknown kind"
    yield "unknown key", text([header[:-1] + ',"note":"hi"}', *lines[1:]]), 1, "unknown key 'note'"
    yield "a line gone", text([*lines[:move], *lines[move + 1 :]]), n - 1, "sha256"
    yield "two lines changed places", text([*lines[:1], lines[2], lines[1], *lines[3:]]), n, "sha256"
    yield "a line changed", text([*lines[:move], lines[move].replace('"seat":0', '"seat":1'), *lines[move + 1 :]]), n, "sha256"
    yield "two headers", text([header, *lines]), 2, "out of place"
    yield "two records", text([*lines, *lines]), n, "out of place"
    yield "doubled key", text([header.replace('{"record"', '{"match":"m","record"'), *lines[1:]]), 0, "canonical"
    yield "deep", text([header, "[" * 200_000, *lines[1:]]), 2, "is not JSON"
    yield (
        "nan",
        text([*lines[:move], lines[move].replace('"sent":10', '"sent":NaN'), *lines[move + 1 :]]),
        move + 1,
        "sent is 'nan'",
    )
    yield "huge number", text([header, '{"chance":"deck","result":[' + "9" * 4000 + "]}", *lines[1:]]), 2, "wrong type"
    yield "endless number", text([header, '{"chance":"deck","result":[' + "9" * 9000 + "]}", *lines[1:]]), 2, "is not JSON"
    yield "another program's file", "<html>\n</html>\n", 1, "is not JSON"


@pytest.mark.parametrize("at", range(25))
def test_a_text_that_is_no_record_is_refused_by_its_line(faulty: Record, at: int) -> None:
    name, text, line, reason = list(_broken(dumps(faulty).splitlines()))[at]
    with pytest.raises(RecordError) as caught:
        loads(text)
    assert caught.value.line == line, name
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_every_broken_text_is_tried(faulty: Record) -> None:
    assert len(list(_broken(dumps(faulty).splitlines()))) == 25


def test_every_missing_key_is_named(faulty: Record) -> None:
    for number, line in enumerate(faulty.lines, 1):
        for key in line:
            if key in ("answer", "by", kind(line)) or (
                kind(line) == "move" and key in ("sent", "received", "credit", "charged", "bank")
            ):
                continue
            lines = list(map(dict, faulty.lines))
            del lines[number - 1][key]
            with pytest.raises(RecordError, match=f"line {number}: .* without .*{key}"):
                loads("".join(json.dumps(each, separators=(",", ":")) + "\n" for each in lines))


def test_a_very_long_record_is_read_in_a_moment(faulty: Record) -> None:
    lines = [faulty.header, *[{"chance": "die/0", "result": [1]}] * 100_000]
    text = dumps(seal(lines, {k: v for k, v in faulty.closing.items() if k != "sha256"}))
    assert len(loads(text).body) == 100_000  # quadratic work here would run into the time limit of the tests


# Verification of a record that was changed


def _changes(value: Any) -> Iterator[Any]:
    """Other values of the same shape: each leaf changed by itself, a list longer and shorter, a dict in another order."""
    if isinstance(value, str):
        yield value + "x"
        yield ""
        yield from ([value[:-1] + ("0" if value[-1:] != "0" else "1")] if value else [])
    elif isinstance(value, int):
        yield from (value + 1, value - 1, -1, 1 << 62)
    elif isinstance(value, list):
        yield from ([*value, copy.deepcopy(value[-1]) if value else 0], value[1:] if value else [1])
        for at, item in enumerate(value):
            yield from ([*value[:at], other, *value[at + 1 :]] for other in _changes(item))
    elif isinstance(value, dict):
        yield dict(reversed(value.items()))
        for key, item in value.items():
            yield from ({**value, key: other} for other in _changes(item))


def _wrong_types(value: Any) -> Iterator[Any]:
    others: tuple[Any, ...] = (None, True, 1.0, "1", [], {}, [[]], [{}], 1 << 70)
    yield from (other for other in others if type(other) is not type(value))
    if type(value) is int:
        yield float(value)


def _changed(record: Record) -> Iterator[tuple[int, str, Record]]:
    for number, line in enumerate(record.lines):
        for key, value in line.items():
            for other in (*_changes(value), *_wrong_types(value)):
                if json.dumps(other) != json.dumps(value):
                    lines = [*record.lines[:number], {**line, key: other}, *record.lines[number + 1 :]]
                    yield number + 1, key, Record(lines[0], tuple(lines[1:-1]), lines[-1])


INPUTS = {
    "match",
    "seats",
    "sent",
    "received",
    "credit",
    "answer",
    "reason",
    "move",
    "fault",
    "clock",
    "policy",
    "ruleset",
    "commitment",
}
"""What re-execution is told: a change of it may first show in a later line, at the latest in the sha256 of the closing one."""


def test_every_single_change_is_caught_and_its_line_named(faulty: Record, race: Game) -> None:
    count = 0
    for number, key, changed in _changed(faulty):
        with pytest.raises(RecordError) as caught:
            verify(changed, race)
        count += 1
        where = f"{key} of line {number}: {caught.value}"
        if key == "seed":
            assert caught.value.line in (0, 1, number), where
        elif key in INPUTS:
            assert number <= caught.value.line <= len(faulty.lines), where
        else:
            assert caught.value.line == number, where
    assert count > 2_000


def test_every_change_with_a_fitting_checksum_is_caught_but_names_and_times(faulty: Record, race: Game) -> None:
    """Whoever rewrites the checksum too can change only what the referee was told and what makes no difference to it."""
    free = set()
    for number, key, changed in _changed(faulty):
        closing = {k: v for k, v in changed.closing.items() if k != "sha256"}
        if key == "sha256" or number == len(faulty.lines):
            continue
        try:
            verify(seal([changed.header, *changed.body], closing), race)
        except RecordError:
            continue
        free.add(key)
    assert free <= {"match", "seats", "sent", "received", "credit", "answer"}


def test_lines_added_moved_or_taken_away_are_caught(faulty: Record, race: Game) -> None:
    body = faulty.body
    for at in range(len(body)):
        before, line, after = body[:at], body[at], body[at + 1 :]
        swapped: list[tuple[Any, ...]] = [(*before, after[0], line, *after[1:])] if after else []
        for other in ((*before, *after), (*before, line, line, *after), *swapped):
            with pytest.raises(RecordError) as caught:
                verify(Record(faulty.header, other, faulty.closing), race)
            assert caught.value.line >= at + 2 or "not over" in str(caught.value)


def test_a_key_in_another_place_is_caught(faulty: Record, race: Game) -> None:
    for number, line in enumerate(faulty.lines):
        lines = [*faulty.lines[:number], dict(reversed(line.items())), *faulty.lines[number + 1 :]]
        with pytest.raises(RecordError):
            verify(Record(lines[0], tuple(lines[1:-1]), lines[-1]), race)


def test_a_match_that_is_not_over_does_not_verify(start: Start, play_on: Finish, race: Game) -> None:
    record = record_of(play_on(start()))
    last = max(number for number, line in enumerate(record.body) if "move" in line)
    with pytest.raises(RecordError, match="not over after its"):
        verify(Record(record.header, record.body[:last], record.closing), race)


def test_other_rules_are_refused_by_their_version(faulty: Record, race_module: Any) -> None:
    newer = type("NewerRace", (race_module.Race,), {"rules_version": "2"})()
    with pytest.raises(RecordError, match="rules version '1', here are rules '2'"):
        verify(faulty, newer)


def test_a_record_of_another_game_is_refused(faulty: Record, race_module: Any) -> None:
    other = type("OtherRace", (race_module.Race,), {"name": "walk"})()
    with pytest.raises(RecordError, match="line 1: header: ruleset"):
        verify(faulty, other)


def test_positions_refuse_a_move_that_is_none_or_not_legal(faulty: Record, race: Game) -> None:
    at = next(number for number, line in enumerate(faulty.body) if "move" in line)
    for text, reason in (("jump", "is none of"), ("stop", "'stop' is not legal here")):
        body = [*faulty.body[:at], {**faulty.body[at], "move": text}, *faulty.body[at + 1 :]]
        with pytest.raises(RecordError, match=reason) as caught:
            list(positions(Record(faulty.header, tuple(body), faulty.closing), race))
        assert caught.value.line == at + 2
