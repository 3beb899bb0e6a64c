"""Everything a bot author needs: write a bot, connect, play, reconnect.

    from hippodrome.bot import bot

    @bot
    def mybot(turn):
        return turn.rng.choice(turn.legal)

    mybot.run()
"""

from hippodrome.bot._bot import Bot, Choice, bot
from hippodrome.bot._errors import BotError, ConnectionLost, HippodromeError, NotAllowed, ProtocolError, UsageError
from hippodrome.bot._load import load_bot
from hippodrome.bot._run import run_live
from hippodrome.bot._session import Options, Summary, connect
from hippodrome.bot._types import ClockInfo, MatchInfo, MatchResult, Turn
from hippodrome.bot._view import view_dict

__all__ = [
    "Bot",
    "BotError",
    "Choice",
    "ClockInfo",
    "ConnectionLost",
    "HippodromeError",
    "MatchInfo",
    "MatchResult",
    "NotAllowed",
    "Options",
    "ProtocolError",
    "Summary",
    "Turn",
    "UsageError",
    "bot",
    "connect",
    "load_bot",
    "run_live",
    "view_dict",
]
