"""The game contract: a `Game` describes, a `State` plays.

Every decision is one pick from a short list of small moves by one seat. A compound turn is several decisions.
Moves are built once per game and shared; a state hands out moves, it never makes them. A view is a plain tree of
dicts, lists, strings, ints and bools whose keys are the field names of the game's protobuf view message.
"""

from __future__ import annotations

import difflib
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from hippodrome.engine.chance import Chance
from hippodrome.engine.errors import FieldError

TABLE: Final = -1
"""The seat of nobody: `view(TABLE)` shows everything, `to_move == TABLE` says the game is over."""

View = dict[str, Any]
"""What one seat may see; keys are the fields of the game's view message."""


class Move:
    """One choice of one seat; `text` is its notation and reads back with `Game.parse`. Interned: compare with `is`."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.text}>"

    def __copy__(self) -> Move:
        return self

    def __deepcopy__(self, memo: object) -> Move:
        return self


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a game: `choices` are all legal values, the first is the default. Values are bool, int or str."""

    name: str
    choices: tuple[bool | int | str, ...]
    help: str

    @property
    def default(self) -> bool | int | str:
        return self.choices[0]


@dataclass(frozen=True, slots=True)
class Ruleset:
    """A game with a number of players and its options (all of them, sorted by name). Build it with `Game.ruleset`.

    Text form, also the key of its ladder: `antiquity-2p` or `antiquity-4p.power=true` (only options off their default).
    """

    game: str
    players: int
    options: tuple[tuple[str, bool | int | str], ...]
    shown: tuple[str, ...] = ()

    def __str__(self) -> str:
        rest = "".join(f".{name}={option_text(value)}" for name, value in self.options if name in self.shown)
        return f"{self.game}-{self.players}p{rest}"

    def __getitem__(self, name: str) -> bool | int | str:
        for key, value in self.options:
            if key == name:
                return value
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a game by its rules, by seat: `places` (1 = best, equal = shared), `scores` in the game's points."""

    places: tuple[int, ...]
    scores: tuple[int, ...]
    reason: str

    def value(self, seat: int) -> float:
        """Mean pair score of `seat` in [0, 1]: 1 for each seat behind, 1/2 for each equal one."""
        mine = self.places[seat]
        points = sum((p > mine) + 0.5 * (p == mine) for p in self.places) - 0.5
        return points / (len(self.places) - 1) if len(self.places) > 1 else float(mine == 1)


class State(ABC):
    """A position. `to_move` is the seat that chooses next, or TABLE when the game is over.

    `apply` trusts its caller: give it moves for which `is_legal` holds. Nothing here reads a clock or a global generator.
    """

    __slots__ = ()
    game: ClassVar[Game]
    ruleset: Ruleset
    to_move: int

    @abstractmethod
    def legal_moves(self) -> Sequence[Move]:
        """All moves of `to_move` now, in a fixed order without doubles; never empty before the end, empty after it."""

    @abstractmethod
    def is_legal(self, move: Move) -> bool:
        """Whether `move` is legal now; agrees with `legal_moves` but does not build the list."""

    @abstractmethod
    def explain(self, move: Move) -> tuple[str, str]:
        """For a move that is not legal now: (section of the rulebook, reason), telling nothing that `to_move` may not see."""

    @abstractmethod
    def apply(self, move: Move) -> None:
        """Play a legal move and everything that follows from it without a choice."""

    @abstractmethod
    def outcome(self) -> Outcome | None:
        """The result by the rules, None while the game goes on."""

    @abstractmethod
    def view(self, seat: int) -> View:
        """What `seat` may see, built from allowed fields; `TABLE` sees everything, hidden order included.

        To be read only: lists in it may be those of earlier views. A list that did not change should be the same object, for
        then an engine node does not serialize it again.
        """

    @abstractmethod
    def copy(self) -> State:
        """An equal state that shares nothing mutable."""

    @abstractmethod
    def key(self) -> str:
        """The complete state, hidden parts included, as one ASCII line: equal keys, equal states. Hashed in records."""

    @abstractmethod
    def neutral_move(self) -> Move:
        """The most passive legal move, documented per game; played for a seat that has failed."""

    def determinize(self, seat: int, chance: Chance) -> State:
        """A state that `seat` cannot tell from this one, drawn with `chance`. Uses the view only, so it cannot peek."""
        return self.game.sample(self.ruleset, self.view(seat), chance)


