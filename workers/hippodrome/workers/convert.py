"""Between the ladder's claims and the messages of `EngineService`. Only here do workers touch protobuf fields."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from google.protobuf.duration_pb2 import Duration

from hippodrome.engine.clock import TimeControl
from hippodrome.engine.errors import RecordError
from hippodrome.ladder.lifecycle import Claim
from hippodrome.v1 import engine_service_pb2 as v1
from hippodrome.v1 import errors_pb2, match_pb2


def run_request(claim: Claim) -> v1.RunMatchRequest:
    """The request to play one attempt."""
    spec = claim.spec
    return v1.RunMatchRequest(
        match=spec.match,
        fence=claim.fence,
        ruleset=str(spec.ruleset),
        seats=[match_pb2.SeatInfo(bot=seat.bot, bot_version=seat.version) for seat in spec.seats],
        clock=_clock(spec.clock),
        policy=str(spec.policy),
        seed=spec.seed,
        absent_seats=claim.absent_seats,
        withhold_seed=claim.seed_shared,
    )


def _clock(clock: TimeControl) -> match_pb2.TimeControl:
    """Zero cap means no cap, which on the wire is an unset field."""
    return match_pb2.TimeControl(
        bank=_duration(clock.bank),
        increment=_duration(clock.increment),
        cap=_duration(clock.cap) if clock.cap else None,
        startup=_duration(clock.startup),
    )


def _duration(microseconds: int) -> Duration:
    made = Duration()
    made.FromTimedelta(timedelta(microseconds=microseconds))
    return made


@dataclass(frozen=True, slots=True)
class Progress:
    """The attempt goes on; `moves` decisions are made. Until it has `begun` the node looks for its bots."""

    moves: int
    begun: bool


@dataclass(frozen=True, slots=True)
class Finished:
    """The attempt has ended; `record` is the text form."""

    record: str


@dataclass(frozen=True, slots=True)
class Missing:
    """Nothing was played: these bot versions are not connected to the node."""

    versions: tuple[str, ...]


Event = Progress | Finished | Missing


@dataclass(frozen=True, slots=True)
class NodeState:
    """What an engine node says of itself."""

    name: str
    slots: int
    running: int
    versions: frozenset[str]
    """Connected to it."""
    free: frozenset[str] = frozenset()
    """Those with a place for one more match."""
    invitable: frozenset[str] = frozenset()
    """Those that would follow an invitation to another node."""
    public: str = ""
    """What bots dial; empty when that is what workers dial."""


def read_event(message: v1.RunMatchResponse) -> Event:
    """The event of a message. Raises RecordError when it has none or its record is not text."""
    kind = message.WhichOneof("event")
    if kind == "progress":
        return Progress(message.progress.moves, message.progress.begun)
    if kind == "finished":
        return Finished(_text(message.finished.record))
    if kind == "missing":
        return Missing(tuple(message.missing.bot_versions))
    raise RecordError(0, "the engine node sent a message without an event known here; fix: update the workers")


def _text(record: bytes) -> str:
    try:
        return record.decode()
    except UnicodeDecodeError as error:
        raise RecordError(0, f"is not UTF-8: {error.reason} at byte {error.start}") from None


def read_node(message: v1.GetNodeResponse) -> NodeState:
    """A node's answer."""
    free, invitable = frozenset(message.free_versions), frozenset(message.invitable_versions)
    versions = frozenset(message.bot_versions)
    return NodeState(message.node, message.slots, message.running, versions, free, invitable, message.public_address)


def refusal_reason(trailer: Iterable[Any]) -> str:
    """The reason (see `engine.reasons`) in the trailer, (key, value) pairs, of a call that failed; empty when there is none."""
    for key, value in trailer:
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            for detail in errors_pb2.ErrorStatus.FromString(value).details:
                if detail.type_url.endswith("google.rpc.ErrorInfo"):
                    return errors_pb2.ErrorInfo.FromString(detail.value).reason
    return ""
