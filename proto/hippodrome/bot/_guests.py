"""Matches at other nodes: an invitation opens a further session there, with one place, which ends when it has been idle.

The bot's own session stays; each guest session takes one of its places until it is over.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final, Protocol

from hippodrome.bot._errors import BotError, HippodromeError
from hippodrome.bot._player import Player, log
from hippodrome.v1.play_service_pb2 import Invitation

IDLE: Final = 15.0
"""Seconds without a match after which a guest leaves."""
_LOOK: Final = 0.2


class Guest(Protocol):
    """A session at another node."""

    player: Player

    async def run(self) -> object: ...
    def leave(self, reason: str) -> None: ...


class Guests:
    """The guest sessions of a bot. `open_` makes one for an address and a ticket; `returned` is called when one is over,
    `failed` when the bot has failed in it, `counted` now and then, so that matches played there are counted."""

    def __init__(
        self,
        open_: Callable[[str, str], Guest],
        *,
        returned: Callable[[], None],
        failed: Callable[[BotError], None],
        counted: Callable[[], None],
    ) -> None:
        self._open, self._returned, self._failed, self._counted = open_, returned, failed, counted
        self._visits: dict[asyncio.Task[None], Guest] = {}
        self._before: dict[str, int] = {}
        """Endings of sessions that are over -> how often."""

    def __len__(self) -> int:
        return len(self._visits)

    @property
    def ended(self) -> dict[str, int]:
        """Endings -> how often."""
        return add(self._before, *(guest.player.ended for guest in self._visits.values()))

    def follow(self, invitation: Invitation) -> None:
        """Open a session where the invitation says."""
        log.info("%s: invited to %s", invitation.match, invitation.address)
        guest = self._open(invitation.address, invitation.ticket)
        self._visits[asyncio.create_task(self._visit(guest, invitation.address))] = guest

    def leave(self, reason: str) -> None:
        """Take no new matches."""
        for guest in self._visits.values():
            guest.leave(reason)

    async def over(self) -> None:
        """Wait until all are over."""
        while self._visits:
            await asyncio.wait(self._visits)

    async def close(self) -> None:
        """End all at once."""
        visits = list(self._visits)
        for task in visits:
            task.cancel()
        await asyncio.gather(*visits, return_exceptions=True)

    async def _visit(self, guest: Guest, address: str) -> None:
        watch = asyncio.create_task(self._watch(guest))
        try:
            await guest.run()
        except BotError as error:
            self._failed(error)
        except HippodromeError as error:
            log.warning("the session at %s is over: %s", address, error)
        finally:
            watch.cancel()
            guest.player.forget_all()
            self._before = add(self._before, guest.player.ended)
            self._visits = {task: one for task, one in self._visits.items() if one is not guest}
            self._returned()
            self._counted()

    async def _watch(self, guest: Guest) -> None:
        """Let the guest leave when it has been idle."""
        since, seen = time.monotonic(), 0
        while True:
            await asyncio.sleep(_LOOK)
            self._counted()
            played = sum(guest.player.ended.values())
            if guest.player.places or played != seen:
                since, seen = time.monotonic(), played
            elif time.monotonic() - since > IDLE:
                guest.leave("no match for a while")


def add(*counts: dict[str, int]) -> dict[str, int]:
    """The sum by key."""
    return {key: sum(count.get(key, 0) for count in counts) for key in dict.fromkeys(key for count in counts for key in count)}
