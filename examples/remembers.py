"""A bot with a memory: the class form. It never repeats a move while there is another one."""

from __future__ import annotations

from hippodrome.bot import Bot, MatchInfo, MatchResult, Turn


class Remembers(Bot):
    max_matches = 8

    def start(self, match: MatchInfo) -> None:
        self.played: dict[str, int] = {}

    def move(self, turn: Turn) -> str:
        least = min(self.played.get(move, 0) for move in turn.legal)
        move = turn.rng.choice([move for move in turn.legal if self.played.get(move, 0) == least])
        self.played[move] = self.played.get(move, 0) + 1
        return move

    def end(self, result: MatchResult) -> None:
        print(f"{result.match}: {result.ending}, place {result.place}")


if __name__ == "__main__":
    Remembers.run()
