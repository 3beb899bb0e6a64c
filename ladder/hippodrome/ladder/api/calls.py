"""What every RPC has in common: who calls, how long it may take, one unit of work in a thread, errors as gRPC statuses."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, TypeVar

import grpc
from grpc.aio import ServerInterceptor, ServicerContext
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from hippodrome.ladder import accounts
from hippodrome.ladder.api.errors import TRAILER, NotAllowed, Unauthenticated, message_of, status_of, trailer_of
from hippodrome.ladder.db import Database
from hippodrome.ladder.errors import AlreadyExists
from hippodrome.ladder.models import Account
from hippodrome.ladder.settings import Settings

LOG: Final = logging.getLogger(__name__)
LONGEST_SECONDS: Final = 30.0
"""The longest a unary call may take, whatever its deadline."""
THREADS: Final = 8
Q = TypeVar("Q")
P = TypeVar("P")
Context = ServicerContext[Any, Any]
_SECRET: contextvars.ContextVar[str | None] = contextvars.ContextVar("secret", default=None)


@dataclass(slots=True)
class Call:
    """One call in its unit of work. `account` is None for a caller without a token."""

    session: Session
    account: Account | None
    settings: Settings

    def owner(self) -> Account:
        """The account of the caller. Raises Unauthenticated."""
        if self.account is None:
            raise Unauthenticated("authorization", "this call needs a token", _TOKEN_FIX)
        return self.account

    def admin(self, what: str) -> Account:
        """The account of the caller, an administrator. Raises NotAllowed."""
        account = self.owner()
        if not account.admin:
            raise NotAllowed(
                "authorization",
                f"only an administrator may {what}, accounts/{account.name} is none",
                "use an administrator's token",
            )
        return account


_TOKEN_FIX: Final = "set HIPPODROME_TOKEN (metadata `authorization: Bearer SECRET`); `hippodrome token create` makes one"


@dataclass(slots=True)
class Hub:
    """Runs the calls of all services on one database."""

    database: Database
    settings: Settings
    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(THREADS, "sql"))
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server is told to stop; streams end then."""

    async def read(self, context: Context, work: Callable[[Call, Q], P], request: Q) -> P:
        """Answer `request` with `work`, which only reads."""
        return await self._answer(context, self._reading, work, request)

    async def write(self, context: Context, work: Callable[[Call, Q], P], request: Q) -> P:
        """Answer `request` with `work` in one transaction. A caller without a token is refused before `work` starts."""
        return await self._answer(context, self._writing, work, request)

    async def in_thread(self, run: Callable[..., P], *arguments: Any) -> P:
        """Run blocking code in a thread of the pool, with the caller's token."""
        here = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self.threads, lambda: here.run(run, *arguments))

    def reading(self, work: Callable[[Call, Q], P], request: Q) -> P:
        """The answer of `work`, here and now, in this thread."""
        return self._reading(work, request)

    async def pause(self, seconds: float) -> None:
        """Wait, less long when the server closes."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.closing.wait(), seconds)

    async def _answer(self, context: Context, unit: Callable[..., P], work: Callable[[Call, Q], P], request: Q) -> P:
        try:
            return await asyncio.wait_for(self.in_thread(unit, work, request), _seconds(context))
        except Exception as error:
            return await abort(context, error)

    def _reading(self, work: Callable[[Call, Q], P], request: Q) -> P:
        with self.database.read() as session:
            return work(Call(session, _caller(session), self.settings), request)

    def _writing(self, work: Callable[[Call, Q], P], request: Q) -> P:
        with self.database.read() as session:
            Call(session, _caller(session), self.settings).owner()
        try:
            return self._write(work, request)
        except (IntegrityError, AlreadyExists):
            return self._write(work, request)

    def _write(self, work: Callable[[Call, Q], P], request: Q) -> P:
        """One transaction. Where a request is told twice at once, the second may see what the first has made before it sees
        that it was the same request: it tries again and then finds both."""
        with self.database.write() as session:
            return work(Call(session, _caller(session), self.settings), request)


class TokenInterceptor(ServerInterceptor):
    """Takes the secret out of the metadata `authorization: Bearer SECRET` for the call that follows."""

    async def intercept_service(
        self, continuation: Callable[[grpc.HandlerCallDetails], Any], handler_call_details: grpc.HandlerCallDetails
    ) -> Any:
        _SECRET.set(secret_of(handler_call_details.invocation_metadata))
        return await continuation(handler_call_details)


def secret_of(metadata: Any) -> str | None:
    """The secret in `authorization: Bearer SECRET`; empty when the header has another form, None when there is none."""
    for key, value in metadata or ():
        if key == "authorization":
            scheme, _, secret = value.partition(" ")
            return str(secret).strip() if scheme.lower() == "bearer" else ""
    return None


async def abort(context: Context, error: Exception) -> NoReturn:
    """End the call with the status, message and details of `error`."""
    code = status_of(error)
    if code is grpc.StatusCode.INTERNAL:
        LOG.error("unforeseen error in a call", exc_info=error)
    await context.abort(code, message_of(error), ((TRAILER, trailer_of(error)),))


def _caller(session: Session) -> Account | None:
    secret = _SECRET.get()
    if secret is None:
        return None
    account = accounts.authenticate(session, secret)
    if account is None:
        raise Unauthenticated("authorization", "the token is not known here, or was revoked", _TOKEN_FIX)
    return account


def _seconds(context: Context) -> float:
    """What is left for the call."""
    left = context.time_remaining()
    return LONGEST_SECONDS if left is None else min(left, LONGEST_SECONDS)
