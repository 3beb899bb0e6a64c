"""The clock of a seat: bank + increment, a cap for one decision, free time on top for the first decision.

All times are whole microseconds. Text form: `60s+100ms` (bank + increment), then `/10s` (cap) and `@15s` (start-up) if set.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from hippodrome.engine.errors import FieldError

_UNITS: Final = {"s": 1_000_000, "ms": 1_000, "us": 1, "m": 60_000_000}
_SPAN = r"([0-9]{1,20}(?:\.[0-9]{1,20})?)(m|s|ms|us)"
_DAY: Final = 86_400_000_000
_TEXT: Final = re.compile(rf"{_SPAN}(?:\+{_SPAN})?(?:/{_SPAN})?(?:@{_SPAN})?")


@dataclass(frozen=True, slots=True)
class TimeControl:
    """`bank`, `increment`, `cap` (0: only the bank limits a decision), `startup`: microseconds."""

    bank: int
    increment: int = 0
    cap: int = 0
    startup: int = 0

    def __str__(self) -> str:
        cap = f"/{span(self.cap)}" if self.cap else ""
        return f"{span(self.bank)}+{span(self.increment)}{cap}" + (f"@{span(self.startup)}" if self.startup else "")

    @staticmethod
    def parse(text: str) -> TimeControl:
        """The time control of the text form. Raises FieldError."""
        found = _TEXT.fullmatch(text.replace(" ", ""))
        if not found:
            raise FieldError("clock", f"{text!r} cannot be read", "write bank+increment, for example 60s+100ms or 10s+0.1s/2s")
        parts = found.groups()
        times = [Fraction(parts[i]) * _UNITS[parts[i + 1]] if parts[i] else Fraction(0) for i in range(0, 8, 2)]
        if any(time.denominator > 1 for time in times):
            raise FieldError("clock", f"{text!r} has parts of a microsecond", "give whole microseconds")
        return TimeControl(*(int(time) for time in times)).checked()

    def checked(self) -> TimeControl:
        """Itself, if a seat could make a move at all. Raises FieldError."""
        times = (self.bank, self.increment, self.cap, self.startup)
        if self.bank <= 0 or min(times) < 0 or max(times) > _DAY:
            raise FieldError("clock", f"{self} leaves no time to move or is over a day", "give a bank above 0 and up to 1440m")
        return self


def span(us: int) -> str:
    """Microseconds in the largest unit that keeps them whole: `60s`, `100ms`, `7us`."""
    for unit in ("s", "ms"):
        if us % _UNITS[unit] == 0:
            return f"{us // _UNITS[unit]}{unit}"
    return f"{us}us"


class Clock:
    """The clocks of all seats of one match. It reads no time: it is told how long an answer took."""

    __slots__ = ("_started", "bank", "charged", "control")

    def __init__(self, control: TimeControl, seats: int) -> None:
        self.control = control
        self.bank = [control.bank] * seats
        """Microseconds left, by seat."""
        self.charged: list[int | None] = [None] * seats
        """What the last answer of each seat cost."""
        self._started = [False] * seats

    def limit(self, seat: int) -> int:
        """The longest the seat's next answer may take, in microseconds."""
        bank = self.bank[seat]
        capped = min(bank, self.control.cap) if self.control.cap else bank
        return capped + (0 if self._started[seat] else self.control.startup)

    def charge(self, seat: int, took: int) -> bool:
        """Take `took` microseconds from the seat; True if they were within its limit."""
        in_time = took <= self.limit(seat)
        free = 0 if self._started[seat] else self.control.startup
        cost = max(0, took - free)
        self._started[seat] = True
        self.charged[seat] = cost
        self.bank[seat] = max(0, self.bank[seat] - cost)
        return in_time

    def reward(self, seat: int) -> None:
        """Add the increment: the seat's answer was accepted."""
        self.bank[seat] += self.control.increment
