from hippodrome.bot import bot  # noqa: I001
@bot
def smallest(turn):
    return turn.rng.choice(turn.legal)
smallest.run()
