"""Tickets: what lets a bot version open a session at an engine node without the node asking a database.

A ticket is `<payload>.<mac>`, both base64url: the payload is JSON {bot, version, expires} (expires in Unix seconds), the mac
is HMAC-SHA256 of it with the secret of the installation. The internal key, which workers show to nodes, comes from it too.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass

from hippodrome.engine.errors import FieldError


@dataclass(frozen=True, slots=True)
class Ticket:
    """`bot` is the bot's name, `version` the resource name of the version that plays, `expires` in Unix seconds."""

    bot: str
    version: str
    expires: int


def issue(secret: bytes, ticket: Ticket) -> str:
    """The text of a ticket."""
    raw = json.dumps({"bot": ticket.bot, "version": ticket.version, "expires": ticket.expires}, separators=(",", ":"))
    payload = _encode(raw.encode())
    return f"{payload}.{_mac(secret, payload)}"


def check(secret: bytes, text: str, now: float) -> Ticket:
    """The ticket of `text` if it is genuine and not expired at `now` (Unix seconds). Raises FieldError."""
    payload, _, mac = text.partition(".")
    if not hmac.compare_digest(_raw(mac), _raw(_mac(secret, payload))):
        raise FieldError("ticket", "not issued by this installation", "ask for a new one with BotService.CreateBotSession")
    ticket = Ticket(**json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))))
    if ticket.expires < now:
        raise FieldError("ticket", "expired", "ask for a new one with BotService.CreateBotSession")
    return ticket


def internal_key(secret: bytes) -> str:
    """The key that a worker shows to an engine node, in hex."""
    return hmac.digest(secret, b"hippodrome internal key", "sha256").hex()


def _mac(secret: bytes, payload: str) -> str:
    return _encode(hmac.digest(secret, b"ticket:" + _raw(payload), hashlib.sha256))


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _raw(text: str) -> bytes:
    """Any text has bytes here: what an environment variable held need not be UTF-8."""
    return text.encode("utf-8", "surrogatepass")
