"""How long the node itself stood still. Such time is never charged to a bot."""

from __future__ import annotations

import asyncio
import time
from typing import Final

BEAT: Final = 50_000
"""Microseconds between beats; a beat that is later than one more beat is a standstill."""


class Pulse:
    """A beat on the event loop. `stalled` only counts time in which the whole loop did not run."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stalled = 0
        self._next()

    def stalled(self) -> int:
        """Microseconds since the node began in which it stood still, a standstill that has just ended included."""
        late = time.monotonic_ns() // 1000 - self._due
        return self._stalled + late if late > BEAT else self._stalled

    def stop(self) -> None:
        """End the beat."""
        self._timer.cancel()

    def _next(self) -> None:
        self._due = time.monotonic_ns() // 1000 + BEAT
        self._timer = self._loop.call_later(BEAT / 1e6, self._beat)

    def _beat(self) -> None:
        self._stalled = self.stalled()
        self._next()
