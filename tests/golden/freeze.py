"""Writes the golden records: whole matches that stay the same, byte for byte, as long as the rules do.

    python tests/golden/freeze.py                        writes those that are missing
    python tests/golden/freeze.py --replace "REASON"     writes all anew and notes the reason in CHANGELOG.md

The tests never play them anew, they only replay what is there. A replaced record means that older records of that game
no longer verify: raise the game's `rules_version` with it.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from hippodrome.engine.clock import TimeControl
from hippodrome.engine.record import Record, dumps
from hippodrome.engine.referee import MatchSpec, Policy, Receipt, Referee, SeatSpec
from hippodrome.engine.verify import verify
from hippodrome.games.registry import get_game

HERE: Final = Path(__file__).parent
CHANGELOG: Final = HERE.parents[1] / "CHANGELOG.md"
CLOCK: Final = TimeControl(60_000_000, 100_000, 10_000_000, 5_000_000)
FAULTY: Final = {5: "illegal", 12: "malformed", 20: "late", 40: "crash"}
"""Number of a decision -> how it is answered."""

MATCHES: Final[dict[str, dict[str, tuple[str, str, dict[int, str]]]]] = {
    "antiquity": {
        "2p": ("antiquity-2p", "forfeit", {}),
        "3p": ("antiquity-3p", "forfeit", {}),
        "4p": ("antiquity-4p", "forfeit", {}),
        "2p-without-petra": ("antiquity-2p.unused=petra", "forfeit", {}),
        "2p-power": ("antiquity-2p.power=true", "forfeit", {}),
        "3p-power": ("antiquity-3p.power=true", "forfeit", {}),
        "4p-power-variant": ("antiquity-4p.power=true.power_variant=true", "forfeit", {}),
        "2p-timeout": ("antiquity-2p", "forfeit", {31: "late"}),
        "3p-forfeit": ("antiquity-3p", "forfeit", {10: "illegal"}),
        "4p-retry": ("antiquity-4p", "retry:1", FAULTY),
        "4p-substitute": ("antiquity-4p.power=true", "substitute:2", FAULTY),
    },
}
"""Game -> name of the record -> ruleset, policy, failing answers."""


def play(game: str, name: str) -> Record:
    """A match of random moves and the failures of the table; its seed and choices follow from its name."""
    text, policy, faults = MATCHES[game][name]
    ruleset = get_game(game).read_ruleset(text)
    seed = hashlib.sha256(f"golden {game} {name}".encode("ascii")).digest()
    seats = tuple(SeatSpec(f"random{n}", f"bots/random{n}/versions/1") for n in range(ruleset.players))
    spec = MatchSpec(f"golden/{game}/{name}", ruleset, seats, CLOCK, Policy.parse(policy), seed)
    referee, source, now = Referee(spec, get_game(game)), random.Random(seed), 0
    while referee.decision is not None:
        sent, now = now, now + source.randrange(100, 50_000)
        number = referee.decision.number
        retried = sum(line.get("n") == number for line in referee.lines)
        _answer(referee, "" if retried else faults.get(number, ""), Receipt(sent, now, source.randrange(100)), source)
    assert referee.record is not None
    return referee.record


def _answer(referee: Referee, fault: str, receipt: Receipt, source: random.Random) -> None:
    decision = referee.decision
    assert decision is not None
    if fault == "crash":
        referee.fail("crash", "exit code 1", receipt)
    elif fault == "late":
        referee.answer(decision.legal[0].text, Receipt(receipt.sent, receipt.sent + decision.limit + 1))
    elif fault == "malformed":
        referee.answer("I resign", receipt)
    elif fault == "illegal":
        referee.answer(_illegal(referee), receipt)
    else:
        referee.answer(source.choice(decision.legal).text, receipt)


def _illegal(referee: Referee) -> str:
    """A move made earlier in the match that is not legal now."""
    game = referee.state.game
    earlier = (str(line["move"]) for line in referee.lines if "move" in line)
    return next(text for text in earlier if not referee.state.is_legal(game.parse(text)))


def noted(changelog: str, reason: str) -> str:
    """The changelog with the reason among the unreleased changes."""
    before, rest = changelog.split("## Unreleased\n", 1)
    head, line = "### Changed\n", f"- Golden records written anew: {reason}\n"
    if head in rest.split("\n## ")[0]:
        return f"{before}## Unreleased\n{rest.replace(head, head + line, 1)}"
    return f"{before}## Unreleased\n\n{head}{line}{rest}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--replace", metavar="REASON", help="write all records anew; the reason goes into CHANGELOG.md")
    reason = parser.parse_args(arguments).replace
    for game, names in MATCHES.items():
        (HERE / game).mkdir(exist_ok=True)
        for name in names:
            path = HERE / game / f"{name}.jsonl"
            if reason or not path.exists():
                record = play(game, name)
                verify(record, get_game(game))
                path.write_text(dumps(record), encoding="ascii", newline="\n")
                print(f"wrote {path.relative_to(HERE)}: {len(record.moves)} moves, {record.closing['end']}")
    if reason:
        CHANGELOG.write_text(
            CHANGELOG.read_text().replace("## Unreleased\n", f"## Unreleased\n\n- Golden records: {reason}\n", 1)
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
