"""Engine objects to v1 messages and back. Events for a bot are made here as bytes, ready to be put into a frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from google.protobuf import message_factory
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration

from hippodrome.engine.chance import commitment
from hippodrome.engine.clock import TimeControl
from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import View as Tree
from hippodrome.engine.reasons import DOMAIN, Refusal
from hippodrome.engine.referee import Decision, MatchSpec, Policy, Result, SeatSpec
from hippodrome.games.registry import read_ruleset
from hippodrome.v1 import engine_service_pb2 as engine_v1
from hippodrome.v1 import errors_pb2, match_pb2
from hippodrome.v1 import play_service_pb2 as play_v1
from hippodrome.v1.view_pb2 import View

PROTOCOL: Final = 1
_TYPES: Final = "type.googleapis.com/google.rpc."


def _tag(number: int) -> bytes:
    """What stands before the length of a message in field `number`, at most 15."""
    return bytes([number << 3 | 2])


_EVENTS_TAG: Final = _tag(play_v1.PlayResponse.EVENTS_FIELD_NUMBER)
_DECISION_TAG: Final = _tag(play_v1.EngineEvent.DECISION_FIELD_NUMBER)
_VIEW_TAG: Final = _tag(play_v1.Decision.VIEW_FIELD_NUMBER)


def _field(tag: bytes, message: bytes) -> bytes:
    """A field of a message, with its length as a varint."""
    size = len(message)
    if size < 128:
        return b"%b%c%b" % (tag, size, message)
    if size < 16_384:
        return b"%b%c%c%b" % (tag, size & 127 | 128, size >> 7, message)
    return tag + _varint(size) + message


def frame(events: Iterable[bytes]) -> bytes:
    """One PlayResponse of serialized events. Repeated messages may be joined as bytes, which saves copying every event."""
    return b"".join([_field(_EVENTS_TAG, event) for event in events])


class Decisions:
    """Writes the events that ask the seats of one match.

    Most of a view is what it was at the last decision: a list that is the same object as last time is not serialized again.
    Fields may come in any order on the wire, so the parts are joined as bytes, which also saves copying them.
    """

    def __init__(self, match: str, game: str) -> None:
        member = View.DESCRIPTOR.fields_by_name[game]
        assert member.message_type is not None
        self._match = match
        self._view_tag = _tag(member.number)
        self._view_type = message_factory.GetMessageClass(member.message_type)
        self._kept: dict[str, tuple[object, bytes]] = {}
        """The lists of the last view by field, and their bytes."""

    def event(self, asked: Decision, view: Tree, bank: int, limit: int) -> bytes:
        """`bank` and `limit` in microseconds, less than the decision's own when it is repeated."""
        fields: dict[str, Any] = {
            "match": self._match,
            "number": asked.number,
            "legal_moves": [move.text for move in asked.legal],
            "bank": _span(bank),
            "limit": _span(limit),
        }
        if asked.last_charge is not None:
            fields["last_charge"] = _span(asked.last_charge)
        seen = _field(_VIEW_TAG, _field(self._view_tag, self._view(view)))
        return _field(_DECISION_TAG, play_v1.Decision(**fields).SerializeToString() + seen)

    def _view(self, view: Tree) -> bytes:
        parts: list[bytes] = []
        rest: Tree = {}
        for name, value in view.items():
            if type(value) is list:
                parts.append(self._list(name, value))
            else:
                rest[name] = value
        parts.append(self._view_type(**rest).SerializeToString())
        return b"".join(parts)

    def _list(self, name: str, value: list[Any]) -> bytes:
        kept = self._kept.get(name)
        if kept is None or kept[0] is not value:
            kept = self._kept[name] = (value, self._view_type(**{name: value}).SerializeToString())
        return kept[1]


def welcome(token: str, node: str, version: str, grace: float, resumed: bool) -> bytes:
    """The answer to hello; `grace` in seconds."""
    message = play_v1.Welcome(
        session_token=token,
        protocol_version=PROTOCOL,
        node=node,
        bot_version=version,
        grace=duration(round(grace * 1e6)),
        resumed=resumed,
    )
    return play_v1.EngineEvent(welcome=message).SerializeToString()


def match_started(spec: MatchSpec, seat: int, bot_seed: str) -> bytes:
    """The event that opens a match for one seat."""
    message = play_v1.MatchStarted(
        match=spec.match,
        ruleset=str(spec.ruleset),
        seat=seat,
        seats=[match_pb2.SeatInfo(bot=s.bot, bot_version=s.version) for s in spec.seats],
        clock=time_control(spec.clock),
        commitment=commitment(spec.seed),
        bot_seed=bot_seed,
    )
    return play_v1.EngineEvent(match_started=message).SerializeToString()


def move_rejected(match: str, number: int, move: str, section: str, reason: str) -> bytes:
    """The event after an answer that may be repeated."""
    kind = "malformed" if reason.startswith("malformed") else "illegal"
    message = play_v1.MoveRejected(match=match, number=number, move=move, kind=kind, section=section, reason=reason)
    return play_v1.EngineEvent(move_rejected=message).SerializeToString()


