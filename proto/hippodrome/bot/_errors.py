"""The errors of the SDK. A raw `grpc.RpcError` never leaves it.

    HippodromeError (Exception)      every error the SDK raises on purpose; catch this one to print one line
     |- UsageError                   an option, a file or a name is wrong                                    exit code 2
     |- ConnectionLost               the server or the node cannot be reached, or went away                  exit code 3
     |- BotError                     the bot crashed or answered with something that is no legal move        exit code 4
     |- NotAllowed                   the token or the ticket is not accepted                                 exit code 5
     |- ProtocolError                the other side does not keep to the protocol, or speaks another one     exit code 1

`str(error)` is one line: the field, what was wrong, the fix. Errors that came over the wire carry `reason` and `metadata`.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

import grpc
from google.protobuf.message import DecodeError

from hippodrome.v1.errors_pb2 import BadRequest, ErrorInfo, ErrorStatus

_TRAILER: Final = "grpc-status-details-bin"
_DETAILS: Final[dict[str, type[ErrorInfo] | type[BadRequest]]] = {
    "google.rpc.ErrorInfo": ErrorInfo,
    "google.rpc.BadRequest": BadRequest,
}
_LEGAL_SHOWN: Final = 12


class HippodromeError(Exception):
    """Base of all errors of the SDK. Of an error that came over the wire `reason` is the machine-readable word, `metadata` what
    varies in the message, and `fields` the wrong fields of a request as (path, description); else they are empty."""

    exit_code: ClassVar[int] = 1
    temporary: bool = False
    """Whether trying again later can help."""

    def __init__(
        self,
        message: str,
        *,
        reason: str = "",
        metadata: Mapping[str, str] | None = None,
        fields: Sequence[tuple[str, str]] = (),
    ) -> None:
        super().__init__(message)
        self.reason, self.metadata, self.fields = reason, dict(metadata or {}), tuple(fields)

    def report(self) -> str:
        """All there is to say, for a terminal; may be several lines."""
        return f"error{f'[{self.reason.lower()}]' if self.reason else ''}: {self}"


class UsageError(HippodromeError):
    """An option, a file or a name is wrong."""

    exit_code = 2


class ConnectionLost(HippodromeError):
    """The other side cannot be reached or went away. Trying again may help."""

    exit_code, temporary = 3, True


class NotAllowed(HippodromeError):
    """The token or the ticket is not accepted."""

    exit_code = 5


class ProtocolError(HippodromeError):
    """The other side does not keep to the protocol, or speaks another version of it."""


class BotError(HippodromeError):
    """The bot crashed or gave something that is no legal move.

    `code` is `crash`, `illegal_move` or `bad_answer`; `legal` the moves that were legal; `where` the file and line of the bot;
    `trace` the bot's own traceback (after a crash); `answer` the text that it gave (after a bad answer).
    """

    exit_code = 4

    def __init__(
        self,
        code: str,
        problem: str,
        *,
        fix: str,
        legal: Sequence[str] = (),
        where: str = "",
        trace: str = "",
        answer: str = "",
    ) -> None:
        super().__init__(f"{problem}; fix: {fix}", reason=code)
        self.code, self.problem, self.legal, self.where, self.fix = code, problem, tuple(legal), where, fix
        self.trace, self.answer = trace, answer

    def report(self) -> str:
        lines = [f"error[{self.code}] {self.problem}"]
        if self.legal:
            lines.append(f"  legal: {shorten(self.legal)}")
        if self.where:
            lines.append(f"  your bot: {self.where}")
        lines += [f"  | {line}" for line in self.trace.splitlines()]
        return "\n".join([*lines, f"  fix: {self.fix}"])


def shorten(words: Sequence[str], shown: int = _LEGAL_SHOWN) -> str:
    """The first words, and how many more there are."""
    rest = len(words) - shown
    return " ".join(words[:shown]) + (f" ... and {rest} more" if rest > 0 else "")


def own_trace(error: BaseException) -> str:
    """The traceback of `error` without the frames of the SDK and of Python's own machinery."""
    frames = _own_frames(error)
    lines = traceback.format_list(frames) + traceback.format_exception_only(error)
    return ("Traceback (most recent call last):\n" if frames else "") + "".join(lines).rstrip()


def last_line(error: BaseException) -> str:
    """File and line where `error` was raised, as far as it was not in the SDK."""
    frames = _own_frames(error)
    return f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else ""


def from_rpc(error: grpc.RpcError, where: str) -> HippodromeError:
    """The error of this tree for a gRPC error; `where` names what was called."""
    code, message = error.code(), error.details() or ""
    info, fields = _about(error)
    kind = _KINDS.get(code, ProtocolError)
    text = f"{where}: {message or code.name.lower()}" if kind is not ConnectionLost else _unreachable(where, message, code)
    return kind(text, reason=info.reason, metadata=info.metadata, fields=fields)


_KINDS: Final[dict[grpc.StatusCode, type[HippodromeError]]] = {
    grpc.StatusCode.UNAVAILABLE: ConnectionLost,
    grpc.StatusCode.DEADLINE_EXCEEDED: ConnectionLost,
    grpc.StatusCode.CANCELLED: ConnectionLost,
    grpc.StatusCode.ABORTED: ConnectionLost,
    grpc.StatusCode.INTERNAL: ConnectionLost,
    grpc.StatusCode.UNKNOWN: ConnectionLost,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ConnectionLost,
    grpc.StatusCode.UNAUTHENTICATED: NotAllowed,
    grpc.StatusCode.PERMISSION_DENIED: NotAllowed,
    grpc.StatusCode.INVALID_ARGUMENT: UsageError,
    grpc.StatusCode.NOT_FOUND: UsageError,
}


def _unreachable(where: str, message: str, code: grpc.StatusCode) -> str:
    return f"{where}: {message or code.name.lower()}; fix: check the address and that the service runs"


def _about(error: grpc.RpcError) -> tuple[ErrorInfo, list[tuple[str, str]]]:
    """What the trailer says: google.rpc.ErrorInfo (an empty one when there is none that can be read) and the wrong fields."""
    trailer: Iterable[Any] = error.trailing_metadata() or ()
    found = [detail for key, raw in trailer if key == _TRAILER for detail in _details(raw)]
    info = next((detail for detail in found if isinstance(detail, ErrorInfo)), ErrorInfo())
    wrong = [violation for detail in found if isinstance(detail, BadRequest) for violation in detail.field_violations]
    return info, [(violation.field, violation.description) for violation in wrong]


def _details(raw: bytes) -> list[ErrorInfo | BadRequest]:
    found: list[ErrorInfo | BadRequest] = []
    try:
        for packed in ErrorStatus.FromString(raw).details:
            kind = _DETAILS.get(packed.type_url.rpartition("/")[2])
            if kind is not None:
                found.append(kind.FromString(packed.value))
    except DecodeError:
        return []
    return found


def _own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame in frames if not frame.filename.startswith((_HERE, "<"))]


_HERE: Final = __file__.rpartition("_errors")[0]
