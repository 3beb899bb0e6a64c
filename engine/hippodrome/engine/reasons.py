"""Why a call was refused: one table for nodes, services, clients and documentation.

A client branches on the reason, never on the text. The gRPC code is named as in `grpc.StatusCode`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hippodrome.engine.errors import FieldError, HippodromeError

DOMAIN: Final = "hippodrome"


@dataclass(frozen=True, slots=True)
class Reason:
    """`code` is the gRPC code, `meaning` says what happened, `remedy` what the client does."""

    code: str
    meaning: str
    remedy: str


REASONS: Final[dict[str, Reason]] = {
    "HELLO_EXPECTED": Reason(
        "FAILED_PRECONDITION", "the first event was not `hello`, or none came in time", "send `hello` first"
    ),
    "HELLO_REPEATED": Reason("FAILED_PRECONDITION", "a second `hello` on one stream", "send it once, as the first event"),
    "PROTOCOL_UNSUPPORTED": Reason(
        "FAILED_PRECONDITION", "`protocol_version` is not spoken here", "use a fitting version of the SDK"
    ),
    "TICKET_INVALID": Reason(
        "UNAUTHENTICATED", "the ticket was not issued by this installation", "ask BotService.CreateBotSession"
    ),
    "TICKET_EXPIRED": Reason(
        "UNAUTHENTICATED", "the ticket is too old to open a session", "ask BotService.CreateBotSession again"
    ),
    "SESSION_FOREIGN": Reason("PERMISSION_DENIED", "the session token belongs to another bot version", "say hello without it"),
    "STREAM_REPLACED": Reason("ABORTED", "a newer stream took the session over", "let the newer one play"),
    "FRAME_INVALID": Reason("INVALID_ARGUMENT", "the message is no PlayRequest", "use the code generated from the .proto"),
    "EVENT_FLOOD": Reason("RESOURCE_EXHAUSTED", "very many answers that nobody asked for", "answer open decisions only"),
    "STREAM_STUCK": Reason("DEADLINE_EXCEEDED", "the bot did not read for a whole grace time", "read while you think"),
    "NODE_CLOSING": Reason("UNAVAILABLE", "the node closes", "connect elsewhere; run the match elsewhere"),
    "NODE_FULL": Reason("RESOURCE_EXHAUSTED", "all slots of the node are taken", "try later or another node"),
    "KEY_INVALID": Reason(
        "PERMISSION_DENIED", "the call needs the internal key of the installation", "nodes are called by workers only"
    ),
    "FIELD_INVALID": Reason("INVALID_ARGUMENT", "a field of the request is wrong", "read `field_violations`"),
    "ATTEMPT_SUPERSEDED": Reason("ABORTED", "an attempt with a newer fence took the match over", "drop this attempt"),
    "GAME_FAILED": Reason(
        "INTERNAL", "the game or the node raised an error; no bot is to blame", "report it; the match is played again"
    ),
    "TOKEN_INVALID": Reason("UNAUTHENTICATED", "there is no token, or none that works", "send `authorization: Bearer SECRET`"),
    "NOT_ALLOWED": Reason(
        "PERMISSION_DENIED", "the account of the token may not do this", "use the owner's or an administrator's token"
    ),
    "NOT_FOUND": Reason("NOT_FOUND", "the named thing is not there", "read the near names in `legal`"),
    "ALREADY_EXISTS": Reason("ALREADY_EXISTS", "the name is taken", "choose another name"),
    "WRONG_STATE": Reason("FAILED_PRECONDITION", "the thing is not in a state that allows this", "read its state"),
    "ENGINE_UNAVAILABLE": Reason("UNAVAILABLE", "no engine node answers now", "try again later"),
    "DATABASE_UNAVAILABLE": Reason("UNAVAILABLE", "the database cannot be used now", "try again later"),
    "TOO_SLOW": Reason("DEADLINE_EXCEEDED", "the call took longer than it may", "ask for less, or try again later"),
    "UNFORESEEN": Reason("INTERNAL", "an error that nobody foresaw; the server's log has it", "report it"),
}
"""Reason -> what it means."""


class Refusal(HippodromeError):
    """A call is refused for `reason`; `metadata` repeats what varies in the message, `fields` are (path, description)."""

    def __init__(self, reason: str, message: str, *, fields: tuple[tuple[str, str], ...] = (), **metadata: str) -> None:
        super().__init__(message)
        self.reason, self.message, self.fields, self.metadata = reason, message, fields, metadata

    @property
    def code(self) -> str:
        """The name of the gRPC code."""
        return REASONS[self.reason].code

    @staticmethod
    def of_field(error: FieldError) -> Refusal:
        """The refusal of a request with one wrong field."""
        about: Mapping[str, str] = {"field": error.field, "legal": ", ".join(error.legal)}
        fields = ((error.field, f"{error.problem}; fix: {error.fix}"),)
        return Refusal("FIELD_INVALID", str(error), fields=fields, **about)
