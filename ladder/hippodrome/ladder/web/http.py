"""What every answer gets: security headers, an entity tag, and an answer to HEAD wherever GET has one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECURITY: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def content_policy(style_hashes: Iterable[str] = ()) -> str:
    """The Content-Security-Policy: everything from here, inline styles only those with one of these hashes."""
    styles = " ".join(["'self'", *(f"'{value}'" for value in style_hashes)])
    return f"default-src 'self'; style-src {styles}; {_DENIED}"


_DENIED: Final = "object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"


class Finish:
    """ASGI middleware. Entity tags are of the whole body, so that a page that is unchanged costs its reader no bytes."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        head = scope["method"] == "HEAD"
        answer = _Answer(send, Headers(scope=scope), head)
        await self.app({**scope, "method": "GET"} if head else scope, receive, answer.take)


class _Answer:
    """Holds one answer back until its body is whole; streams of events and files pass through."""

    def __init__(self, send: Send, asked: Headers, head: bool) -> None:
        self._send, self._asked, self._head = send, asked, head
        self._start: Message | None = None
        self._body = bytearray()

    async def take(self, message: Message) -> None:
        """Take a message of the application."""
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif self._start is None:
            await self._send({"type": message["type"], "body": b""} if self._head else message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._finish(self._start, bytes(self._body))

    async def _begin(self, message: Message) -> None:
        headers = MutableHeaders(raw=message["headers"])
        for name, value in SECURITY.items():
            headers.setdefault(name, value)
        headers.setdefault("Content-Security-Policy", content_policy())
        headers.setdefault("Cache-Control", "no-cache")
        message["headers"] = headers.raw
        streams = "text/event-stream" in headers.get("content-type", "")
        if message["status"] == 200 and "etag" not in headers and not streams:
            self._start = message
        else:
            await self._send(message)

    async def _finish(self, start: Message, body: bytes) -> None:
        headers = MutableHeaders(raw=start["headers"])
        # weak, because compression outside of here changes the bytes but not the meaning
        etag = f'W/"{hashlib.sha256(body).hexdigest()[:24]}"'
        headers["ETag"] = etag
        if _matches(self._asked.get("if-none-match", ""), etag):
            del headers["content-length"]
            await self._send({**start, "status": 304, "headers": headers.raw})
            await self._send({"type": "http.response.body", "body": b""})
            return
        headers["Content-Length"] = str(len(body))
        await self._send({**start, "headers": headers.raw})
        await self._send({"type": "http.response.body", "body": b"" if self._head else body})


def _matches(asked: str, etag: str) -> bool:
    """Weak comparison of RFC 9110, 13.1.2."""
    tags = [tag.strip().removeprefix("W/") for tag in asked.split(",")]
    return etag.removeprefix("W/") in tags or tags == ["*"]
