"""The hidden-card race, the engine's own test game: small, yet with hands, dice after the set-up and compound moves.

Two to four runners want to reach `goal`. In its turn a seat does one thing:
§Roll  roll the seat's own die (1 to 3) and advance by it
§Draw  draw the top card of the deck, up to four cards in hand
§Play  play a card and advance by its value; then push any number of further cards of the same value (§Push), or stop (§Stop)
The race ends as soon as a runner is at the goal. Score: fields run, the goal at most; equal fields share a place.
Neutral move: `stop` while pushing, else `roll`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from hippodrome.engine.chance import Chance
from hippodrome.engine.errors import InvalidMove
from hippodrome.engine.game import TABLE, Game, Move, Option, Outcome, Ruleset, State, View

VALUES = (1, 2, 3, 4)
EACH = 5
HAND = 4
ROLL, DRAW, STOP = Move("roll"), Move("draw"), Move("stop")
PLAY = {value: Move(f"play {value}") for value in VALUES}
PUSH = {value: Move(f"push {value}") for value in VALUES}
MOVES = {move.text: move for move in (ROLL, DRAW, STOP, *PLAY.values(), *PUSH.values())}
VALUE = {move: value for table in (PLAY, PUSH) for value, move in table.items()}


class RaceState(State):
    """`pushed` is the value that may be pushed, 0 when a turn begins."""

    __slots__ = ("chance", "deck", "hands", "played", "pushed", "ruleset", "to_move", "track")

    def __init__(self, ruleset: Ruleset, chance: Chance) -> None:
        self.ruleset, self.chance = ruleset, chance
        self.track = [0] * ruleset.players
        self.hands: list[list[int]] = [[] for _ in self.track]
        self.deck: list[int] = []
        self.played: list[int] = []
        self.pushed = 0
        self.to_move = 0

    def legal_moves(self) -> Sequence[Move]:
        if self.to_move == TABLE:
            return []
        hand = self.hands[self.to_move]
        if self.pushed:
            return [STOP, PUSH[self.pushed]] if self.pushed in hand else [STOP]
        draw = [DRAW] if self.deck and len(hand) < HAND else []
        return [ROLL, *draw, *(PLAY[value] for value in VALUES if value in hand)]

    def is_legal(self, move: Move) -> bool:
        if self.to_move == TABLE:
            return False
        hand = self.hands[self.to_move]
        if self.pushed:
            return move is STOP or (move is PUSH[self.pushed] and self.pushed in hand)
        if move is DRAW:
            return bool(self.deck) and len(hand) < HAND
        return move is ROLL or (move in PLAY.values() and VALUE[move] in hand)

    def explain(self, move: Move) -> tuple[str, str]:
        if self.pushed:
            return "§Push", f"a turn that played a {self.pushed} goes on with another one from the hand or with stop"
        if move is DRAW:
            return "§Draw", "the deck is empty" if not self.deck else f"the hand already holds {HAND} cards"
        if move in PLAY.values():
            return "§Play", f"there is no {VALUE[move]} in your hand"
        return "§Push", "no card was played in this turn"

    def apply(self, move: Move) -> None:
        seat, value = self.to_move, VALUE.get(move, 0)
        if move is DRAW:
            self.hands[seat] = sorted([*self.hands[seat], self.deck.pop()])
        elif move is ROLL:
            self.track[seat] += 1 + self.chance.stream("die", seat).below(3)
        elif value:
            self.hands[seat].remove(value)
            self.played.append(value)
            self.track[seat] += value
        self._go_on(value)

    def _go_on(self, value: int) -> None:
        self.pushed = value
        if max(self.track) >= int(self.ruleset["goal"]):
            self.to_move = TABLE
        elif not value:
            self.to_move = (self.to_move + 1) % len(self.track)

    def outcome(self) -> Outcome | None:
        if self.to_move != TABLE:
            return None
        scores = tuple(min(fields, int(self.ruleset["goal"])) for fields in self.track)
        return Outcome(tuple(1 + sum(o > s for o in scores) for s in scores), scores, "a runner is at the goal")

    def view(self, seat: int) -> View:
        view: View = {
            "to_move": self.to_move,
            "track": self.track[:],
            "hand_counts": [len(hand) for hand in self.hands],
            "deck_count": len(self.deck),
            "played": self.played[:],
            "pushed": self.pushed,
        }
        if seat == TABLE:
            hands = [{"cards": hand[:]} for hand in self.hands]
            return {**view, "hands": hands, "deck": self.deck[:]}
        return {**view, "seat": seat, "hand": self.hands[seat][:]}

    def copy(self) -> RaceState:
        twin = type(self)(self.ruleset, self.chance.copy())
        twin.track, twin.deck, twin.played = self.track[:], self.deck[:], self.played[:]
        twin.hands = [hand[:] for hand in self.hands]
        twin.pushed, twin.to_move = self.pushed, self.to_move
        return twin

    def key(self) -> str:
        parts = (self.to_move, self.pushed, self.track, self.hands, self.deck, self.played)
        return "/".join(re.sub("[^0-9,;-]", "", str(part).replace("],", ";")) for part in parts)

    def neutral_move(self) -> Move:
        return STOP if self.pushed else ROLL


class Race(Game):
    """A game of `state_class`: the tests break one method at a time in classes derived from RaceState."""

    name = "race"
    title = "The hidden-card race"
    rules_version = "1"
    players = (2, 3, 4)
    options = (Option("goal", (12, 8), "fields to run"),)
    hidden = True
    chance = True
    state_class: ClassVar[type[RaceState]] = RaceState

    def new_state(self, ruleset: Ruleset, chance: Chance) -> RaceState:
        state = self.state_class(ruleset, chance)
        state.deck = [value for value in VALUES for _ in range(EACH)]
        chance.stream("deck").shuffle(state.deck)
        for seat in range(ruleset.players):
            state.hands[seat] = sorted(state.deck.pop() for _ in range(2))
        return state

    def parse(self, text: str) -> Move:
        if text not in MOVES:
            raise InvalidMove(text, "is none of roll, draw, play N, push N, stop")
        return MOVES[text]

    def sample(self, ruleset: Ruleset, view: View, chance: Chance) -> RaceState:
        state = self.state_class(ruleset, chance)
        state.to_move, state.pushed = view["to_move"], view["pushed"]
        state.track, state.played = view["track"][:], view["played"][:]
        if "hands" in view:
            state.hands = [hand["cards"][:] for hand in view["hands"]]
            state.deck = view["deck"][:]
            return state
        unseen = [value for value in VALUES for _ in range(EACH)]
        for value in (*view["played"], *view["hand"]):
            unseen.remove(value)
        chance.stream("sample").shuffle(unseen)
        counts = view["hand_counts"]
        for seat in range(ruleset.players):
            own = seat == view["seat"]
            state.hands[seat] = view["hand"][:] if own else sorted(unseen.pop() for _ in range(counts[seat]))
        state.deck = unseen
        return state

    def score_bounds(self, ruleset: Ruleset) -> tuple[int, int]:
        return 0, int(ruleset["goal"])

    def text(self, view: View) -> str:
        return "\n".join(f"{name}: {_plain(value)}" for name, value in view.items())

    def svg(self, view: View) -> str:
        size = 40 * len(view["track"])
        dots = "".join(f'<circle cx="{10 * fields + 10}" cy="{40 * n + 20}" r="8"/>' for n, fields in enumerate(view["track"]))
        head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 200 {size}"><title>The race</title>'
        return f"{head}<desc>Fields run: {_plain(view['track'])}</desc>{dots}</svg>"


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return _plain(value["cards"])
    return " ".join(map(_plain, value)) if isinstance(value, list) else str(value)


RaceState.game = Race()
