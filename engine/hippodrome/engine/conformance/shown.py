"""Checks of what a game shows: views, secrets, samples, errors, texts and pictures."""

from __future__ import annotations

import copy
import itertools
import random
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import Any, Final

from hippodrome.engine.chance import QuickChance
from hippodrome.engine.conformance.trial import BOUND, Trial
from hippodrome.engine.game import TABLE, State

WIDTH: Final = 80
"""Columns of a game's text."""
_FIELD: Final = re.compile("[a-z][a-z0-9]*(_[a-z0-9]+)*")


def views_are_plain(trial: Trial) -> Iterator[str]:
    """Only dicts with field names, lists, strings, ints and bools; a field keeps its type; asking changes nothing."""
    types: dict[str, set[str]] = {}
    for state in trial.few:
        before = state.key()
        for seat in trial.viewers:
            yield from _impure(state.view(seat), "view", types)
        if state.key() != before:
            yield "asking for a view changes the state"
    yield from (f"{field} is {' and '.join(sorted(kinds))}" for field, kinds in types.items() if len(kinds) > 1)


def _impure(node: Any, path: str, types: dict[str, set[str]]) -> Iterator[str]:
    types.setdefault(path, set()).add(type(node).__name__)
    if type(node) is dict:
        for key, value in node.items():
            if type(key) is not str or not _FIELD.fullmatch(key):
                yield f"{path} has the key {key!r}, which is no field name"
            yield from _impure(value, f"{path}.{key}", types)
    elif type(node) is list:
        for item in node:
            yield from _impure(item, f"{path}[]", types)
    elif type(node) not in (str, int, bool):
        yield f"{path} is a {type(node).__name__}"
    elif type(node) is int and not -(1 << 31) <= node < 1 << 31:
        yield f"{path} does not fit 32 bits"


def views_stay(trial: Trial) -> Iterator[str]:
    """Play goes on without changing what was shown: no list of a view is one that the state still changes."""
    state, shown = trial.states[0].copy(), []
    for move in trial.moves:
        views = [state.view(seat) for seat in trial.viewers]
        shown.append((views, copy.deepcopy(views)))
        state.apply(move)
    for number, (views, before) in enumerate(shown):
        yield from (
            f"a view changed after move {number}: {old}" for view, old in zip(views, before, strict=True) if view != old
        )


def secrets_are_kept(trial: Trial) -> Iterator[str]:
    """States that a seat cannot tell apart show it the same view, moves, text, picture and errors."""
    moved = False
    for state, seat in itertools.product(trial.few, range(trial.ruleset.players)):
        shown, before = _shown(trial, state, seat), state.key()
        for salt in (1, 2):
            other = state.determinize(seat, trial.chance(salt))
            moved = moved or other.key() != before
            yield from (
                f"seat {seat} can tell {before!r} and {other.key()!r} apart by their {name}"
                for name, value in _shown(trial, other, seat).items()
                if shown[name] != value
            )
        if state.key() != before:
            yield f"determinize for seat {seat} changes the state"
    if moved != trial.game.hidden:
        yield f"hidden is {trial.game.hidden}, but determinize {'' if moved else 'never '}changes what a seat cannot see"


def _shown(trial: Trial, state: State, seat: int) -> dict[str, Any]:
    view = state.view(seat)
    shown = {"view": view, "text": trial.game.text(view), "picture": trial.game.svg(view), "seat to move": state.to_move}
    if state.to_move == seat:
        shown["legal moves"] = list(state.legal_moves())
        shown["errors"] = [state.explain(move) for move in trial.illegal(state)]
    return shown


def samples_are_states(trial: Trial) -> Iterator[str]:
    """A sample from the table's view is the state itself; one from a seat's view can be played to its end, and its
    choice follows from the chance it is given."""
    game, ruleset = trial.game, trial.ruleset
    for n, state in enumerate(trial.few):
        if game.sample(ruleset, state.view(TABLE), trial.chance(n)).key() != state.key():
            yield f"a sample of the table's view of {state.key()!r} differs"
        seat = n % ruleset.players
        one, two = (game.sample(ruleset, state.view(seat), trial.chance(n)) for _ in range(2))
        if one.key() != two.key():
            yield f"two samples with the same chance differ at {state.key()!r}"
        quick = state.determinize(seat, QuickChance(random.Random(n)))
        if _play_out(quick, random.Random(n)).to_move != TABLE:
            yield f"a sample of {state.key()!r} cannot be played to its end"


def errors_are_explained(trial: Trial) -> Iterator[str]:
    """Each move that is not legal has a section and a reason, one line each."""
    for state in trial.few:
        for move in trial.illegal(state) if state.to_move != TABLE else ():
            if not all(part.strip() and part.isprintable() for part in state.explain(move)):
                yield f"{move} is explained by {state.explain(move)!r} at {state.key()!r}"


def pictures_are_readable(trial: Trial) -> Iterator[str]:
    """Texts keep within the columns; pictures are SVG with role, title and description."""
    for state, seat in itertools.product(trial.few, trial.viewers):
        view = state.view(seat)
        for line in trial.game.text(view).split("\n"):
            if len(line) > WIDTH or not (line.isprintable() or not line):
                yield f"text line {line!r} is over {WIDTH} columns or not printable"
        yield from _bad_picture(trial.game.svg(view))


def _bad_picture(text: str) -> Iterator[str]:
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        yield f"the picture is no XML: {error}"
        return
    space = "{http://www.w3.org/2000/svg}"
    if root.tag != f"{space}svg" or root.get("role") != "img" or "viewBox" not in root.attrib:
        yield "the picture is no <svg> of that namespace with role=img and a viewBox"
    yield from (f"the picture has no {part}" for part in ("title", "desc") if not (root.findtext(space + part) or "").strip())
    if any(node.tag == f"{space}script" or any(name.startswith("on") for name in node.attrib) for node in root.iter()):
        yield "the picture carries a script"


def _play_out(state: State, source: random.Random) -> State:
    for _ in range(BOUND):
        if state.to_move == TABLE:
            break
        state.apply(source.choice(state.legal_moves()))
    return state
