"""Errors over the wire: which status and reason an error becomes, and how its details are packed.

Every failed call carries, beside a message of one line, google.rpc details in the trailer `grpc-status-details-bin`:
an ErrorInfo whose metadata hold field, problem, fix and legal values, and, where a field is wrong, a BadRequest.
"""

from __future__ import annotations

from typing import Final

import grpc
from google.protobuf.any_pb2 import Any as Packed

from hippodrome.engine.errors import FieldError, HippodromeError
from hippodrome.engine.reasons import DOMAIN, REASONS
from hippodrome.ladder.errors import AlreadyExists, DatabaseUnavailable, NotFound, WrongState
from hippodrome.v1.errors_pb2 import BadRequest, ErrorInfo, ErrorStatus

TRAILER: Final = "grpc-status-details-bin"
_TYPE: Final = "type.googleapis.com/google.rpc."


class NotAllowed(FieldError):
    """The token is missing or wrong, or its account may not do this."""


class Unauthenticated(NotAllowed):
    """There is no token that works."""


class EngineUnavailable(FieldError):
    """No engine node can be reached now; trying again later may help."""


REASON_OF: Final[dict[type[Exception], str]] = {
    Unauthenticated: "TOKEN_INVALID",
    NotAllowed: "NOT_ALLOWED",
    EngineUnavailable: "ENGINE_UNAVAILABLE",
    NotFound: "NOT_FOUND",
    AlreadyExists: "ALREADY_EXISTS",
    WrongState: "WRONG_STATE",
    DatabaseUnavailable: "DATABASE_UNAVAILABLE",
    HippodromeError: "FIELD_INVALID",
    TimeoutError: "TOO_SLOW",
}
"""Class of error, narrowest first -> the reason in `hippodrome.engine.reasons`. Anything else is UNFORESEEN and is logged."""


def reason_of(error: Exception) -> str:
    """The reason of `error`."""
    return next((reason for kind, reason in REASON_OF.items() if isinstance(error, kind)), "UNFORESEEN")


def status_of(error: Exception) -> grpc.StatusCode:
    """The gRPC code of `error`."""
    return grpc.StatusCode[REASONS[reason_of(error)].code]


def message_of(error: Exception) -> str:
    """One line for people. What an unforeseen error says stays in the server's log."""
    if isinstance(error, TimeoutError):
        return "deadline: the call took too long; fix: give it more time or ask for less"
    if isinstance(error, HippodromeError):
        return " ".join(str(error).split())
    return "server: an unforeseen error, written to the server's log; fix: report it"


def trailer_of(error: Exception) -> bytes:
    """The google.rpc.Status with its details, serialised."""
    info = ErrorInfo(reason=reason_of(error), domain=DOMAIN)
    status = ErrorStatus(code=status_of(error).value[0], message=message_of(error))
    if isinstance(error, FieldError):
        info.metadata.update(field=error.field, problem=error.problem, fix=error.fix, legal="\n".join(error.legal))
        violation = BadRequest.FieldViolation(field=error.field, description=f"{error.problem}; fix: {error.fix}")
        status.details.append(_packed("BadRequest", BadRequest(field_violations=[violation])))
    status.details.insert(0, _packed("ErrorInfo", info))
    return status.SerializeToString()


def _packed(name: str, message: ErrorInfo | BadRequest) -> Packed:
    return Packed(type_url=_TYPE + name, value=message.SerializeToString())
