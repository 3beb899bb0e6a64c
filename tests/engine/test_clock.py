"""The clock: bank, increment, cap, start-up time and their text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippodrome.engine.clock import Clock, TimeControl, span
from hippodrome.engine.errors import FieldError

DAY = 86_400_000_000
controls = st.builds(TimeControl, st.integers(1, DAY), st.integers(0, DAY), st.integers(0, DAY), st.integers(0, DAY))
steps = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3_000_000), st.booleans()), max_size=60)


@given(controls)
def test_the_text_of_a_time_control_reads_back(control: TimeControl) -> None:
    assert TimeControl.parse(str(control)) == control


@pytest.mark.parametrize(
    ("text", "control", "canonical"),
    [
        ("60s+100ms", TimeControl(60_000_000, 100_000), "60s+100ms"),
        ("10s+0.1s/2s", TimeControl(10_000_000, 100_000, 2_000_000), "10s+100ms/2s"),
        ("1m", TimeControl(60_000_000), "60s+0s"),
        ("5s@15s", TimeControl(5_000_000, 0, 0, 15_000_000), "5s+0s@15s"),
        ("1s + 7us / 1500ms @ 2s", TimeControl(1_000_000, 7, 1_500_000, 2_000_000), "1s+7us/1500ms@2s"),
        ("0.000001s", TimeControl(1), "1us+0s"),
        ("1440m", TimeControl(DAY), "86400s+0s"),
    ],
)
def test_a_time_control_is_read(text: str, control: TimeControl, canonical: str) -> None:
    assert TimeControl.parse(text) == control
    assert str(control) == canonical


@pytest.mark.parametrize(
    "text",
    [
        *("", "60", "s", "60s+", "+1s", "-5s", "60s+100", "60h", "60s/", "60s@", "60s@5s/2s", "60s+1s+1s", "60s 100ms", "1e3s"),
        *("60S", "0s", "0s+1s", "0.5us", "1.0000001s", "1441m", "1s+1441m", "1s/1441m", "1s@1441m", "9" * 400 + "s"),
        *("\u0666s", "nan", "infs", "\n"),
    ],
)
def test_a_text_that_is_no_time_control_is_refused(text: str) -> None:
    with pytest.raises(FieldError) as caught:
        TimeControl.parse(text)
    assert caught.value.field == "clock"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "control", [TimeControl(0), TimeControl(1, -1), TimeControl(1, 0, -1), TimeControl(1, 0, 0, -1), TimeControl(-1)]
)
def test_a_time_control_without_time_is_refused(control: TimeControl) -> None:
    with pytest.raises(FieldError):
        control.checked()


def test_a_span_takes_the_largest_whole_unit() -> None:
    assert [span(us) for us in (0, 1, 1_000, 1_001, 1_000_000, 90_000_000)] == ["0s", "1us", "1ms", "1001us", "1s", "90s"]


@given(controls, steps)
def test_the_bank_follows_the_charges_and_is_never_negative(control: TimeControl, plays: list[tuple[int, int, bool]]) -> None:
    clock, started = Clock(control, 3), set()
    for seat, took, accepted in plays:
        before, others = clock.bank[seat], [clock.bank[s] for s in range(3) if s != seat]
        free = 0 if seat in started else control.startup
        limit = (min(before, control.cap) if control.cap else before) + free
        assert clock.limit(seat) == limit
        assert clock.charge(seat, took) == (took <= limit)
        started.add(seat)
        assert clock.charged[seat] == max(0, took - free)
        assert clock.bank[seat] == max(0, before - max(0, took - free)) >= 0
        if accepted:
            clock.reward(seat)
            assert clock.bank[seat] == max(0, before - max(0, took - free)) + control.increment
        assert [clock.bank[s] for s in range(3) if s != seat] == others


def test_startup_time_is_free_once_and_not_kept() -> None:
    clock = Clock(TimeControl(1_000_000, 0, 0, 5_000_000), 1)
    assert clock.limit(0) == 6_000_000
    assert clock.charge(0, 200)
    assert (clock.charged[0], clock.bank[0], clock.limit(0)) == (0, 1_000_000, 1_000_000)


def test_a_cap_ends_a_decision_before_the_bank_is_empty() -> None:
    clock = Clock(TimeControl(10_000_000, 0, 1_000_000), 2)
    assert clock.charge(0, 1_000_000)
    assert not clock.charge(0, 1_000_001)
    assert clock.bank == [7_999_999, 10_000_000]