class Game(ABC):
    """Describes a game. One instance per game, named in the registry."""

    name: ClassVar[str]
    title: ClassVar[str]
    rules_version: ClassVar[str]
    """Changed whenever the same seed and moves could give another result."""
    players: ClassVar[tuple[int, ...]]
    options: ClassVar[tuple[Option, ...]]
    hidden: ClassVar[bool]
    """Whether seats see different things."""
    chance: ClassVar[bool]
    """Whether chance plays a part after the set-up."""

    @abstractmethod
    def new_state(self, ruleset: Ruleset, chance: Chance) -> State:
        """The position before the first decision, all set-up drawn from `chance`."""

    @abstractmethod
    def parse(self, text: str) -> Move:
        """The move that `text` names. Raises InvalidMove, with the form of the notation, when there is none."""

    @abstractmethod
    def sample(self, ruleset: Ruleset, view: View, chance: Chance) -> State:
        """A state consistent with `view` (a seat's or TABLE's), everything unseen drawn evenly with `chance`."""

    @abstractmethod
    def score_bounds(self, ruleset: Ruleset) -> tuple[int, int]:
        """Lowest and highest score a seat can end with."""

    @abstractmethod
    def text(self, view: View) -> str:
        """`view` as plain text for a terminal, at most 80 columns."""

    @abstractmethod
    def svg(self, view: View) -> str:
        """`view` as one SVG element with role, title and description."""

    def ruleset(self, players: int, options: Mapping[str, bool | int | str] | None = None) -> Ruleset:
        """A checked ruleset; options left out take their default. Raises FieldError naming the field and the legal values."""
        given = dict(options or {})
        if players not in self.players:
            raise _field("players", str(players), [str(n) for n in self.players], self.name)
        values = tuple((o.name, _value(o, given.pop(o.name, o.default))) for o in sorted(self.options, key=lambda o: o.name))
        for name in given:
            raise _field("options", name, [o.name for o in self.options], self.name)
        defaults = {o.name: o.default for o in self.options}
        return Ruleset(self.name, players, values, tuple(n for n, v in values if v != defaults[n]))

    def read_ruleset(self, text: str) -> Ruleset:
        """The ruleset whose text form is `text`. Raises FieldError."""
        head, *rest = text.split(".")
        name, _, count = head.rpartition("-")
        if name != self.name or not re.fullmatch("[1-9][0-9]{0,2}p", count):
            raise FieldError("ruleset", f"{text!r} is not of the form {self.name}-2p", "name the game and the players", ())
        pairs = dict(part.partition("=")[::2] for part in rest)
        if len(pairs) < len(rest):
            raise FieldError("ruleset", f"{text!r} sets an option twice", "set each option once", ())
        return self.ruleset(int(count[:-1]), pairs)


def option_text(value: bool | int | str) -> str:
    """`true`, `false`, digits or the word itself."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def did_you_mean(word: str, legal: Sequence[str]) -> str:
    """The hint of a fix: the nearest legal word, or all of them."""
    near = difflib.get_close_matches(word, legal, n=1)
    return (f"did you mean {near[0]!r}? " if near else "") + "legal: " + (", ".join(legal) or "none")


def _value(option: Option, given: bool | int | str) -> bool | int | str:
    by_text = {option_text(choice): choice for choice in option.choices}
    text = option_text(given)
    if text not in by_text:
        raise _field(f"options.{option.name}", text, list(by_text), "")
    return by_text[text]


def _field(field: str, value: str, legal: list[str], game: str) -> FieldError:
    where = f" for {game}" if game else ""
    return FieldError(field, f"{value!r} is not possible{where}", did_you_mean(value, legal), tuple(legal))
