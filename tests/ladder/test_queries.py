"""What pages and the API read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hippodrome.engine.chance import commitment
from hippodrome.engine.errors import FieldError
from hippodrome.engine.record import loads
from hippodrome.ladder import bots, lifecycle, paging, queries, refit, tournaments
from hippodrome.ladder.errors import NotFound, WrongState
from hippodrome.ladder.paging import Page


def read(club: Any, query: Callable[..., Any], *args: Any, **options: Any) -> Any:
    with club.database.read() as session:
        return query(session, *args, **options)


def walk(club: Any, query: Callable[..., Page[Any]], size: int, **options: Any) -> list[Any]:
    """All items of a list, page by page."""
    items: list[Any] = []
    token = ""
    while True:
        page = read(club, query, page_size=size, page_token=token, **options)
        assert len(page.items) <= size
        items += page.items
        token = page.next_page_token
        if not token:
            return items


def test_a_tournament_shows_standings_crosstable_and_progress(club: Any) -> None:
    club.tournament("ada", "bob", "cyd", policy="retry:1", clock="5s+1s")
    order = club.due()
    names = {match: [seat.bot for seat in read(club, queries.match, match).seats] for match in order}
    for match in order[:5]:
        club.play(match, (2, 1) if names[match][1] == "bots/cyd" else (1, 2))
    club.claim(order[5])
    page = read(club, queries.tournament, "tournaments/spring")
    assert (page.name, page.ruleset, page.pairing, page.blocks) == ("tournaments/spring", "antiquity-2p", "round-robin", 1)
    assert (page.clock, page.policy, page.state, page.rated) == ("5s+1s", "retry:1", "running", True)
    assert page.account == "accounts/organiser"
    assert page.entries == ("bots/ada/versions/1", "bots/bob/versions/1", "bots/cyd/versions/1")
    assert (page.matches_planned, page.matches_done, page.matches_running, page.matches_parked) == (6, 5, 1, 0)
    assert page.end_time is None
    assert sum(standing.points for standing in page.standings) == 5
    for standing in page.standings:
        own = page.entries.index(standing.bot_version)
        assert standing.meetings[own] == 0
        assert sum(standing.against) == standing.points
        assert sum(standing.meetings) == standing.matches
    assert [standing.place for standing in page.standings] == sorted(standing.place for standing in page.standings)


def test_lists_of_tournaments_are_newest_first_and_light(club: Any) -> None:
    for name in ("one", "two", "three"):
        club.tournament("ada", "bob", name=name)
    with club.database.write() as session:
        tournaments.cancel(session, "two")
    found = walk(club, queries.list_tournaments, 2)
    assert [page.name for page in found] == ["tournaments/three", "tournaments/two", "tournaments/one"]
    assert all(page.standings == () for page in found)
    assert [page.name for page in read(club, queries.list_tournaments, state="cancelled").items] == ["tournaments/two"]


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_pages_of_matches_give_each_match_once_newest_planned_first(club: Any, size: int) -> None:
    club.tournament("ada", "bob", "cyd", name="one")
    club.tournament("ada", "bob", name="two")
    found = walk(club, queries.list_matches, size)
    assert [(page.tournament, page.number) for page in found] == [
        *(("tournaments/two", number) for number in (1, 0)),
        *(("tournaments/one", number) for number in (5, 4, 3, 2, 1, 0)),
    ]


def test_matches_are_found_by_tournament_bot_and_state(club: Any) -> None:
    club.tournament("ada", "bob", "cyd", name="one")
    club.tournament("ada", "bob", name="two")
    first = club.due()[0]
    club.play(first)
    assert len(walk(club, queries.list_matches, 3, tournament="one")) == 6
    assert len(walk(club, queries.list_matches, 3, bot="bots/cyd")) == 4
    assert [page.name for page in walk(club, queries.list_matches, 3, state="done")] == [f"matches/{first}"]
    assert len(walk(club, queries.list_matches, 3, tournament="tournaments/one", bot="ada", state="pending")) in (3, 4)
    for wrong in ({"state": "leased"}, {"bot": "bobb"}, {"tournament": "thee"}):
        with pytest.raises(FieldError, match=f"^{next(iter(wrong))}: "):
            read(club, queries.list_matches, **wrong)


def test_a_running_match_shows_its_progress_but_neither_seed_nor_record(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    claim = club.claim(match)
    page = read(club, queries.match, f"matches/{match}")
    assert (page.state, page.ending, page.places, page.scores, page.end_time) == ("running", "", (), (), None)
    assert page.commitment == commitment(claim.spec.seed)
    assert claim.spec.seed.hex() not in repr(page)
    with pytest.raises(WrongState, match=f"matches/{match} is running; fix: its record is there when it is done"):
        read(club, queries.record_text, match)


def test_a_finished_match_shows_how_it_ended_and_gives_its_record(club: Any) -> None:
    club.tournament("ada", "bob")
    match = club.due()[0]
    fault = {"seat": 1, "n": 7, "kind": "timeout", "reason": "answered late"}
    club.play(match, (1, 2), [fault])
    page = read(club, queries.match, match)
    assert (page.state, page.ending, page.reason, page.places, page.scores) == ("done", "timeout", "so it went", (1, 2), ())
    assert page.faults == (fault,)
    club.play_all()
    record = loads(read(club, queries.record_text, match))
    assert record.header["match"] == page.name
    assert commitment(bytes.fromhex(record.closing["seed"])) == page.commitment


def test_a_record_is_published_with_the_last_match_of_its_block(club: Any) -> None:
    club.tournament("ada", "bob", "cyd", ruleset="antiquity-3p", blocks=2)
    first, second, third, *other_block = club.due()
    for match, still in ((first, "2 matches of its block are"), (second, "1 match of its block is")):
        club.play(match)
        page = read(club, queries.match, match)
        assert (page.state, page.ending, page.places, page.published) == ("done", "rules", (1, 2, 3), False)
        assert page.end_time is not None
        wanted = f"matches/{match} is done, but {still} still to be played; fix: its record is published with its block"
        with pytest.raises(WrongState, match=wanted):
            read(club, queries.record_text, match)
    club.claim(third)
    assert read(club, queries.match, first).block_open == 1, "one that is being played is open"
    club.play(other_block[0])
    assert [read(club, queries.match, match).block_open for match in (third, other_block[0])] == [1, 2]
    club.later(16)
    club.play(third)
    for match in (first, second, third):
        page = read(club, queries.match, match)
        assert (page.published, page.block_open, page.block_waits) == (True, 0, "")
        assert loads(read(club, queries.record_text, match)).header["match"] == page.name
    assert not read(club, queries.match, other_block[0]).published


def test_a_list_of_matches_counts_the_open_ones_of_each_block_and_tournament(club: Any) -> None:
    club.tournament("ada", "bob", "cyd", name="one")
    club.tournament("ada", "bob", "cyd", name="two")
    club.play(club.due()[0])
    listed = walk(club, queries.list_matches, 100)
    found = {(page.tournament, page.number): page.block_open for page in listed}
    assert found.pop(("tournaments/one", 0)) == found.pop(("tournaments/one", 1)) == 1
    assert set(found.values()) == {2}


def test_parked_and_cancelled_matches_keep_no_record_back(club: Any) -> None:
    club.tournament("ada", "bob", "cyd")
    first, parked, second, *_ = club.due()
    club.play(first)
    club.play(second)
    for _ in range(lifecycle.STRIKES):
        claim = club.claim(parked)
        with club.database.write() as session:
            lifecycle.void(session, parked, claim.fence, "the engine was killed", now=club.now)
    assert read(club, queries.match, first).published
    assert not read(club, queries.match, second).published
    with club.database.write() as session:
        tournaments.cancel(session, "spring")
    assert read(club, queries.match, second).published
    with club.database.write() as session:
        tournaments.resume(session, "spring")
    assert not read(club, queries.match, second).published, "its other match will be played after all"


@pytest.mark.parametrize("name", ["m1111111111", "matches/m1111111111"])
def test_an_unknown_match_is_not_found(club: Any, name: str) -> None:
    with pytest.raises(NotFound, match="no match m1111111111"):
        read(club, queries.match, name)
    with pytest.raises(NotFound, match="no match m1111111111"):
        read(club, queries.record_text, name)


def test_the_last_matches_are_those_that_ended_last(club: Any) -> None:
    club.tournament("ada", "bob", "cyd")
    played = []
    for match in club.due()[3:0:-1]:
        club.later(1)
        club.play(match)
        played.append(f"matches/{match}")
    assert [page.name for page in read(club, queries.last_matches, limit=2)] == played[:-3:-1]
    with_cyd = read(club, queries.last_matches, "cyd")
    assert with_cyd
    assert all(any(seat.bot == "bots/cyd" for seat in page.seats) for page in with_cyd)


def test_head_to_head_counts_meetings_by_ladder_and_opponent_over_all_versions(club: Any) -> None:
    club.tournament("ada", "bob", "cyd", name="one")
    club.play_all()
    with club.database.write() as session:
        bots.create_version(session, bots.get_bot(session, "ada"))
    club.tournament("ada", "bob", name="two")
    club.play_all()
    club.tournament("ada", "bob", "cyd", ruleset="antiquity-3p", name="three")
    for match in club.due():
        club.play(match, (1, 1, 3))
    rows = {(row.ladder, row.opponent): row for row in read(club, queries.head_to_head, "bots/ada")}
    assert rows.keys() == {(a, b) for a in ("antiquity-2p", "antiquity-3p") for b in ("bots/bob", "bots/cyd")}
    duel = rows["antiquity-2p", "bots/bob"]
    assert (duel.meetings, duel.wins, duel.ties, duel.losses, duel.score) == (4, 2, 0, 2, 0.5)
    table = rows["antiquity-3p", "bots/bob"]
    assert (table.meetings, table.ties) == (3, 1)
    mirrored = {(row.ladder, row.opponent): row for row in read(club, queries.head_to_head, "bob")}
    assert mirrored["antiquity-3p", "bots/ada"].wins == table.losses


def test_a_bot_shows_its_versions_and_their_ratings(club: Any) -> None:
    club.tournament("ada", "bob")
    club.play_all()
    with club.database.write() as session:
        refit.refit(session, "antiquity-2p")
        bots.create_version(session, bots.get_bot(session, "ada"), description="faster")
    page = read(club, queries.bot, "ada")
    assert (page.name, page.account) == ("bots/ada", "accounts/ada")
    assert [(version.name, version.description) for version in page.versions] == [
        ("bots/ada/versions/1", ""),
        ("bots/ada/versions/2", "faster"),
    ]
    assert [rating.ladder for rating in page.versions[0].ratings] == ["antiquity-2p"]
    assert page.versions[0].ratings[0].provisional
    assert page.versions[1].ratings == ()


def test_bots_and_ladders_are_listed_by_name(club: Any) -> None:
    assert [page.name for page in walk(club, queries.list_bots, 3)] == ["bots/ada", "bots/bob", "bots/cyd", "bots/dan"]
    for ruleset in ("antiquity-3p", "antiquity-2p"):
        club.tournament("ada", "bob", "cyd", ruleset=ruleset, name=ruleset)
    assert walk(club, queries.list_ladders, 1) == [], "a ladder without a result is not shown"
    club.play_all()
    assert walk(club, queries.list_ladders, 1) == ["antiquity-2p", "antiquity-3p"]


def test_a_ladder_has_ranks_for_the_settled_and_none_for_the_provisional(club: Any) -> None:
    club.tournament("ada", "bob", blocks=25, name="long")
    club.tournament("cyd", "dan", blocks=2, name="short")
    for match in club.due():
        page = read(club, queries.match, match)
        strong = page.seats[0].bot in ("bots/ada", "bots/cyd")
        even = page.block % 3 == 0
        club.play(match, (1, 1) if even else (1, 2) if strong else (2, 1))
    with club.database.write() as session:
        refit.refit(session, "antiquity-2p")
    page = read(club, queries.ladder, "antiquity-2p")
    assert page.matches == 54
    assert page.pending == 0
    assert page.fit_time is not None
    assert [(row.bot, row.rank, row.provisional) for row in page.rows] == [
        ("bots/ada", 1, False),
        ("bots/bob", 2, False),
        ("bots/cyd", None, True),
        ("bots/dan", None, True),
    ]
    assert (page.rows[0].rank_best, page.rows[0].rank_worst) == (1, 1)
    assert page.rows[2].rank_best is None


def test_an_unknown_ladder_gets_the_nearest(club: Any) -> None:
    club.tournament("ada", "bob")
    with pytest.raises(NotFound, match="no ladder 'antiquity-2'; fix: did you mean 'antiquity-2p'"):
        read(club, queries.ladder, "antiquity-2")


TOKENS = ["x", "!!!", "WyJib3RzIiwxXQ", "WyJtYXRjaGVzIiwxLDEwXQ", "e30", "4pyT", "W10", "é", "=" * 9, "A" * 5000]
HUGE = paging.write_token("tournaments", [10**30])


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_of_another_list_or_none_at_all_names_the_field(club: Any, token: str) -> None:
    with pytest.raises(FieldError, match=r"^page_token: .*; fix: give next_page_token"):
        read(club, queries.list_bots, page_token=token)


def test_a_token_with_a_number_beyond_all_keys_is_refused(club: Any) -> None:
    with pytest.raises(FieldError, match=r"^page_token: "):
        read(club, queries.list_tournaments, page_token=HUGE)
    with pytest.raises(FieldError, match=r"^page_token: "):
        read(club, queries.list_bots, page_token=paging.write_token("bots", ["a\x00"]))


@pytest.mark.parametrize("name", ["", "a\x00b", "\ud800", "x" * 5000, "é", "antiquity-2p\n"])
def test_odd_names_are_not_found_and_nothing_worse(club: Any, name: str) -> None:
    for query in (queries.ladder, queries.bot, queries.tournament, queries.match, queries.attempts, queries.head_to_head):
        with pytest.raises(FieldError):
            read(club, query, name)


def test_page_sizes_have_a_default_and_a_limit() -> None:
    assert [paging.page_size(size) for size in (0, 1, 1000, 10**9)] == [50, 1, 1000, 1000]
    with pytest.raises(FieldError, match=r"^page_size: -1 is negative"):
        paging.page_size(-1)
