"""A bot as a process: options from the command line and the environment, signals, one message, an exit code."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType
from typing import Final

from hippodrome.bot._bot import Bot
from hippodrome.bot._errors import HippodromeError
from hippodrome.bot._player import log
from hippodrome.bot._session import Options, Session

INTERRUPTED: Final = 130
_EXITS: Final = "exit codes: 0 done, 1 protocol, 2 usage, 3 cannot reach, 4 the bot misbehaved, 5 not allowed, 130 interrupted"


def main(kind: type[Bot], argv: Sequence[str] | None = None) -> int:
    """Play live with the options of `argv` (default: the command line); the exit code."""
    given = _parser(kind).parse_args(argv)
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")  # what gRPC has to say about a lost line, the session says better
    _log_to_stderr(given.verbose - given.quiet)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # until the session listens to it, and again while the process ends
    return run_live(kind, _options(given))


def run_live(kind: type[Bot], options: Options) -> int:
    """Play live until done, interrupted or failed; the exit code. The first SIGINT or SIGTERM takes no new matches and plays
    those under way to their end, the second ends the process on the spot.

    Prints one message to stderr when it fails. Install a handler on the logger `hippodrome.bot` to see progress.
    """
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            return runner.run(_live(kind, options))
    except KeyboardInterrupt:
        return INTERRUPTED
    except HippodromeError as error:
        if error.exit_code != 4:  # a fault of the bot was shown when it happened
            print(error.report(), file=sys.stderr)
        return error.exit_code


async def _live(kind: type[Bot], options: Options) -> int:
    session = Session(kind, options)
    with _signals(session) as seen:
        await session.run()
    return INTERRUPTED if signal.SIGINT in seen else 0


@contextmanager
def _signals(session: Session) -> Iterator[list[int]]:
    """The first SIGINT or SIGTERM lets the session leave, the second ends the process; the list tells which came."""
    seen: list[int] = []
    loop = asyncio.get_running_loop()

    def handle(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        if len(seen) > 1:
            os._exit(INTERRUPTED)  # a bot may be in the middle of anything: nothing gentler is sure to end
        level = logging.WARNING if number == signal.SIGINT else logging.INFO
        log.log(level, "leaving after the matches under way; interrupt again to leave at once")
        loop.call_soon_threadsafe(session.leave, signal.Signals(number).name)

    if threading.current_thread() is not threading.main_thread():
        yield seen
        return
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """uvloop where it can be imported: a third faster per frame."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def _options(given: argparse.Namespace) -> Options:
    env = os.environ.get
    address = given.address or ("" if given.server else env("HIPPODROME_ADDRESS", ""))
    return Options(
        server=given.server or env("HIPPODROME_SERVER", ""),
        bot=given.bot or env("HIPPODROME_BOT", ""),
        token=given.token or env("HIPPODROME_TOKEN", ""),
        address=address,
        ticket=env("HIPPODROME_TICKET", "") if address else "",
        max_matches=given.max_matches,
        matches=given.matches,
        patience=None if given.patience is None else timedelta(seconds=given.patience),
        keep_going=given.keep_going,
    )


def _parser(kind: type[Bot]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=f"Play live with {kind.__name__}.", epilog=_EXITS, allow_abbrev=False)
    parser.add_argument("--server", help="address of the server, host:port (HIPPODROME_SERVER)")
    parser.add_argument("--bot", help="name of the bot on the server (HIPPODROME_BOT)")
    parser.add_argument("--token", help="token of its account (better: HIPPODROME_TOKEN)")
    parser.add_argument("--address", help="play at this node, with the ticket in HIPPODROME_TICKET (HIPPODROME_ADDRESS)")
    parser.add_argument("--max-matches", type=int, metavar="N", help=f"at once; default {kind.max_matches}")
    parser.add_argument("--matches", type=int, metavar="N", help="leave after N matches")
    parser.add_argument("--patience", type=float, metavar="S", help="seconds to try to reconnect; default 10, then 600")
    parser.add_argument("--keep-going", action="store_true", help="play on in other matches when the bot fails in one")
    parser.add_argument("-q", "--quiet", action="count", default=0, help="warnings only; twice: errors only")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="more messages")
    return parser


def _log_to_stderr(more: int) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    log.addHandler(handler)
    log.propagate = False
    log.setLevel(max(logging.DEBUG, logging.INFO - 10 * more))
