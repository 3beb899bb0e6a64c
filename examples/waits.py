"""A bot that waits for something outside, such as a language model behind a network: `async def`, many matches at once."""

from __future__ import annotations

import asyncio

from hippodrome.bot import Bot, Turn


class Waits(Bot):
    max_matches = 16

    async def move(self, turn: Turn) -> str:
        return await ask_a_model(turn.legal)


async def ask_a_model(legal: tuple[str, ...]) -> str:
    """Stands for the call that takes long; the bot's other matches go on meanwhile."""
    await asyncio.sleep(0.001)
    return legal[len(legal) // 2]


if __name__ == "__main__":
    Waits.run()
