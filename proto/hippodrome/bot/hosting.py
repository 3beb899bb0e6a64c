"""A bot inside another program: one seat of one match, without a session. For local play, checks and training loops."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from hippodrome.bot._bot import Bot, checked, crash, is_async
from hippodrome.bot._types import MatchInfo, MatchResult, Source, Turn, game_view

__all__ = ["Hosted", "Source", "game_view"]


class Hosted:
    """A bot of `kind` in one match. Everything is called from one thread; whatever the bot lets through is a BotError."""

    def __init__(self, kind: type[Bot], info: MatchInfo) -> None:
        """Make the bot and tell it that the match begins."""
        self._kind, self._info = kind, info
        self._runner = asyncio.Runner() if is_async(kind) else None
        try:
            self._bot = kind()
            self._bot.start(info)
        except (Exception, SystemExit) as error:
            raise crash(kind, error, "start") from error

    def move(self, number: int, legal: tuple[str, ...], source: Source) -> list[str]:
        """The bot's answer to a decision: one move of `legal`, perhaps followed by the next ones."""
        turn = Turn(self._info, number, legal, source)
        try:
            choice = self._bot.move(turn)
            if self._runner is not None:
                choice = self._runner.run(_wait_for(choice))
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            raise crash(self._kind, error, "move") from error
        return checked(self._kind, turn, choice)

    def end(self, result: MatchResult) -> None:
        """Tell the bot that the match is over, and let go of it."""
        try:
            self._bot.end(result)
        except (Exception, SystemExit) as error:
            raise crash(self._kind, error, "end") from error
        finally:
            if self._runner is not None:
                self._runner.close()


def _wait_for(choice: Any) -> Coroutine[Any, Any, Any]:
    async def wait() -> Any:
        return await choice

    return wait()
