"""The process of an engine node: `python -m hippodrome.service --secret-file F --listen 127.0.0.1:0 --address-file A`."""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from hippodrome.engine.errors import HippodromeError
from hippodrome.service.config import NodeConfig, read_secret
from hippodrome.service.node import Node, serve

USAGE = 2
"""Exit status after a wrong option."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a node until SIGTERM or SIGINT."""
    options = _parser().parse_args(argv)
    logging.basicConfig(level=options.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    if options.die_with_parent:
        die_with_parent()
    try:
        with asyncio.Runner(loop_factory=fast_loop()) as runner:
            runner.run(_run(_config(options), options.address_file))
    except HippodromeError as error:
        print(f"hippodrome.service: {error}", file=sys.stderr)
        return USAGE
    return 0


def fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The loop of uvloop where it is installed, None for Python's own."""
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def die_with_parent() -> None:
    """Linux only: the kernel ends this process, with SIGTERM, when its parent ends."""
    parent = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit(0)


async def _run(config: NodeConfig, address_file: Path | None) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    node = await serve(config)
    _announce(node, address_file)
    await stop.wait()
    await node.close("the node was asked to stop")


def _announce(node: Node, path: Path | None) -> None:
    """Whoever started the node learns its address from the file, which is there only when it is whole."""
    print(f"node {node.config.name} serves on {node.address}", flush=True)
    if path is not None:
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        fresh.write_text(node.address + "\n", encoding="utf-8")
        fresh.replace(path)


def _config(options: argparse.Namespace) -> NodeConfig:
    return NodeConfig(
        secret=read_secret(options.secret_file),
        listen=options.listen,
        name=options.name,
        slots=options.slots,
        public_address=options.public_address,
        seat_wait=options.seat_wait,
        grace=options.grace,
    ).checked()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hippodrome.service", description="An engine node: hosts bot sessions, runs matches.")
    add = parser.add_argument
    add("--secret-file", type=Path, required=True, help="file with the secret of the installation, in hex digits")
    add("--listen", default="127.0.0.1:0", help="host:port (port 0: any free one) or unix:PATH (default: %(default)s)")
    add("--public-address", default="", help="what bots dial, when it differs from --listen")
    add("--address-file", type=Path, help="write the address here when ready")
    add("--name", default="node-1", help="name of the node (default: %(default)s)")
    add("--slots", type=int, default=64, help="matches that run at once (default: %(default)s)")
    add("--seat-wait", type=float, default=5.0, help="seconds a match waits for its bots (default: %(default)s)")
    add("--grace", type=float, default=30.0, help="seconds a broken stream may be away (default: %(default)s)")
    add("--log-level", default="warning", choices=("debug", "info", "warning", "error"), help="(default: %(default)s)")
    add("--die-with-parent", action="store_true", help="end when the process that started the node ends (Linux)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
