"""The life of a match: effects exactly once, whatever is lost, doubled, late or out of order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from hippodrome.engine.errors import RecordError
from hippodrome.engine.record import Record, dumps
from hippodrome.engine.referee import Policy
from hippodrome.ladder import lifecycle, queries, refit, results, tournaments
from hippodrome.ladder.db import Database
from hippodrome.ladder.errors import NotFound, WrongState
from hippodrome.ladder.lifecycle import STRIKES, Claim
from hippodrome.ladder.models import TABLES

MakeRecord = Callable[..., Record]


def row(database: Database, match: str) -> Any:
    with database.read() as session:
        return session.execute(select(TABLES["match"]).where(TABLES["match"].c.id == match)).one()


def count(database: Database, table: str) -> int:
    with database.read() as session:
        return session.execute(select(func.count()).select_from(TABLES[table])).scalar_one()


def attempts(database: Database, match: str) -> list[tuple[int, str]]:
    with database.read() as session:
        return [(attempt.fence, attempt.outcome) for attempt in queries.attempts(session, match)]


def test_a_claim_carries_all_that_decides_the_match(club: Any) -> None:
    club.tournament("ada", "bob", clock="10s+1s", policy="retry:2")
    first, second = club.due()
    claim = club.claim(first)
    assert claim.fence == 1
    assert claim.absent_seats == ()
    assert claim.spec.match == f"matches/{first}"
    assert str(claim.spec.ruleset) == "antiquity-2p"
    assert [seat.version for seat in claim.spec.seats] == ["bots/ada/versions/1", "bots/bob/versions/1"]
    assert [seat.bot for seat in club.claim(second).spec.seats] == ["bob", "ada"]
    assert str(claim.spec.clock) == "10s+1s"
    assert str(claim.spec.policy) == "retry:2"
    assert claim.spec.seed == tournaments.block_seed("s", 0) == club_seed(club, second)


def club_seed(club: Any, match: str) -> bytes:
    return bytes(row(club.database, match).seed)


def test_a_claimed_match_is_refused_to_others_until_its_lease_ends(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    club.claim(match, lease=15)
    assert club.refused(match) == "leased"
    club.later(14.9)
    assert club.refused(match) == "leased"
    club.later(0.2)
    assert club.claim(match).fence == 2
    assert attempts(club.database, match) == [(1, "lost"), (2, "")]


@pytest.mark.parametrize("match", ["m1111111111", "nonsense", ""])
def test_an_unknown_match_is_refused_not_an_error(club: Any, match: str) -> None:
    assert club.refused(match) == "unknown"


def test_heartbeats_keep_the_lease_and_tell_the_progress(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    claim = club.claim(match, lease=10)
    for moves in (1, 20, 30):
        club.later(9)
        assert beat(club, match, claim.fence, moves)
        assert row(club.database, match).moves == moves
    assert club.refused(match) == "leased"


def beat(club: Any, match: str, fence: int, moves: int) -> bool:
    with club.database.write() as session:
        return lifecycle.heartbeat(session, match, fence, moves, club.now)


def test_a_heartbeat_of_an_old_attempt_is_told_to_stop(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    old = club.claim(match)
    club.later(16)
    new = club.claim(match)
    assert not beat(club, match, old.fence, 5)
    assert beat(club, match, new.fence, 1)
    assert not beat(club, "m1111111111", 1, 1)


def test_finish_writes_result_event_match_and_tournament_together(club: Any, make_record: MakeRecord) -> None:
    club.tournament("ada", "bob")
    records = {}
    for match in club.due():
        claim = club.claim(match)
        record = records[match] = make_record(claim.spec, (2, 1))
        assert club.finish(match, claim.fence, record) == "stored"
        with club.database.read() as session:
            page = queries.match(session, match)
            assert (page.state, page.ending, page.places, page.scores) == ("done", "rules", (2, 1), (20, 10))
            assert page.end_time == club.now
    assert count(club.database, "rating_event") == 2
    with club.database.read() as session:
        assert tournaments.get_tournament(session, "spring").state == "finished"
        assert tournaments.get_tournament(session, "spring").ended_at == club.now
        assert refit.audit(session) == []
        assert {match: queries.record_text(session, match) for match in records} == {
            match: dumps(record) for match, record in records.items()
        }


def test_a_claim_tells_whether_other_matches_have_the_seed(club: Any) -> None:
    club.tournament("ada", "bob", name="pairs")
    first, second = club.due()
    assert club.claim(first).seed_shared
    assert club.claim(second).seed_shared
    with club.database.write() as session:
        session.execute(TABLES["match"].update().where(TABLES["match"].c.id == second).values(block=1))
    club.later(16)
    assert not club.claim(first).seed_shared, "a match alone in its block"


def test_finish_told_twice_is_stored_once(club: Any, make_record: MakeRecord) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    claim = club.claim(match)
    record = make_record(claim.spec)
    assert [club.finish(match, claim.fence, record) for _ in range(3)] == ["stored", "already", "already"]
    assert count(club.database, "result") == count(club.database, "rating_event") == 1


def test_a_late_attempt_is_superseded_and_writes_nothing(club: Any, make_record: MakeRecord) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    old = club.claim(match, owner="frozen")
    club.later(16)
    new = club.claim(match, owner="fresh")
    assert club.finish(match, old.fence, make_record(old.spec, (2, 1))) == "superseded"
    assert club.finish(match, new.fence, make_record(new.spec, (1, 2))) == "stored"
    assert club.finish(match, old.fence, make_record(old.spec, (2, 1))) == "superseded"
    assert attempts(club.database, match) == [(1, "superseded"), (2, "completed")]
    with club.database.read() as session:
        assert queries.match(session, match).places == (1, 2)
        assert refit.audit(session) == []


def test_an_attempt_whose_lease_ran_out_unnoticed_may_still_finish(club: Any, make_record: MakeRecord) -> None:
    """Safety comes from the fence, not from the clock."""
    club.tournament("ada", "bob")
    match = club.due()[0]
    claim = club.claim(match)
    club.later(3600)
    assert club.finish(match, claim.fence, make_record(claim.spec)) == "stored"


def test_finish_before_any_claim_or_with_a_fence_to_come_is_superseded(club: Any, make_record: MakeRecord) -> None:
    club.tournament("ada", "bob")
    first, second = club.due()
    claim = club.claim(first)
    assert club.finish(first, claim.fence + 1, make_record(claim.spec)) == "superseded"
    with club.database.read() as session:
        spec = results.spec_of(session, row(club.database, second))
    assert club.finish(second, 0, make_record(spec)) == "superseded"
    assert count(club.database, "result") == 0


def test_finish_of_an_unknown_match_is_an_error(club: Any, make_record: MakeRecord) -> None:
    club.tournament("ada", "bob")
    claim = club.claim(club.due()[0])
    with pytest.raises(NotFound, match="no match"):
        club.finish("m1111111111", 1, make_record(claim.spec))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"match": "matches/m1111111111"}, "match"),
        ({"seed": bytes(32)}, "commitment"),
        ({"policy": None}, "policy"),
        ({"seats": None}, "seats"),
    ],
)
def test_the_record_of_another_match_is_refused(club: Any, make_record: MakeRecord, change: dict[str, Any], named: str) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    claim = club.claim(match)
    filled = {"policy": Policy("retry", 1), "seats": claim.spec.seats[::-1]}
    other = replace(claim.spec, **{name: value or filled[name] for name, value in change.items()})
    with pytest.raises(RecordError, match=rf"^record line 1: {named} is .*; fix: give the record of matches/{match}$"):
        club.finish(match, claim.fence, make_record(other))
    assert row(club.database, match).state == "leased"
    assert count(club.database, "result") == 0


def test_an_unrated_tournament_leaves_the_ladder_alone(club: Any) -> None:
    club.tournament("ada", "bob", rated=False)
    assert club.play_all() == 2
    assert count(club.database, "rating_event") == 0
    with club.database.read() as session:
        assert queries.list_ladders(session).items == ()
        assert refit.audit(session) == []


def test_void_plays_the_match_again_with_the_same_seed_and_seats(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    first = club.claim(match)
    assert void(club, match, first.fence, "the engine node was lost", evidence="line 1\nline 2")
    assert not void(club, match, first.fence, "told twice")
    second = club.claim(match)
    assert second.spec == first.spec
    assert second.fence > first.fence
    with club.database.read() as session:
        told = queries.attempts(session, match)[0]
    assert (told.outcome, told.reason, told.evidence) == ("void", "the engine node was lost", "line 1\nline 2")


def test_whatever_a_bot_has_written_can_be_kept_as_evidence(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    evidence = "nul \x00, half \ud800, long " + "x" * 100_000
    assert void(club, match, club.claim(match).fence, "odd \x00 reason", evidence=evidence)
    with club.database.read() as session:
        told = queries.attempts(session, match)[0]
    assert told.reason == "odd ? reason"
    assert told.evidence.startswith("nul ?, half ?, long xxx")


def test_a_reason_with_odd_characters_is_kept_readable(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    odd = {"seat": 1, "n": 1, "kind": "illegal_move", "reason": "move '\x00\ud800'"}
    assert club.play(match, (1, 2), [odd]) == "stored"
    with club.database.read() as session:
        assert queries.match(session, match).faults == (odd,)


def void(club: Any, match: str, fence: int, reason: str, **options: Any) -> bool:
    with club.database.write() as session:
        return lifecycle.void(session, match, fence, reason, now=club.now, **options)


def test_a_void_attempt_may_put_off_the_next_one(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    soon = club.now + timedelta(seconds=5)
    assert void(club, match, club.claim(match).fence, "no free slot", counts_attempt=False, not_before=soon)
    assert club.refused(match) == "early"
    assert match not in club.due()
    club.later(5)
    assert match in club.due()
    assert club.claim(match).fence == 2


def test_the_fifth_strike_parks_the_match_with_its_evidence(club: Any) -> None:
    club.tournament("ada", "bob")
    match, other = club.due()
    for strike in range(STRIKES):
        assert void(club, match, club.claim(match).fence, f"failure {strike}", evidence=f"log {strike}")
    assert club.refused(match) == "parked"
    assert club.due() == [other]
    with club.database.read() as session:
        assert [attempt.evidence for attempt in queries.attempts(session, match)] == [f"log {n}" for n in range(STRIKES)]
    assert club.play(other) == "stored"
    with club.database.read() as session:
        assert tournaments.progress(session, "spring").parked == 1
        assert tournaments.get_tournament(session, "spring").state == "running", "an operator must look first"


def test_workers_that_die_silently_are_strikes_too(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    for _ in range(STRIKES):
        club.claim(match, lease=1)
        club.later(2)
    assert club.refused(match) == "parked"
    assert row(club.database, match).attempts == STRIKES


def test_attempts_that_do_not_count_never_park(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    for _ in range(3 * STRIKES):
        assert void(club, match, club.claim(match).fence, "no engine", counts_attempt=False)
    assert isinstance(club.claim(match), Claim)


def test_an_unparked_match_is_tried_again(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    for _ in range(STRIKES):
        void(club, match, club.claim(match).fence, "poison")
    with club.database.write() as session:
        lifecycle.unpark(session, match)
    assert club.play(match) == "stored"
    with pytest.raises(WrongState, match="is done"), club.database.write() as session:
        lifecycle.unpark(session, match)


def wait(club: Any, match: str, missing: list[str]) -> bool:
    claim = club.claim(match)
    with club.database.write() as session:
        return lifecycle.wait(session, match, claim.fence, missing, club.now, club.now + timedelta(seconds=3))


def test_waiting_for_a_bot_is_no_attempt(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    for _ in range(2 * STRIKES):
        assert wait(club, match, ["bots/bob/versions/1"])
        club.later(3)
    assert attempts(club.database, match) == []
    assert row(club.database, match).attempts == 0
    assert club.claim(match).absent_seats == ()


def test_a_bot_away_for_too_long_is_listed_as_absent(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    for _ in range(40):
        assert wait(club, match, ["bots/bob/versions/1"])
        club.later(3)
    assert club.claim(match).absent_seats == (1,)


def test_each_bots_absence_is_counted_apart_and_starts_again_when_it_was_there(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    for missing in (["bots/ada/versions/1"], ["bots/bob/versions/1"], ["bots/ada/versions/1", "bots/bob/versions/1"]):
        assert wait(club, match, missing)
        club.later(70)
    assert club.claim(match).absent_seats == (1,), "bob has been missing for 140 s, ada for 70 s"


def test_a_bot_that_came_and_played_has_its_whole_grace_again(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    assert wait(club, match, ["bots/bob/versions/1"])
    club.later(130)
    claim = club.claim(match)
    assert claim.absent_seats == (1,)
    assert beat(club, match, claim.fence, 1)
    club.later(16)
    assert club.claim(match).absent_seats == ()


def test_waiting_of_an_old_attempt_changes_nothing(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    old = club.claim(match)
    club.later(16)
    club.claim(match)
    with club.database.write() as session:
        assert not lifecycle.wait(session, match, old.fence, ["bots/bob/versions/1"], club.now)
    assert [fence for fence, _ in attempts(club.database, match)] == [1, 2]


def ring(club: Any, limit: int) -> list[str]:
    with club.database.write() as session:
        found = lifecycle.due(session, club.now, limit)
        lifecycle.mark_rung(session, found, club.now)
    return found


def test_a_small_window_is_rung_and_rung_again_after_three_seconds(club: Any) -> None:
    club.tournament("ada", "bob", "cyd")
    order = club.due()
    assert len(order) == 6
    assert ring(club, 4) == order[:4]
    assert ring(club, 4) == []
    assert ring(club, 5) == order[4:5]
    club.later(3)
    assert ring(club, 4) == order[:4]


def test_claimed_matches_make_room_in_the_window(club: Any) -> None:
    club.tournament("ada", "bob", "cyd")
    order = ring(club, 2)
    club.claim(order[0])
    assert len(ring(club, 2)) == 1


def test_matches_with_a_lapsed_lease_are_rung_first(club: Any) -> None:
    club.tournament("ada", "bob", "cyd")
    order = ring(club, 3)
    club.claim(order[2], lease=5)
    club.later(6)
    assert ring(club, 3) == [order[2], order[0], order[1]]
    assert ring(club, 3) == [], "a lapsed lease is not rung again at once"


def test_a_clock_that_was_set_back_holds_no_match_up(club: Any) -> None:
    """What was written before the step lies further ahead than anybody could have written it since."""
    club.tournament("ada", "bob", "cyd")
    order = ring(club, 6)
    playing = club.claim(order[0], lease=15)
    waits = club.claim(order[1])
    with club.database.write() as session:
        pause = club.now + timedelta(seconds=2)
        lifecycle.wait(session, order[1], waits.fence, ["bots/ada/versions/1"], club.now, pause)
    club.later(-3600)
    assert ring(club, 6) == [order[0], *order[1:]]
    with club.database.write() as session:
        assert lifecycle.heartbeat(session, order[0], playing.fence, 7, club.now), "who plays on is not disturbed"
    assert club.refused(order[0]) == "leased"
    assert club.claim(order[1]).absent_seats == ()


def test_the_lease_of_a_worker_that_died_before_the_clock_was_set_back_is_lost(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    club.claim(match, lease=15)
    club.later(-10)
    assert club.refused(match) == "leased", "clocks of two workers may differ a little"
    club.later(-10)
    assert club.claim(match).fence == 2


def test_done_parked_and_cancelled_matches_are_never_due(club: Any) -> None:
    club.tournament("ada", "bob")
    club.play_all()
    assert club.due() == []
    club.tournament("ada", "bob", name="autumn")
    with club.database.write() as session:
        tournaments.cancel(session, "autumn")
    assert club.due() == []


def test_two_tournaments_take_turns(club: Any) -> None:
    club.tournament("ada", "bob", name="spring")
    club.tournament("ada", "bob", name="autumn")
    with club.database.read() as session:
        named = [queries.match(session, match) for match in club.due()]
    assert [page.number for page in named] == [0, 0, 1, 1]


def test_one_reconciler_is_elected_until_it_stops_renewing(club: Any) -> None:
    def elect(owner: str) -> bool:
        with club.database.write() as session:
            return lifecycle.elect(session, "reconciler", owner, club.now, 5)

    assert elect("one")
    assert not elect("two")
    club.later(4)
    assert elect("one")
    club.later(4)
    assert not elect("two")
    club.later(2)
    assert elect("two")
    assert not elect("one")
    club.later(-3600)
    assert elect("one"), "an office taken before the clock was set back is free"


def test_an_office_given_up_is_free_at_once_and_offices_tell_their_value(club: Any) -> None:
    with club.database.write() as session:
        assert lifecycle.elect(session, "node/a", "one", club.now, 5, value="127.0.0.1:7001")
        assert lifecycle.elect(session, "node/b", "two", club.now, 50, value="127.0.0.1:7002")
        assert lifecycle.elect(session, "reconciler", "one", club.now, 50)
    with club.database.read() as session:
        assert lifecycle.holders(session, "node/", club.now) == {"node/a": "127.0.0.1:7001", "node/b": "127.0.0.1:7002"}
        assert list(lifecycle.holders(session, "node/", club.later(6))) == ["node/b"]
    with club.database.write() as session:
        lifecycle.resign(session, "reconciler", "two")
        assert not lifecycle.elect(session, "reconciler", "two", club.now, 5)
        lifecycle.resign(session, "reconciler", "one")
        assert lifecycle.elect(session, "reconciler", "two", club.now, 5)
