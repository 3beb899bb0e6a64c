"""What every game must be, whatever its rules: the checks that each registered game passes, for authors of games.

    problems = check_game(GAME, GAME.ruleset(2), seeds=range(3))
    assert not problems, "\\n".join(map(str, problems))

`CHECKS` names the checks in order. Each takes a `Trial`, one random game with all its positions, and yields a sentence
for each thing that is wrong. Checks that cost more look at a few positions spread over the game.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from hippodrome.engine.conformance import matches, rules, shown
from hippodrome.engine.conformance.trial import Check, Trial
from hippodrome.engine.errors import FieldError
from hippodrome.engine.game import Game, Ruleset

__all__ = ["CHECKS", "Check", "Problem", "Trial", "all_rulesets", "check_game"]


@dataclass(frozen=True, slots=True)
class Problem:
    """What check `check` found wrong in the random game of `seed`."""

    check: str
    ruleset: str
    seed: int
    text: str

    def __str__(self) -> str:
        return f"{self.ruleset} seed {self.seed}: {self.check}: {self.text}"


CHECKS: Final[tuple[tuple[str, Check], ...]] = tuple(
    (check.__name__, check)
    for check in (
        rules.random_games_end,
        rules.rulesets_read_back,
        rules.legal_moves_are_listed,
        rules.is_legal_agrees,
        rules.moves_read_back,
        rules.apply_leaves_copies_alone,
        rules.copies_are_equal,
        rules.keys_tell_states_apart,
        shown.views_are_plain,
        shown.views_stay,
        shown.secrets_are_kept,
        shown.samples_are_states,
        rules.outcomes_are_ranked,
        rules.neutral_moves_are_legal,
        shown.errors_are_explained,
        rules.seeds_decide,
        shown.pictures_are_readable,
        matches.records_verify,
    )
)
"""Name and function of every check, the cheap and telling ones first."""


def check_game(game: Game, ruleset: Ruleset, seeds: Iterable[int]) -> list[Problem]:
    """What is wrong with `game` under `ruleset` in one random game for each of `seeds`: empty when it conforms.

    At most three problems are listed for each check and seed. An exception in the game's code is a problem too. A game
    that does not end is not looked at any further.
    """
    return [problem for seed in seeds for problem in _check_seed(game, ruleset, seed)]


def all_rulesets(game: Game) -> list[Ruleset]:
    """Every ruleset of the game: all numbers of players with all combinations of options that the game allows."""
    names = [option.name for option in game.options]
    found = []
    for players in game.players:
        for values in itertools.product(*(option.choices for option in game.options)):
            try:
                found.append(game.ruleset(players, dict(zip(names, values, strict=True))))
            except FieldError:
                continue
    return list(dict.fromkeys(found))


def _check_seed(game: Game, ruleset: Ruleset, seed: int) -> Iterator[Problem]:
    try:
        trial = Trial(game, ruleset, seed)
    except Exception as error:
        yield Problem("random_games_end", str(ruleset), seed, f"{type(error).__name__}: {error}")
        return
    for name, check in CHECKS if trial.ended else CHECKS[:1]:
        yield from (Problem(name, str(ruleset), seed, text) for text in _run(check, trial))


def _run(check: Check, trial: Trial) -> Iterator[str]:
    """The first three findings of a check; an exception of the game's code is one."""
    findings = check(trial)
    try:
        yield from itertools.islice(findings, 3)
    except Exception as error:
        yield f"{type(error).__name__}: {error}"
