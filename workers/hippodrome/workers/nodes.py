"""Engine nodes, as a worker sees them: which one to ask, and one attempt of a match on it as a stream of events.

A gRPC channel is made when it is first needed, one per process and address: a channel that was carried through a fork
hangs (reliability note B3).
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

import grpc

from hippodrome.ladder.lifecycle import Claim
from hippodrome.v1 import engine_service_pb2 as v1
from hippodrome.v1.engine_service_pb2_grpc import EngineServiceStub
from hippodrome.workers import convert
from hippodrome.workers.convert import Event, NodeState, Progress

log = logging.getLogger(__name__)
CHANNEL_OPTIONS: Final = (
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.http2.ping_timeout_ms", 5_000),
    ("grpc.http2.max_pings_without_data", 0),
)
"""A frozen node is noticed after 15 s; a node that is back is found within a second."""
ASK_SECONDS: Final = 2.0
INVITATION: Final = 1 / 32
"""An invitation is worth it when the other node is less busy by this share of its slots, for each bot to invite."""
FRESH_SECONDS: Final = 0.5
"""How long an answer of GetNode is taken for true."""
_INNOCENT: Final = frozenset({"NODE_CLOSING", "NODE_FULL", "KEY_INVALID", "ATTEMPT_SUPERSEDED"})
"""Reasons of a node that say nothing about the match."""


class NodeError(Exception):
    """An attempt ended without a record. `counts`: it is a strike against the match; `evidence` is for the operator."""

    def __init__(self, reason: str, counts: bool, evidence: str = "") -> None:
        super().__init__(reason)
        self.reason, self.counts, self.evidence = reason, counts, evidence


class Call(Protocol):
    """A streaming call under way."""

    def __iter__(self) -> Iterator[v1.RunMatchResponse]: ...
    def cancel(self) -> object: ...


class Run:
    """One attempt under way. Iterate over its events; `cancel` ends it from any thread."""

    def __init__(self, call: Call, address: str) -> None:
        self._call, self._address, self._begun = call, address, False

    def cancel(self) -> None:
        """End the attempt: the node tells its bots that the infrastructure ended it."""
        self._call.cancel()

    def __iter__(self) -> Iterator[Event]:
        try:
            for message in self._call:
                event = convert.read_event(message)
                self._begun |= isinstance(event, Progress) and event.begun
                yield event
        except grpc.RpcError as error:
            raise _node_error(error, self._address, self._begun) from None


@dataclass(frozen=True, slots=True)
class Choice:
    """The node for a match, the address that bots dial, and whom to invite: (version, node where it is connected). `connected`
    are all versions that are at any node; it stays empty where there is but one node, which knows for itself."""

    address: str
    public: str = ""
    invitations: tuple[tuple[str, str], ...] = ()
    connected: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Known:
    state: NodeState
    at: float


class Nodes:
    """The engine nodes of an installation. `addresses` is asked anew for each match; `key` is the internal key."""

    def __init__(self, addresses: Callable[[], Sequence[str]], key: str) -> None:
        self._addresses, self._metadata = addresses, (("x-hippodrome-key", key),)
        self._channels: dict[tuple[int, str], grpc.Channel] = {}
        self._known: dict[str, _Known] = {}
        self._lock = threading.Lock()

    def choose(self, versions: frozenset[str]) -> Choice:
        """Where to play a match of these `versions`: a node with a free slot that they are connected or can be invited to, the
        least busy first. Raises NodeError when no node answers."""
        addresses = self._addresses()
        if len(addresses) == 1:
            return Choice(addresses[0])
        states = {address: state for address in addresses if (state := self.state(address))}
        if not states:
            raise NodeError(f"no engine node answers at {', '.join(addresses) or 'any address'}", counts=False)
        address = min(states, key=lambda one: _preference(states, one, versions))
        self._note_match(address, states[address])
        away = sorted(versions - states[address].free)
        invitations = tuple((version, home) for version in away if (home := _home(states, address, version)))
        connected = frozenset[str]().union(*(state.versions for state in states.values()))
        return Choice(address, states[address].public or address, invitations, connected)

    def invite(self, choice: Choice, match: str) -> None:
        """Have the bots that are elsewhere invited to the chosen node. One that cannot be is missed there later."""
        for version, home in choice.invitations:
            request = v1.InviteBotRequest(bot_version=version, match=match, address=choice.public)
            try:
                self._stub(home).InviteBot(request, metadata=self._metadata, timeout=ASK_SECONDS)
            except grpc.RpcError as error:
                log.warning("%s: no invitation for %s by way of %s: %s", match, version, home, error.details())

    def run(self, address: str, claim: Claim) -> Run:
        """Begin the attempt `claim` on the node at `address`."""
        return Run(self._stub(address).RunMatch(convert.run_request(claim), metadata=self._metadata), address)

    def state(self, address: str) -> NodeState | None:
        """What the node said of itself less than half a second ago; None when it does not answer."""
        known = self._known.get(address)
        if known is None or time.monotonic() - known.at > FRESH_SECONDS:
            try:
                answer = self._stub(address).GetNode(v1.GetNodeRequest(), metadata=self._metadata, timeout=ASK_SECONDS)
            except grpc.RpcError:
                return None
            known = self._known[address] = _Known(convert.read_node(answer), time.monotonic())
        return known.state

    def _note_match(self, address: str, state: NodeState) -> None:
        """Count the match that a node is about to get, so that those chosen before its next answer go elsewhere."""
        known = self._known.get(address)
        if known is not None:
            self._known[address] = _Known(replace(state, running=state.running + 1), known.at)

    def close(self) -> None:
        """Close the channels of this process."""
        with self._lock:
            for (pid, _), channel in self._channels.items():
                if pid == os.getpid():
                    channel.close()
            self._channels.clear()

    def _stub(self, address: str) -> EngineServiceStub:
        key = (os.getpid(), address)
        with self._lock:
            if key not in self._channels:
                self._channels[key] = grpc.insecure_channel(address, CHANNEL_OPTIONS)
            return EngineServiceStub(self._channels[key])


def _preference(states: dict[str, NodeState], address: str, versions: frozenset[str]) -> tuple[int, bool, float]:
    """Few bots that cannot come before a free slot before little load, where a bot that must be invited weighs as much as some
    running matches do."""
    state = states[address]
    load = state.running / max(1, state.slots)
    away = [version for version in versions - state.free if version not in state.versions or _home(states, address, version)]
    lost = sum(not _home(states, address, version) for version in away)
    return (lost, load >= 1, load + INVITATION * len(away))


def _home(states: dict[str, NodeState], address: str, version: str) -> str:
    """A node other than `address` where the bot can be invited; empty if there is none."""
    homes = (one for one, state in states.items() if one != address and version in state.invitable)
    return min(homes, key=lambda one: states[one].running, default="")


def _node_error(error: grpc.RpcError, address: str, begun: bool) -> NodeError:
    """A node that is away before the match has begun, or refuses for a reason of its own, says nothing about the match; one
    that dies in the middle of it may have been killed by it."""
    code, refusal = error.code(), convert.refusal_reason(error.trailing_metadata() or ())
    away = code is grpc.StatusCode.UNAVAILABLE and not begun
    innocent = refusal in _INNOCENT or away or code is grpc.StatusCode.CANCELLED
    details = str(error.details() or "")
    return NodeError(f"engine node {address}: {refusal or code.name}: {details}"[:300], not innocent, evidence=details)
