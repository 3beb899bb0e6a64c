"""`random`: any legal move, each as likely. The floor of every ladder."""

from __future__ import annotations

from hippodrome.bot import Turn, bot


@bot(max_matches=32)
def random(turn: Turn) -> str:
    return turn.rng.choice(turn.legal)


if __name__ == "__main__":
    random.run()
