"""Monuments: Wonders of Antiquity, for two to four players, with the power cards as an option."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from hippodrome.engine.chance import Chance
from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import Game, Option, Ruleset, View
from hippodrome.games.antiquity import moves, sampling, scoring, setup, svg, text
from hippodrome.games.antiquity.components import BOX, BOX_DIGEST, SERIES
from hippodrome.games.antiquity.moves import AntiquityMove
from hippodrome.games.antiquity.state import AntiquityState

__all__ = ["GAME", "Antiquity", "AntiquityMove", "AntiquityState"]

_UNUSED: Final = (BOX.unused_monument, *(name for name in SERIES if name != BOX.unused_monument))


class Antiquity(Game):
    """Build monuments, write stories about those of the others. See `rules` for every rule."""

    name: ClassVar[str] = "antiquity"
    title: ClassVar[str] = "Monuments: Wonders of Antiquity"
    rules_version: ClassVar[str] = f"1.{BOX_DIGEST}"
    players: ClassVar[tuple[int, ...]] = (2, 3, 4)
    options: ClassVar[tuple[Option, ...]] = (
        Option("power", (False, True), "play with the three power cards"),
        Option("power_variant", (False, True), "a power card counts as a card on display in the score action; needs power"),
        Option("unused", _UNUSED, "two players: the series that is left out"),
    )
    hidden: ClassVar[bool] = True
    chance: ClassVar[bool] = False

    def ruleset(self, players: int, options: Mapping[str, bool | int | str] | None = None) -> Ruleset:
        ruleset = super().ruleset(players, options)
        if ruleset["power_variant"] and not ruleset["power"]:
            raise FieldError("options.power_variant", "'true' needs the power cards", "set power to true as well")
        if players != 2 and "unused" in ruleset.shown:
            problem = f"{ruleset['unused']!r} chosen for {players} players, where the rules fix the cards"
            raise FieldError("options.unused", problem, "leave it out, or play with 2 players")
        return ruleset

    def new_state(self, ruleset: Ruleset, chance: Chance) -> AntiquityState:
        return setup.deal(ruleset, chance)

    def parse(self, text: str) -> AntiquityMove:
        return moves.parse(text)

    def sample(self, ruleset: Ruleset, view: View, chance: Chance) -> AntiquityState:
        return sampling.sample(ruleset, view, chance)

    def score_bounds(self, ruleset: Ruleset) -> tuple[int, int]:
        return scoring.score_bounds(ruleset.players, bool(ruleset["power"]))

    def text(self, view: View) -> str:
        return text.text(view)

    def svg(self, view: View) -> str:
        return svg.svg(view)


GAME: Final = Antiquity()
AntiquityState.game = GAME
