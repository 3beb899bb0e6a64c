"""Channels with the settings that make a broken connection noticed."""

from __future__ import annotations

from typing import Final

import grpc.aio

from hippodrome.bot._errors import UsageError

_OPTIONS: Final = (
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.ping_timeout_ms", 5_000),
    ("grpc.enable_retries", 0),
    ("grpc.max_receive_message_length", 4 << 20),
    # Channels that share a connection share its back-off too: each try of ours is to be a real one.
    ("grpc.use_local_subchannel_pool", 1),
)
_LOCAL: Final = ("localhost", "127.", "[::1]", "unix:")


def open_channel(address: str) -> grpc.aio.Channel:
    """A channel to `host:port`, `http://host:port`, `https://host:port` (TLS) or `unix:/path`. Raises UsageError."""
    scheme, _, rest = address.rpartition("://")
    target = rest.rstrip("/")
    if scheme not in ("", "http", "https", "unix"):
        raise UsageError(
            f"address: {address!r} has the scheme {scheme!r}; fix: write host:port, http://..., https://... or unix:/path"
        )
    if not target.startswith("unix:") and scheme != "unix" and not _has_port(target):
        raise UsageError(f"address: {address!r} has no port; fix: write host:port, for example 127.0.0.1:50051")
    options = (*_OPTIONS, *((("grpc.enable_http_proxy", 0),) if target.startswith(_LOCAL) else ()))
    if scheme == "https":
        return grpc.aio.secure_channel(target, grpc.ssl_channel_credentials(), options=options)
    return grpc.aio.insecure_channel(f"unix:{target}" if scheme == "unix" else target, options=options)


def _has_port(target: str) -> bool:
    host, _, port = target.rpartition(":")
    return bool(host) and port.isdigit() and 0 < int(port) < 65536
