"""§Setup: the deal."""

from __future__ import annotations

from hippodrome.engine.chance import Chance
from hippodrome.engine.game import Ruleset
from hippodrome.games.antiquity.components import BOX
from hippodrome.games.antiquity.state import AntiquityState, setting_of
from hippodrome.games.antiquity.turn import refill


def deal(ruleset: Ruleset, chance: Chance) -> AntiquityState:
    """§Setup, §1: stream `start` gives the first seat, stream `deck` the shuffled cards, top first. The top five go to
    seat 0, the next five to seat 1 and so on (the deal belongs to the seat, whoever starts), three more lie face up."""
    s = AntiquityState(ruleset)
    s.to_move = chance.stream("start").below(ruleset.players)
    cards = list(setting_of(ruleset).cards)
    chance.stream("deck").shuffle(cards)
    s.deck, s.size = bytes(cards), len(cards)
    for seat in range(ruleset.players):
        for card in cards[s.drawn : s.drawn + BOX.start_hand]:
            s.gain(seat, card)
        s.drawn += BOX.start_hand
    refill(s)
    return s
