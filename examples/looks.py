"""A bot that looks at the board: it builds on its longest pile, else scores, else draws. For antiquity."""

from __future__ import annotations

from hippodrome.bot import Turn, bot

ORDER = ("add ", "build ", "improve ", "score ", "draw")


@bot
def looks(turn: Turn) -> str:
    mine = [colour for colour in turn.view.colours if colour.seat == turn.seat]
    longest = max((pile for colour in mine for pile in colour.piles), key=lambda pile: len(pile.cards), default=None)
    if longest is not None:
        for move in turn.legal:
            if longest.monument in move and not move.startswith("take"):
                return move
    return min(turn.legal, key=lambda move: next((i for i, word in enumerate(ORDER) if move.startswith(word)), len(ORDER)))


if __name__ == "__main__":
    looks.run()
