"""How long the node itself stood still. Such time is never charged to a bot."""

from __future__ import annotations

import asyncio
import time
from typing import Final

BEAT: Final = 0.05
"""Seconds between beats; a beat that is later than one more beat is a standstill."""


class Pulse:
    """A beat on the event loop. `stalled` only counts time in which the whole loop did not run."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stalled = 0.0
        self._due = time.monotonic() + BEAT
        self._timer = self._loop.call_later(BEAT, self._beat)

    def stalled(self) -> int:
        """Microseconds since the node began in which it stood still, a standstill that has just ended included."""
        return round((self._stalled + self._late()) * 1e6)

    def stop(self) -> None:
        """End the beat."""
        self._timer.cancel()

    def _late(self) -> float:
        late = time.monotonic() - self._due
        return late if late > BEAT else 0.0

    def _beat(self) -> None:
        self._stalled += self._late()
        self._due = time.monotonic() + BEAT
        self._timer = self._loop.call_later(BEAT, self._beat)
