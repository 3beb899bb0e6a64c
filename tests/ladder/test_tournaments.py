"""Tournaments: planned whole, once; stopped, resumed, finished."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import func, select

from hippodrome.engine.errors import FieldError
from hippodrome.ladder import accounts, lifecycle, queries, refit, schedules, tournaments
from hippodrome.ladder.errors import AlreadyExists, NotFound, WrongState
from hippodrome.ladder.models import TABLES


def matches(club: Any) -> int:
    with club.database.read() as session:
        return int(session.execute(select(func.count()).select_from(TABLES["match"])).scalar_one())


def state(club: Any, name: str = "spring") -> tuple[str, int, int, int]:
    with club.database.read() as session:
        progress = tournaments.progress(session, name)
        return tournaments.get_tournament(session, name).state, progress.open, progress.done, progress.cancelled


SIZES = [("antiquity-2p", 1, 12), ("antiquity-3p", 2, 24), ("antiquity-4p", 3, 12)]


@pytest.mark.parametrize(("ruleset", "blocks", "planned"), SIZES)
def test_all_matches_are_planned_with_the_tournament(club: Any, ruleset: str, blocks: int, planned: int) -> None:
    club.tournament("ada", "bob", "cyd", "dan", ruleset=ruleset, blocks=blocks)
    assert state(club) == ("running", planned, 0, 0)


def test_the_rotations_of_a_block_share_a_seed_and_blocks_do_not(club: Any) -> None:
    club.tournament("ada", "bob", "cyd", "dan", ruleset="antiquity-3p", blocks=2)
    seeds: dict[int, set[bytes]] = {}
    with club.database.read() as session:
        for row in session.execute(select(TABLES["match"])):
            seeds.setdefault(row.block, set()).add(row.seed)
    assert all(len(found) == 1 for found in seeds.values())
    assert len(set.union(*seeds.values())) == len(seeds) == 8
    assert all(len(seed) == 32 for found in seeds.values() for seed in found)


def test_planning_twice_inserts_nothing_twice_and_fills_what_is_missing(club: Any) -> None:
    planned = club.tournament("ada", "bob", "cyd")
    with club.database.write() as session:
        gone = [row.id for row in session.execute(select(TABLES["match"].c.id).where(TABLES["match"].c.number.in_((1, 4))))]
        session.execute(TABLES["seat"].delete().where(TABLES["seat"].c.match_id.in_(gone)))
        session.execute(TABLES["match"].delete().where(TABLES["match"].c.id.in_(gone)))
    for fresh in (2, 0):
        with club.database.write() as session:
            versions = tournaments.entry_versions(session, planned)
            assert tournaments.plan_matches(session, planned, versions, schedules.round_robin(3, 2, 1)) == fresh
    assert matches(club) == 6
    with club.database.read() as session:
        assert {row.id for row in session.execute(select(TABLES["match"].c.id))} > set(gone), "the same ids again"


def test_the_same_request_plans_one_tournament(club: Any) -> None:
    first = club.tournament("ada", "bob", request_id="r")
    assert club.tournament("ada", "bob", name="other", request_id="r").id == first.id
    assert matches(club) == 2


def test_a_name_and_a_seed_are_drawn_when_none_are_given(club: Any) -> None:
    with club.database.write() as session:
        account = accounts.ensure_account(session, name="organiser")
        options: dict[str, Any] = {"ruleset": "antiquity-2p", "entries": ["ada", "bob"], "account": account}
        made = [tournaments.create_tournament(session, **options) for _ in range(2)]
    assert made[0].name != made[1].name
    assert made[0].seed != made[1].seed
    assert len(made[0].seed) == 64


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"name": "Spring!"}, "tournament_id: 'Spring!' is no name"),
        ({"ruleset": "antiquty-2p"}, "did you mean 'antiquity'"),
        ({"ruleset": "antiquity-9p"}, "players: '9' is not possible"),
        ({"ruleset": "antiquity-2p.pwer=true"}, "options: 'pwer' is not possible"),
        ({"ruleset": ""}, "game: no game"),
        ({"entries": ["ada"]}, "entries: 1 for matches of 2"),
        ({"entries": []}, "entries: 0 for matches of 2"),
        ({"entries": ["ada", "bobb"]}, "entries: no bot 'bobb'; fix: did you mean 'bob'"),
        ({"entries": ["ada", "ada@1"]}, "entries: 'ada@1' is there twice"),
        ({"blocks": 0}, "blocks: 0"),
        ({"blocks": 10**9}, "matches; fix: plan at most 200000"),
        ({"clock": "fast"}, "clock: 'fast' cannot be read"),
        ({"clock": "0s"}, "clock: 0s"),
        ({"policy": "shout"}, "policy: 'shout' is not known"),
        ({"pairing": "swis"}, "pairing: no pairing system 'swis'"),
        ({"seed": "x" * 201}, "seed: 201 characters"),
        ({"entries": [f"b{i}" for i in range(2001)]}, "entries: 2001 given"),
    ],
)
def test_a_wrong_tournament_names_the_field_and_leaves_nothing(club: Any, wrong: dict[str, Any], told: str) -> None:
    options: dict[str, Any] = {"name": "spring", "ruleset": "antiquity-2p", "entries": ["ada", "bob"]} | wrong
    with club.database.write() as session:
        account = accounts.ensure_account(session, name="organiser")
    with pytest.raises(FieldError) as caught, club.database.write() as session:
        tournaments.create_tournament(session, account=account, **options)
    assert told in str(caught.value)
    assert "; fix: " in str(caught.value)
    assert matches(club) == 0
    with club.database.read() as session:
        assert tournaments.list_tournaments(session) == []


def test_a_name_is_taken_once_and_an_unknown_one_gets_the_nearest(club: Any) -> None:
    club.tournament("ada", "bob")
    with pytest.raises(AlreadyExists, match="tournament_id: 'spring' is taken"):
        club.tournament("ada", "bob")
    with club.database.read() as session, pytest.raises(NotFound, match="no tournament 'sprin'; fix: did you mean 'spring'"):
        tournaments.get_tournament(session, "tournaments/sprin")


def cancel(club: Any) -> None:
    with club.database.write() as session:
        tournaments.cancel(session, "spring", now=club.now)


def test_cancelling_drops_what_is_under_way_and_keeps_results(club: Any, make_record: Any) -> None:
    club.tournament("ada", "bob", "cyd")
    order = club.due()
    club.play(order[0])
    claim = club.claim(order[1])
    cancel(club)
    cancel(club)
    assert state(club) == ("cancelled", 0, 1, 5)
    with club.database.write() as session:
        assert not lifecycle.heartbeat(session, order[1], claim.fence, 3, club.now)
        assert not lifecycle.void(session, order[1], claim.fence, "late")
    assert club.finish(order[1], claim.fence, make_record(claim.spec)) == "superseded"
    assert club.refused(order[2]) == "cancelled"
    with club.database.read() as session:
        told = queries.attempts(session, order[1])
        assert refit.audit(session) == []
    assert [attempt.outcome for attempt in told] == ["superseded"]
    assert club.due() == []


def test_an_attempt_that_is_told_of_the_cancelling_is_void(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    club.claim(match)
    cancel(club)
    with club.database.read() as session:
        told = queries.attempts(session, match)[0]
    assert (told.outcome, told.reason, told.end_time) == ("void", "the tournament was cancelled", club.now)


def test_a_cancelled_tournament_goes_on_where_it_was(club: Any) -> None:
    club.tournament("ada", "bob", "cyd")
    order = club.due()
    club.play(order[0])
    old = club.claim(order[1])
    cancel(club)
    for _ in range(2):
        with club.database.write() as session:
            tournaments.resume(session, "spring")
    assert state(club) == ("running", 5, 1, 0)
    assert club.claim(order[1]).fence > old.fence
    club.later(20)
    assert club.play_all() == 5
    assert state(club) == ("finished", 0, 6, 0)


def park(club: Any, match: str) -> None:
    for _ in range(lifecycle.STRIKES):
        claim = club.claim(match)
        with club.database.write() as session:
            lifecycle.void(session, match, claim.fence, "the engine was killed", now=club.now)


def test_resuming_tries_parked_matches_again_with_all_their_strikes_forgotten(club: Any) -> None:
    club.tournament("ada", "bob", "cyd")
    order = club.due()
    park(club, order[0])
    assert club.refused(order[0]) == "parked"
    claim = club.claim(order[1])
    with club.database.write() as session:
        assert tournaments.resume(session, "spring").state == "running"
    assert state(club) == ("running", 6, 0, 0)
    assert club.refused(order[1]) == "leased", "what is being played goes on"
    park(club, order[0])
    assert club.refused(order[0]) == "parked", "it has five strikes again, not one"
    with club.database.write() as session:
        tournaments.resume(session, "spring")
    assert club.claim(order[0]).fence == 2 * lifecycle.STRIKES + 1
    club.later(20)
    assert club.play_all() == 6
    assert state(club) == ("finished", 0, 6, 0)
    assert claim.fence == 1


def test_a_finished_tournament_can_be_neither_cancelled_nor_resumed(club: Any) -> None:
    club.tournament("ada", "bob")
    club.play_all()
    with pytest.raises(WrongState, match="tournament: spring is finished"):
        cancel(club)
    with pytest.raises(WrongState, match="spring is finished"), club.database.write() as session:
        tournaments.resume(session, "spring")


def test_the_last_result_finishes_it_whichever_match_that_is(club: Any) -> None:
    club.tournament("ada", "bob", "cyd")
    for left, match in zip(range(5, -1, -1), reversed(club.due()), strict=True):
        club.play(match)
        assert state(club)[:2] == ("running" if left else "finished", left)
