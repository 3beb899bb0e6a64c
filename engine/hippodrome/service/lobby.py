"""Who is here: all sessions of a node, and the seating of matches.

Seating takes one place for every seat in a single step or none at all, so two matches cannot wait for each other. A
session gets at most one seat of a match. Who waits longest is seated first.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from hippodrome.engine import tickets
from hippodrome.engine.errors import FieldError
from hippodrome.engine.reasons import Refusal
from hippodrome.engine.tickets import Ticket
from hippodrome.service import convert
from hippodrome.service.config import NodeConfig
from hippodrome.service.session import CLOSED, NEXT, Session, Stream, step

MOST_MATCHES: Final = 1024
"""The most matches one session is given, whatever it asks for."""


INVITATION_SECONDS: Final = 60
"""How long the ticket of an invitation opens a session."""


@dataclass(frozen=True, slots=True, eq=False)
class Wish:
    """A match that waits. `take` seats it if it can; `told` is set when it did."""

    take: Callable[[], bool]
    told: asyncio.Future[None]


class Lobby:
    """The session table. `crashed` maps a bot version whose launched process has ended to what is to be said of it."""

    def __init__(self, config: NodeConfig) -> None:
        self._config = config
        self.sessions: dict[str, Session] = {}
        self.crashed: dict[str, str] = {}
        self._waiting: list[Wish] = []

    # Sessions

    def open(self, ticket_text: str, token: str, max_matches: int, *, loopback: bool) -> tuple[Session, bool]:
        """The session of a hello and whether it was resumed. Raises Refusal."""
        known = self.sessions.get(token)
        ticket = self._ticket(ticket_text, known is not None)
        if known is None:
            session = Session(secrets.token_urlsafe(32), ticket.bot, ticket.version, _clamp(max_matches), self.changed)
            self.sessions[session.token] = session
        else:
            session = known
            if session.version != ticket.version:
                text = "session_token: it belongs to another bot version; fix: leave it empty to open a new session"
                raise Refusal("SESSION_FOREIGN", text)
            session.state = step(session.state, "resumed")
            session.capacity = _clamp(max_matches)
        session.loopback = loopback
        return session, known is not None

    def versions(self) -> list[str]:
        """The bot versions connected now, sorted."""
        return sorted({session.version for session in self.sessions.values() if session.here})

    def free_versions(self) -> list[str]:
        """Those of them with a place for one more match, sorted."""
        return sorted({session.version for session in self.sessions.values() if session.free > 0})

    def invitable_versions(self) -> list[str]:
        """Those of them that would follow an invitation now, sorted."""
        return sorted({session.version for session in self.sessions.values() if session.follows and session.free > 0})

    def invite(self, version: str, match: str, address: str) -> bool:
        """Send a bot of this version to the node at `address`: one place less is filled here until it is back. False if none
        with a free place is here."""
        able = [s for s in self.sessions.values() if s.version == version and s.follows and s.free > 0]
        session = max(able, key=lambda s: s.free, default=None)
        if session is None:
            return False
        session.lent += 1
        ticket = Ticket(session.bot, version, int(time.time()) + INVITATION_SECONDS)
        session.send(convert.invitation(match, address, tickets.issue(self._config.secret, ticket)))
        return True

    def changed(self, session: Session) -> None:
        """A place came free, a bot came or went: end a session that is done, seat who waits."""
        if not session.places and (session.state, "idle") in NEXT:
            session.state = step(session.state, "idle")
            self._forget(session)
            if session.stream is not None:
                session.stream.close(None)
        self.seat_waiting()

    def lost(self, session: Session, stream: Stream) -> None:
        """The stream of a session ended."""
        session.lose(stream, time.monotonic_ns())
        self.changed(session)

    def sweep(self) -> None:
        """Once a second: forget sessions without matches that stayed away, end streams whose bot does not read."""
        now, grace = time.monotonic_ns(), round(self._config.grace * 1e9)
        for session in list(self.sessions.values()):
            if not session.here and not session.places and now - session.away_since > grace:
                session.state = step(session.state, "forgotten")
                self._forget(session)
            elif session.stream is not None and session.stream.stuck(now, grace):
                text = f"the bot did not read for {self._config.grace:g} s; fix: read while you think"
                session.stream.close(Refusal("STREAM_STUCK", text))

    def _ticket(self, text: str, resumes: bool) -> Ticket:
        """The ticket of a hello. One that resumes a session may be old: the session token is a secret too."""
        try:
            ticket = tickets.check(self._config.secret, text, 0.0)
        except FieldError as error:
            raise Refusal("TICKET_INVALID", str(error), fields=(("ticket", error.problem),)) from None
        if ticket.expires < time.time() and not resumes:
            text = "ticket: expired; fix: ask for a new one with BotService.CreateBotSession"
            raise Refusal("TICKET_EXPIRED", text, fields=(("ticket", "expired"),), expired=str(ticket.expires))
        return ticket

    def _forget(self, session: Session) -> None:
        self.sessions.pop(session.token, None)

    # Seats

    def choose(self, versions: Sequence[str]) -> list[Session | None]:
        """For each seat a session with a free place, the freest first, no session twice; None where there is none."""
        chosen: list[Session | None] = []
        for version in versions:
            able = [s for s in self.sessions.values() if s.version == version and s.free > 0 and s not in chosen]
            chosen.append(max(able, key=lambda s: s.free, default=None))
        return chosen

    def connected(self, version: str) -> bool:
        """Whether a session of the version lives here, away or busy ones too."""
        return any(s.version == version for s in self.sessions.values())

    def wish(self, take: Callable[[], bool]) -> Wish:
        """Line up: `take`, which seats a match or does nothing, is tried now and whenever something has changed."""
        wish = Wish(take, asyncio.get_running_loop().create_future())
        self._waiting.append(wish)
        self.seat_waiting()
        return wish

    def give_up(self, wish: Wish) -> None:
        """Leave the line."""
        if wish in self._waiting:
            self._waiting.remove(wish)

    def seat_waiting(self) -> None:
        """Seat every match that can be seated now, the oldest first."""
        for wish in list(self._waiting):
            if not wish.told.done() and wish.take():
                wish.told.set_result(None)
                self._waiting.remove(wish)

    def process_ended(self, version: str, reason: str) -> None:
        """The launched process of a bot version has ended: its open decisions and all further ones are `crash`."""
        self.crashed[version] = reason
        for session in list(self.sessions.values()):
            if session.version == version:
                for place in list(session.places.values()):
                    place.match.seat_gone(place, "crash", reason)
        self.seat_waiting()

    def close(self, reason: str) -> None:
        """Tell all bots that the node drains, then end their streams in good order."""
        for session in list(self.sessions.values()):
            session.send(convert.draining(reason))
            session.state = CLOSED
            if session.stream is not None:
                session.stream.close(None)


def _clamp(max_matches: int) -> int:
    return min(max(1, max_matches), MOST_MATCHES)