def decision_expired(match: str, number: int, reason: str) -> bytes:
    """The event that closes a decision without an accepted answer."""
    return play_v1.EngineEvent(
        decision_expired=play_v1.DecisionExpired(match=match, number=number, reason=reason)
    ).SerializeToString()


def match_ended(match: str, result: Result, seed: str) -> bytes:
    """The event that closes a match with its result; `seed` in hex, empty when it stays secret."""
    message = play_v1.MatchEnded(
        match=match, ending=result.ending, reason=result.reason, places=result.places, scores=result.scores, seed=seed
    )
    return play_v1.EngineEvent(match_ended=message).SerializeToString()


def match_left(match: str, ending: str, reason: str) -> bytes:
    """The event that closes a match for a seat that failed, or for all when the attempt is void."""
    return play_v1.EngineEvent(match_ended=play_v1.MatchEnded(match=match, ending=ending, reason=reason)).SerializeToString()


def invitation(match: str, address: str, ticket: str) -> bytes:
    """The event that asks a bot to play a match at another node."""
    message = play_v1.Invitation(match=match, address=address, ticket=ticket)
    return play_v1.EngineEvent(invitation=message).SerializeToString()


def draining(reason: str) -> bytes:
    """The event that says: no new matches here."""
    return play_v1.EngineEvent(draining=play_v1.Draining(reason=reason)).SerializeToString()


def duration(us: int) -> Duration:
    """Microseconds, zero or more."""
    return Duration(seconds=us // 1_000_000, nanos=us % 1_000_000 * 1000)


def time_control(control: TimeControl) -> match_pb2.TimeControl:
    """The clock; a cap of zero is left unset."""
    return match_pb2.TimeControl(
        bank=duration(control.bank),
        increment=duration(control.increment),
        cap=duration(control.cap) if control.cap else None,
        startup=duration(control.startup),
    )


def read_spec(request: engine_v1.RunMatchRequest) -> MatchSpec:
    """What is to be played. Raises FieldError."""
    if not request.match:
        raise FieldError("match", "empty", "name the match, for example matches/m7qk2")
    if len(request.seed) != 32:
        raise FieldError("seed", f"{len(request.seed)} bytes", "give 32 bytes")
    for seat in request.absent_seats:
        if seat >= len(request.seats):
            raise FieldError("absent_seats", f"no seat {seat}", f"name seats from 0 to {len(request.seats) - 1}")
    seats = tuple(SeatSpec(seat.bot, seat.bot_version) for seat in request.seats)
    policy, clock = Policy.parse(request.policy), read_time_control(request.clock)
    return MatchSpec(request.match, read_ruleset(request.ruleset), seats, clock, policy, request.seed).checked()


def read_time_control(clock: match_pb2.TimeControl) -> TimeControl:
    """The clock of a request. Raises FieldError."""
    return TimeControl(*(_microseconds(span) for span in (clock.bank, clock.increment, clock.cap, clock.startup))).checked()


def progress(moves: int | None) -> engine_v1.RunMatchResponse:
    """A heartbeat; None before the match has begun."""
    return engine_v1.RunMatchResponse(progress=engine_v1.MatchProgress(moves=moves or 0, begun=moves is not None))


def finished(record: str) -> engine_v1.RunMatchResponse:
    """The last message of an attempt that was played."""
    return engine_v1.RunMatchResponse(finished=engine_v1.MatchFinished(record=record.encode("ascii")))


def missing(versions: Iterable[str]) -> engine_v1.RunMatchResponse:
    """The last message of an attempt that could not begin."""
    return engine_v1.RunMatchResponse(missing=engine_v1.BotsMissing(bot_versions=versions))


def status_details(refusal: Refusal) -> bytes:
    """The trailer `grpc-status-details-bin`: a google.rpc.Status with ErrorInfo and, for fields, BadRequest."""
    import grpc

    info = errors_pb2.ErrorInfo(reason=refusal.reason, domain=DOMAIN, metadata=refusal.metadata)
    details = [AnyMessage(type_url=_TYPES + "ErrorInfo", value=info.SerializeToString())]
    if refusal.fields:
        violation = errors_pb2.BadRequest.FieldViolation
        bad = errors_pb2.BadRequest(field_violations=[violation(field=f, description=d) for f, d in refusal.fields])
        details.append(AnyMessage(type_url=_TYPES + "BadRequest", value=bad.SerializeToString()))
    code: int = grpc.StatusCode[refusal.code].value[0]
    return errors_pb2.ErrorStatus(code=code, message=refusal.message, details=details).SerializeToString()


def _span(us: int) -> dict[str, int]:
    return {"seconds": us // 1_000_000, "nanos": us % 1_000_000 * 1000}


def _microseconds(span: Duration) -> int:
    return span.seconds * 1_000_000 + span.nanos // 1000


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)
