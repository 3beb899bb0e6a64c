"""The reference bots that come with Hippodrome: ordinary bots of the SDK."""

from typing import Final

BUILTINS: Final[dict[str, str]] = {
    "random": "hippodrome.bots.random",
    "greedy": "hippodrome.bots.greedy",
    "mcts-light": "hippodrome.bots.mcts:MctsLight",
    "mcts": "hippodrome.bots.mcts:Mcts",
}
"""Name of a built-in bot -> the module to give to `hippodrome.bot.load_bot`."""
