"""`python -m hippodrome.bot mybot.py --server ADDRESS ...`: play live with the bot of a file or module."""

from __future__ import annotations

import sys

from hippodrome.bot._errors import HippodromeError
from hippodrome.bot._load import load_bot
from hippodrome.bot._run import main


def start(argv: list[str]) -> int:
    """The exit code of playing with the bot that `argv` names first."""
    if not argv or argv[0].startswith("-"):
        print("usage: python -m hippodrome.bot FILE.py[:BOT] | MODULE[:BOT] [options]  (--help after the bot)", file=sys.stderr)
        return 2
    try:
        kind = load_bot(argv[0])
    except HippodromeError as error:
        print(error.report(), file=sys.stderr)
        return error.exit_code
    return main(kind, argv[1:])


if __name__ == "__main__":
    raise SystemExit(start(sys.argv[1:]))
