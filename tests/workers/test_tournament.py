"""Tournaments played to their end, and what the demo plays."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from hippodrome.engine.errors import FieldError
from hippodrome.games.registry import read_ruleset
from hippodrome.ladder.settings import Settings
from hippodrome.workers.demo import CAST, RULESETS, demo_cast, demo_settings
from hippodrome.workers.programs import HouseBot, Options, builtin_bots
from hippodrome.workers.tournament import (
    Ended,
    Event,
    Moved,
    Plan,
    Planned,
    ServiceUp,
    house_bots,
    open_service,
    play_tournament,
)

RunRig = Callable[..., AbstractContextManager[Any]]


def test_the_events_of_a_tournament_tell_its_story(run_rig: RunRig) -> None:
    events: list[Event] = []
    with run_rig(lease=15.0) as rig:
        plan = Plan("antiquity-2p", ("random", "random-2"), blocks=3, name="story", seed="once upon a time")
        assert play_tournament(events.append, plan, rig.database) == "story"
        rig.check_finished("story", 6)
    first, *moved, last = events
    assert first == Planned("story", "antiquity-2p", 6)
    assert isinstance(last, Ended)
    assert (last.name, last.parked) == ("story", 0)
    done = [event.done for event in moved if isinstance(event, Moved)]
    assert done == sorted(done)
    assert done[-1] == 6


def test_a_service_that_runs_is_used_as_it_is(run_rig: RunRig) -> None:
    events: list[Event] = []
    with run_rig() as rig, open_service(events.append, rig.settings, Options()) as server:
        assert server.pids["engine"] == rig.pid("engine")
        assert events == [ServiceUp(server, 0.0)]


@pytest.mark.parametrize(
    ("entries", "names"),
    [
        (("random", "quokka"), ["random"]),
        (("bots/random/versions/1", "random@1", "bots/greedy"), ["random", "greedy"]),
        ((), []),
    ],
)
def test_built_in_bots_are_found_among_entries(entries: tuple[str, ...], names: list[str]) -> None:
    assert [bot.name for bot in house_bots(entries)] == names


def test_a_house_bot_has_a_name_and_a_kind() -> None:
    assert HouseBot.parse("random") == HouseBot("random", "random")
    assert HouseBot.parse("dice=random") == HouseBot("dice", "random")
    with pytest.raises(FieldError, match="bots: 'X Y' is no name"):
        HouseBot.parse("X Y=random")


def test_the_cast_of_the_demo_holds_every_built_in_bot_and_fills_the_largest_table() -> None:
    cast = demo_cast()
    assert {bot.builtin for bot in cast} == set(builtin_bots())
    assert len({bot.name for bot in cast}) == len(cast) >= CAST == max(read_ruleset(r).players for r in RULESETS)


def test_the_demo_has_a_home_of_its_own_but_uses_a_database_that_was_named(tmp_path: Path) -> None:
    own = demo_settings(Settings.load({"HIPPODROME_HOME": str(tmp_path)}))
    assert (own.home, own.database_url) == (tmp_path / "demo", f"sqlite:///{tmp_path}/demo/hippodrome.db")
    named = {"HIPPODROME_HOME": str(tmp_path), "HIPPODROME_DATABASE_URL": "postgresql://db/x"}
    assert demo_settings(Settings.load(named)).database_url == "postgresql://db/x"
