"""Refit: the rating tables follow from the log; the audit sees every difference."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select, update

from hippodrome.ladder import accounts, bots, queries, ratings, refit
from hippodrome.ladder.models import TABLES

LADDER = "antiquity-2p"


def audit(club: Any) -> list[str]:
    with club.database.read() as session:
        return refit.audit(session)


def due(club: Any) -> list[str]:
    with club.database.read() as session:
        return refit.refit_due(session)


def fit(club: Any, ladder: str = LADDER) -> int:
    with club.database.write() as session:
        return refit.refit(session, ladder)


def ladder(club: Any, **options: Any) -> queries.LadderPage:
    with club.database.read() as session:
        return queries.ladder(session, LADDER, **options)


def test_a_ladder_is_due_while_it_has_results_that_are_not_in_its_ratings(club: Any) -> None:
    club.tournament("ada", "bob")
    assert due(club) == []
    club.play(club.due()[0])
    assert due(club) == [LADDER]
    assert fit(club) == 1
    assert due(club) == []
    club.play(club.due()[0])
    assert due(club) == [LADDER]
    assert ladder(club).pending == 1


def test_tables_equal_a_clean_rebuild_after_every_step(club: Any) -> None:
    club.tournament("ada", "bob", "cyd", "dan", blocks=2)
    while todo := club.due(5):
        for match in todo:
            club.play(match)
        assert audit(club) == []
        fit(club)
        assert audit(club) == []
    assert len(ladder(club).rows) == 4


def test_the_order_in_which_results_come_changes_nothing(club: Any) -> None:
    """Two tournaments alike, played in opposite orders, each on a ladder of its own: the same numbers, bit for bit."""
    club.tournament("ada", "bob", "cyd", ruleset="antiquity-2p", blocks=2, name="one")
    club.tournament("ada", "bob", "cyd", ruleset="antiquity-2p.power=true", blocks=2, name="other")
    with club.database.read() as session:
        pages = [queries.list_matches(session, tournament=name).items for name in ("one", "other")]
    for pages_, order in ((pages[0], 1), (pages[1], -1)):
        for page in sorted(pages_, key=lambda page: order * page.number):
            club.play(page.name.removeprefix("matches/"), (1, 2) if page.number % 3 else (1, 1))
    numbers = []
    for name in ("antiquity-2p", "antiquity-2p.power=true"):
        fit(club, name)
        with club.database.read() as session:
            numbers.append([(row.bot, row.rating, row.interval, row.blocks) for row in queries.ladder(session, name).rows])
    assert numbers[0] == numbers[1]
    assert audit(club) == []


def test_refit_apart_gives_the_same_tables(club: Any) -> None:
    club.tournament("ada", "bob", "cyd")
    club.play_all()
    assert refit.refit_apart(club.database, LADDER) == 6
    before = ladder(club).rows
    fit(club)
    assert ladder(club).rows == before
    assert audit(club) == []


def test_an_older_fit_never_replaces_a_newer_one(club: Any) -> None:
    club.tournament("ada", "bob")
    club.play(club.due()[0])
    with club.database.read() as session:
        log = refit.read_log(session, LADDER)
    club.play(club.due()[0])
    fit(club)
    newest = ladder(club)
    with club.database.write() as session:
        refit.store(session, LADDER, log, ratings.rate(log.matches, log.anchors))
    assert ladder(club) == newest


def test_matches_of_one_owner_are_not_rated(club: Any) -> None:
    club.bots("eve", "fay", account="ada")
    club.tournament("ada", "eve", "bob")
    assert club.play_all() == 6
    assert fit(club) == 4, "ada against eve, twice, does not count"
    rows = {row.bot: row for row in ladder(club).rows}
    assert rows["bots/ada"].matches == rows["bots/eve"].matches == 2
    assert audit(club) == []


def test_at_a_table_two_seats_of_one_owner_void_its_rating(club: Any) -> None:
    club.bots("eve", account="ada")
    club.tournament("ada", "eve", "bob", "cyd", ruleset="antiquity-3p")
    assert club.play_all() == 12
    assert fit(club, "antiquity-3p") == 6, "two of the four tables have both of ada's bots"


def test_reference_bots_of_the_house_are_rated_among_themselves_and_random_is_pinned(club: Any) -> None:
    club.bots("random", "greedy", account="house")
    club.tournament("random", "greedy", "ada")
    for match in club.due():
        with club.database.read() as session:
            names = [seat.bot for seat in queries.match(session, match).seats]
        club.play(match, (2, 1) if names[0] == "bots/random" else (1, 2))
    assert fit(club) == 6
    rows = {row.bot: row for row in ladder(club).rows}
    assert rows["bots/random"].rating == pytest.approx(1000.0, abs=1e-9)
    assert rows["bots/random"].anchor
    assert not rows["bots/greedy"].anchor
    assert rows["bots/greedy"].rating > 1000


def test_a_bot_called_random_of_another_owner_is_no_anchor(club: Any) -> None:
    club.bots("random", account="mallory")
    club.tournament("random", "ada")
    club.play_all()
    fit(club)
    assert not any(row.anchor for row in ladder(club).rows)
    assert sum(row.rating for row in ladder(club).rows) == pytest.approx(3000.0)


def test_faults_and_scores_are_those_of_rated_matches(club: Any) -> None:
    club.tournament("ada", "bob")
    first, second = club.due()
    club.play(first, (1, 2), [{"seat": 1, "n": 3, "kind": "timeout", "reason": "late"}])
    club.play(second, (1, 1))
    fit(club)
    rows = {row.bot: row for row in ladder(club).rows}
    assert (rows["bots/ada"].faults, rows["bots/bob"].faults) == (0, 1)
    assert (rows["bots/ada"].score, rows["bots/bob"].score) == (0.75, 0.25)
    assert rows["bots/ada"].blocks == 1


def test_the_ladder_shows_the_newest_rated_version_of_each_bot(club: Any) -> None:
    club.tournament("ada", "bob", name="one")
    club.play_all()
    with club.database.write() as session:
        bots.create_version(session, bots.get_bot(session, "ada"))
    club.tournament("ada@2", "bob", name="two")
    club.play_all()
    fit(club)
    shown = {row.bot_version for row in ladder(club).rows}
    assert shown == {"bots/ada/versions/2", "bots/bob/versions/1"}
    assert len(ladder(club, every_version=True).rows) == 3


@pytest.mark.parametrize(
    ("table", "values", "told"),
    [
        ("rating", {"rating": 1234.5}, "rating of version"),
        ("rating_event", {"places": [2, 1]}, "rating event of"),
        ("rating_event", {"block": "9/9"}, "rating event of"),
        ("ladder", {"events": 77}, "77 events counted"),
        ("tournament", {"state": "running"}, "tournament spring: running"),
        ("match", {"fence": 9}, "fence 9, result of 1"),
        ("attempt", {"outcome": "void"}, "attempt void"),
        ("result", {"places": [1, 1]}, "rating event of"),
    ],
)
def test_the_audit_sees_every_tampering(club: Any, table: str, values: dict[str, Any], told: str) -> None:
    club.tournament("ada", "bob")
    club.play_all()
    fit(club)
    assert audit(club) == []
    with club.database.write() as session:
        session.execute(update(TABLES[table]).values(values))
    assert any(told in line for line in audit(club))


def test_the_audit_misses_no_lost_event(club: Any) -> None:
    club.tournament("ada", "bob")
    club.play_all()
    with club.database.write() as session:
        one = session.execute(select(TABLES["rating_event"].c.match_id).limit(1)).scalar_one()
        session.execute(TABLES["rating_event"].delete().where(TABLES["rating_event"].c.match_id == one))
    assert any(f"rating event of {one}: None in place of" in line for line in audit(club))


def test_an_owner_cannot_be_hidden_behind_a_version(club: Any) -> None:
    """Two versions of one bot never rate each other."""
    with club.database.write() as session:
        bots.create_version(session, bots.get_bot(session, "ada"))
        assert accounts.get_account(session, "ada").name == "ada"
    club.tournament("ada@1", "ada@2", "bob")
    club.play_all()
    assert fit(club) == 4
