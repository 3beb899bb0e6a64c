"""The live session: ask where to play, connect, play, reconnect, leave.

    asking --place--> opening --welcome--> playing --goodbye--> leaving --stream ends--> done
      ^                  |                    |
      '---- back-off ----+---- stream breaks -+   (the session token goes along, so that matches go on)
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import grpc
import grpc.aio

from hippodrome.bot._bot import Bot
from hippodrome.bot._channel import open_channel
from hippodrome.bot._errors import BotError, HippodromeError, NotAllowed, ProtocolError, UsageError, from_rpc
from hippodrome.bot._guests import Guests, add
from hippodrome.bot._player import Player, log
from hippodrome.v1.bot_service_pb2 import CreateBotSessionRequest
from hippodrome.v1.bot_service_pb2_grpc import BotServiceStub
from hippodrome.v1.play_service_pb2 import (
    BotEvent,
    Goodbye,
    Hello,
    Invitation,
    PlayRequest,
    PlayResponse,
    Returned,
    Welcome,
)
from hippodrome.v1.play_service_pb2_grpc import PlayServiceStub

PROTOCOL: Final = 1
SDK: Final = "python/0.1.0"
FIRST_PATIENCE: Final = timedelta(seconds=10)
"""How long a server that was never reached is tried."""
PATIENCE: Final = timedelta(minutes=10)
"""How long a lost connection is tried to get back."""
GUEST_PATIENCE: Final = timedelta(seconds=30)
"""How long a node that the bot was invited to is tried: as long as a node waits for a bot that was there."""
_FIRST_WAIT, _LONGEST_WAIT, _CALL_TIMEOUT, _LAST_WORDS = 0.1, 10.0, 10.0, 5.0
_STALE: Final = frozenset({"SESSION_FOREIGN"})
"""Reasons that say: the session token is worth nothing, open a new session."""
_Call = grpc.aio.StreamStreamCall[PlayRequest, PlayResponse]


@dataclass(frozen=True, kw_only=True)
class Options:
    """Where and how to play. Give `server`, `bot` and `token` to ask the server where; or `address` and `ticket` of a node.

    `max_matches`: at once, default the bot's own. `matches`: leave after that many, None for ever. `patience`: how long to try
    to reconnect, None for 10 s before the first connection and 10 minutes after it. `keep_going`: play on in other matches
    when the bot has failed in one.
    """

    server: str = ""
    bot: str = ""
    token: str = field(default="", repr=False)
    address: str = ""
    ticket: str = field(default="", repr=False)
    max_matches: int | None = None
    matches: int | None = None
    patience: timedelta | None = None
    keep_going: bool = False

    def checked(self) -> Options:
        """Itself. Raises UsageError naming the option."""
        if not self.address and not self.server:
            raise UsageError("server: not given; fix: give --server ADDRESS or set HIPPODROME_SERVER")
        if self.address and not self.ticket:
            raise UsageError("ticket: not given; fix: set HIPPODROME_TICKET along with HIPPODROME_ADDRESS")
        if not self.address and not self.bot:
            raise UsageError("bot: not given; fix: give --bot NAME or set HIPPODROME_BOT")
        for name in ("max_matches", "matches"):
            value: int | None = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name}: {value} is too few; fix: give 1 or more")
        return self


@dataclass(frozen=True)
class Summary:
    """What a session did: matches by ending, and how often it had to reconnect."""

    endings: dict[str, int]
    reconnects: int


class Session:
    """One bot process. `run` plays until `leave` was called and the matches are over, or an error that trying cannot mend."""

    def __init__(self, kind: type[Bot], options: Options, guest: bool = False) -> None:
        self.options, self._kind, self._guest = options.checked(), kind, guest
        invited = None if guest else self._follow
        self.player = Player(kind, send=self._ready, stop=self._stop, keep_going=options.keep_going, invited=invited)
        self._guests = Guests(self._open_guest, returned=self._guest_is_back, failed=self._guest_failed, counted=self._count)
        self.reconnects = 0
        self._max = options.max_matches or kind.max_matches
        self._place = (options.address, options.ticket)
        self._token = ""
        self._outbox: list[BotEvent] = []
        self._reading: asyncio.Timeout | None = None
        self._call: _Call | None = None
        self._writer: _Call | None = None
        self._leaving: str | None = None
        self._left = asyncio.Event()
        self._tries, self._trying_since = 0, time.monotonic()
        self._ever_connected = self._old_ticket = False
        self._side: set[asyncio.Task[None]] = set()

    async def run(self) -> Summary:
        """Raises an error of the tree in `hippodrome.bot` when the session cannot go on."""
        try:
            while not self._over():
                await self._try()
            if not self.player.stopped:
                self._guests.leave(self._leaving or "")
                await self._guests.over()
        finally:
            await self._guests.close()
        if self.player.failure is not None:
            raise self.player.failure
        return Summary(self._ended_matches(), self.reconnects)

    async def _try(self) -> None:
        try:
            await self._play(await self._find())
        except grpc.RpcError as error:
            await self._recover(from_rpc(error, self._place[0]))
        except HippodromeError as error:
            await self._recover(error)

    def leave(self, reason: str) -> None:
        """Take no new matches; `run` returns when those under way are over. Call from the loop's thread."""
        if self._leaving is None:
            self._leaving = reason
            self._left.set()
            self._guests.leave(reason)
            self._mind_idle()
            self._ready(BotEvent(goodbye=Goodbye(reason=reason)))

    def _over(self) -> bool:
        """Nothing left to play for."""
        return self.player.stopped or (self._leaving is not None and not self.player.places)

    async def _find(self) -> tuple[str, str]:
        """Address and ticket. The server is asked each time, for the bot may have to play elsewhere now."""
        options = self.options
        if options.address:
            return self._place
        try:
            self._place, self._old_ticket = await _ask(options, self._name()), False
        except HippodromeError as error:
            if not (error.temporary and self._ever_connected):
                raise
            self._old_ticket = True
        return self._place

    def _name(self) -> str:
        """Whom to ask for: the version that has matches under way must go on, whatever the newest is now."""
        welcome = self.player.welcome
        return welcome.bot_version if welcome is not None and self.player.places else self.options.bot

    async def _play(self, place: tuple[str, str]) -> None:
        """One stream, from hello to its end."""
        async with open_channel(place[0]) as channel:
            call = PlayServiceStub(channel).Play()
            self._call, self._outbox = call, []
            try:
                with contextlib.suppress(asyncio.InvalidStateError):
                    await call.write(self._hello(place[1]))
                await self._read(call)
            except asyncio.CancelledError:
                if not self.player.stopped:
                    raise
            finally:
                self._call = self._reading = None
                call.cancel()
        if self.player.draining:
            self._token = ""
        if not self._over():
            await self._ended()

    def _hello(self, ticket: str) -> PlayRequest:
        hello = Hello(
            ticket=ticket,
            session_token=self._token,
            protocol_version=PROTOCOL,
            sdk=SDK,
            max_matches=self._max,
            follows_invitations=not self._guest,
            elsewhere=len(self._guests),
        )
        return PlayRequest(events=[BotEvent(hello=hello)])

    async def _read(self, call: _Call) -> None:
        """Read frames and answer each with one frame, until the stream ends or there is nothing left to do."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None) as self._reading:
                while (frame := await call.read()) is not grpc.aio.EOF:
                    assert isinstance(frame, PlayResponse)
                    self._outbox += self.player.take(frame)
                    self._note(frame)
                    if self.player.stopped:
                        return
                    if self._outbox:
                        await self._flush()
                    self._mind_idle()

    def _mind_idle(self) -> None:
        """With nothing left to play for, the node is to end the stream; it is not waited for without end.

        It is the node that ends it, for a match may be on its way to a bot that has just said goodbye.
        """
        idle = not self.player.places and (self._leaving is not None or self.player.draining)
        if self._reading is not None and (idle or self._reading.when() is not None):
            self._reading.reschedule(asyncio.get_running_loop().time() + _LAST_WORDS if idle else None)

    def _note(self, frame: PlayResponse) -> None:
        """Keep what a new stream told, and leave once there were enough matches."""
        if frame.events and frame.events[0].HasField("welcome"):
            self._connected(frame.events[0].welcome)
        else:
            self._tries = 0
        self._count()

    def _count(self) -> None:
        """Leave once there were enough matches, here and elsewhere."""
        wanted = self.options.matches
        if wanted is not None and sum(self._ended_matches().values()) >= wanted:
            self.leave(f"played {wanted} matches")

    def _ended_matches(self) -> dict[str, int]:
        return add(self.player.ended, self._guests.ended)

    # Matches at other nodes

    def _follow(self, invitation: Invitation) -> None:
        if self._leaving is None:
            self._guests.follow(invitation)
        else:
            self._guest_is_back()

    def _open_guest(self, address: str, ticket: str) -> Session:
        options = Options(
            address=address,
            ticket=ticket,
            max_matches=1,
            patience=self.options.patience or GUEST_PATIENCE,
            keep_going=self.options.keep_going,
        )
        return Session(self._kind, options, guest=True)

    def _guest_is_back(self) -> None:
        self._ready(BotEvent(returned=Returned()))

    def _guest_failed(self, error: BotError) -> None:
        self.player.failure = self.player.failure or error
        if self.player.stopped:
            self._stop()

    def _connected(self, welcome: Welcome) -> None:
        self._token = welcome.session_token
        self.reconnects += self._ever_connected
        self._ever_connected = True
        if self._leaving is not None:
            self._outbox.append(BotEvent(goodbye=Goodbye(reason=self._leaving)))

    def _stop(self) -> None:
        """The bot failed while nobody was reading a frame."""
        if self._call is not None:
            self._call.cancel()

    def _ready(self, event: BotEvent) -> None:
        """Send an event that is no direct answer to a frame."""
        if self._call is not None:
            self._outbox.append(event)
            task = asyncio.ensure_future(self._flush())
            self._side.add(task)
            task.add_done_callback(self._side.discard)

    async def _flush(self) -> None:
        """Write all that is ready as one frame. One writer at a time: whoever comes later leaves it to the first."""
        call = self._call
        if call is None or self._writer is call:
            return
        self._writer = call
        try:
            while self._outbox and self._call is call:
                events, self._outbox = self._outbox, []
                await call.write(PlayRequest(events=events))
        except (grpc.RpcError, asyncio.InvalidStateError):
            pass  # the stream broke: the reader meets the same end and deals with it
        finally:
            self._writer = None if self._writer is call else self._writer

    async def _ended(self) -> None:
        """The stream ended in good order although this bot did not leave."""
        if not self.options.address:
            await self._wait("the node ended the session")
        elif self.player.places:
            raise ProtocolError("session: the node ended it in the middle of a match; fix: see the node's log")
        else:
            self._leaving = "the node ended the session"

    async def _recover(self, error: HippodromeError) -> None:
        """Wait before the next try, or raise `error` when trying is no use (any more)."""
        if error.reason in _STALE and self._token:
            self._token = ""
            return
        if self._tries == 0:
            self._trying_since = time.monotonic()
        patience = self.options.patience or (PATIENCE if self._ever_connected else FIRST_PATIENCE)
        left = self._trying_since + patience.total_seconds() - time.monotonic()
        may_help = error.temporary or (isinstance(error, NotAllowed) and self._old_ticket)
        if not may_help or left <= 0:
            raise error
        if not self._over():
            await self._wait(str(error), left)

    async def _wait(self, why: str, longest: float = _LONGEST_WAIT) -> None:
        """Back off: twice as long each time, with jitter so that many bots do not come back at once."""
        pause = min(longest, _LONGEST_WAIT, _FIRST_WAIT * 2**self._tries) * random.uniform(0.5, 1.0)
        self._tries += 1
        log.warning("%s; trying again in %.1f s", why, pause)
        if self._left.is_set():
            await asyncio.sleep(pause)
        else:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._left.wait(), pause)


async def _ask(options: Options, bot: str) -> tuple[str, str]:
    """Ask the server where `bot` may play: address and ticket."""
    metadata = (("authorization", f"Bearer {options.token}"),) if options.token else None
    async with open_channel(options.server) as channel:
        request = CreateBotSessionRequest(bot=bot, follows_invitations=True)
        try:
            given = await BotServiceStub(channel).CreateBotSession(request, metadata=metadata, timeout=_CALL_TIMEOUT)
        except grpc.RpcError as error:
            raise from_rpc(error, options.server) from None
    return given.address, given.ticket


async def connect(kind: type[Bot], options: Options) -> Summary:
    """Play live until `options.matches` are over (for ever when None). Raises HippodromeError; never a grpc.RpcError."""
    return await Session(kind, options).run()

