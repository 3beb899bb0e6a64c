"""TournamentService, MatchService, LadderService: from the plan to the ladder."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import grpc.aio
import pytest
from google.protobuf.duration_pb2 import Duration

from hippodrome.engine.record import loads
from hippodrome.ladder import accounts, convert, lifecycle, queries, refit
from hippodrome.ladder.db import Database
from hippodrome.v1 import ladder_service_pb2, match_pb2, match_service_pb2
from hippodrome.v1 import tournament_service_pb2 as v1

RUNNING, FINISHED, CANCELLED = v1.Tournament.STATE_RUNNING, v1.Tournament.STATE_FINISHED, v1.Tournament.STATE_CANCELLED


def asked(name: str = "autumn", **more: Any) -> v1.CreateTournamentRequest:
    fields: dict[str, Any] = {"ruleset": "antiquity-2p", "entries": ["ada", "bob"]}
    return v1.CreateTournamentRequest(tournament_id=name, **fields | more)


@pytest.fixture
def secrets(club: Any, database: Database) -> dict[str, str]:
    """The club's bots belong to accounts of their names; `root` is an administrator."""
    with database.write() as session:
        made = {"root": accounts.create_account(session, name="root", admin=True)[1]}
        for name in ("ada", "bob"):
            made[name] = accounts.create_token(session, accounts.get_account(session, name))[1]
    return made


async def test_a_tournament_with_nothing_said_has_the_documented_defaults(api: Any) -> None:
    made = (await api.call(api.tournaments.CreateTournament, asked(name=""), by="ada")).tournament
    assert made.name.startswith("tournaments/t-")
    assert (made.pairing, made.policy, made.blocks, made.rated) == ("round-robin", "forfeit", 1, True)
    assert (made.clock.bank, made.clock.increment) == (Duration(seconds=60), Duration(nanos=100_000_000))
    assert not made.clock.HasField("cap")
    assert (made.state, made.matches_planned, made.matches_done) == (RUNNING, 2, 0)
    assert list(made.entries) == ["bots/ada/versions/1", "bots/bob/versions/1"]


async def test_everything_said_is_used(api: Any) -> None:
    clock = match_pb2.TimeControl(bank=Duration(seconds=5), cap=Duration(seconds=2), startup=Duration(seconds=1))
    request = asked(blocks=3, clock=clock, policy="retry:2", seed="s", unrated=True)
    made = (await api.call(api.tournaments.CreateTournament, request, by="ada")).tournament
    assert (made.name, made.blocks, made.policy, made.rated) == ("tournaments/autumn", 3, "retry:2", False)
    assert (made.clock.bank, made.clock.cap, made.clock.startup) == (clock.bank, clock.cap, clock.startup)
    assert made.matches_planned == 6
    assert (await api.call(api.tournaments.GetTournament, v1.GetTournamentRequest(name="autumn"))).tournament == made


async def test_a_repeated_request_plans_one_tournament(api: Any) -> None:
    request = asked(name="", request_id="r-1")
    answers = await asyncio.gather(*(api.call(api.tournaments.CreateTournament, request, by="ada") for _ in range(4)))
    assert len({answer.tournament.name for answer in answers}) == 1
    assert len((await api.call(api.tournaments.ListTournaments, v1.ListTournamentsRequest())).tournaments) == 1


async def test_tournaments_are_listed_newest_first_in_pages(api: Any) -> None:
    for number in range(3):
        await api.call(api.tournaments.CreateTournament, asked(f"no-{number}"), by="ada")
    first = await api.call(api.tournaments.ListTournaments, v1.ListTournamentsRequest(page_size=2))
    rest = await api.call(api.tournaments.ListTournaments, v1.ListTournamentsRequest(page_token=first.next_page_token))
    names = [tournament.name for tournament in (*first.tournaments, *rest.tournaments)]
    assert names == ["tournaments/no-2", "tournaments/no-1", "tournaments/no-0"]
    assert not any(tournament.standings for tournament in first.tournaments)


async def test_cancel_and_resume_are_for_the_owner_or_an_administrator(api: Any) -> None:
    await api.call(api.tournaments.CreateTournament, asked(), by="ada")
    cancel, resume = v1.CancelTournamentRequest(name="autumn"), v1.ResumeTournamentRequest(name="autumn")
    for method, request in ((api.tournaments.CancelTournament, cancel), (api.tournaments.ResumeTournament, resume)):
        assert (await api.refused(method, request)).code is grpc.StatusCode.UNAUTHENTICATED
        assert (await api.refused(method, request, by="bob")).code is grpc.StatusCode.PERMISSION_DENIED
    assert (await api.call(api.tournaments.CancelTournament, cancel, by="ada")).tournament.state == CANCELLED
    assert (await api.call(api.tournaments.ResumeTournament, resume, by="root")).tournament.state == RUNNING


async def test_resume_tries_parked_matches_again(api: Any, club: Any, database: Database) -> None:
    await api.call(api.tournaments.CreateTournament, asked(), by="ada")
    first, second = club.due()
    club.play(first)
    for _ in range(lifecycle.STRIKES):
        claimed = club.claim(second)
        with database.write() as session:
            lifecycle.void(session, second, claimed.fence, "the engine was killed", now=club.now)
    parked = (await api.call(api.tournaments.GetTournament, v1.GetTournamentRequest(name="autumn"))).tournament
    assert (parked.state, parked.matches_done, parked.matches_parked) == (RUNNING, 1, 1)
    resume = v1.ResumeTournamentRequest(name="autumn")
    told = (await api.call(api.tournaments.ResumeTournament, resume, by="ada")).tournament
    assert (told.state, told.matches_parked) == (RUNNING, 0)
    club.play(second)
    assert (await api.refused(api.tournaments.ResumeTournament, resume, by="ada")).reason == "WRONG_STATE"


async def test_a_finished_tournament_is_not_cancelled(api: Any, club: Any) -> None:
    await api.call(api.tournaments.CreateTournament, asked(), by="ada")
    club.play_all()
    refused = await api.refused(api.tournaments.CancelTournament, v1.CancelTournamentRequest(name="autumn"), by="ada")
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "WRONG_STATE")


async def test_a_watcher_is_told_of_each_change_until_the_end(api: Any, club: Any) -> None:
    await api.call(api.tournaments.CreateTournament, asked(blocks=2), by="ada")
    done: list[int] = []
    async for told in api.tournaments.WatchTournament(v1.WatchTournamentRequest(name="autumn"), timeout=60):
        done.append(told.tournament.matches_done)
        todo = club.due()
        if todo:
            await asyncio.to_thread(club.play, todo[0])
    assert done == sorted(set(done)), "only changes are sent"
    assert (done[0], done[-1]) == (0, 4)
    assert told.tournament.state == FINISHED
    assert told.tournament.HasField("end_time")


async def test_a_watcher_of_nothing_is_told_so_and_one_of_a_closing_server_is_let_go(api: Any) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async for _ in api.tournaments.WatchTournament(v1.WatchTournamentRequest(name="autum"), timeout=20):
            pass
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND
    await api.call(api.tournaments.CreateTournament, asked(), by="ada")
    stream = api.tournaments.WatchTournament(v1.WatchTournamentRequest(name="autumn"), timeout=60)
    assert (await stream.read()).tournament.name == "tournaments/autumn"
    api.server.hub.closing.set()
    assert await stream.read() is grpc.aio.EOF


async def test_the_record_and_the_seed_in_it_are_told_only_after_the_block(api: Any, club: Any, make_record: Any) -> None:
    await api.call(api.tournaments.CreateTournament, asked(seed="quite secret"), by="ada")
    listed = (await api.call(api.matches.ListMatches, match_service_pb2.ListMatchesRequest(tournament="autumn"))).matches
    first = min(listed, key=lambda match: match.number)
    claimed = club.claim(first.name.removeprefix("matches/"))
    for state in (listed[0], (await api.call(api.matches.GetMatch, match_service_pb2.GetMatchRequest(name=first.name))).match):
        assert claimed.spec.seed.hex() not in str(state)
        assert claimed.spec.seed not in state.SerializeToString()
    wanted = match_service_pb2.GetMatchRecordRequest(name=first.name)
    refused = await api.refused(api.matches.GetMatchRecord, wanted, by="root")
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "WRONG_STATE")
    club.finish(first.name.removeprefix("matches/"), claimed.fence, make_record(claimed.spec))
    done = (await api.call(api.matches.GetMatch, match_service_pb2.GetMatchRequest(name=first.name))).match
    assert (done.state, done.ending, done.block_open) == (match_service_pb2.Match.STATE_DONE, "rules", 1)
    assert claimed.spec.seed not in done.SerializeToString()
    refused = await api.refused(api.matches.GetMatchRecord, wanted, by="root")
    assert refused.reason == "WRONG_STATE"
    assert f"{first.name} is done, but 1 match of its block is still to be played; fix: its record is" in refused.message
    club.play_all()
    record = loads((await api.call(api.matches.GetMatchRecord, wanted)).record.decode())
    assert record.closing["seed"] == claimed.spec.seed.hex()
    assert record.header["commitment"] == first.commitment


async def test_a_match_tells_its_state_seats_faults_and_places(api: Any, club: Any) -> None:
    await api.call(api.tournaments.CreateTournament, asked(), by="ada")
    first, second = club.due()
    club.play(first, places=(2, 1), faults=[{"seat": 0, "n": 7, "kind": "timeout", "reason": "slow"}])
    club.claim(second)
    get = api.matches.GetMatch
    done = (await api.call(get, match_service_pb2.GetMatchRequest(name=f"matches/{first}"))).match
    assert (done.state, done.ending, list(done.places)) == (match_service_pb2.Match.STATE_DONE, "timeout", [2, 1])
    assert [(fault.seat, fault.decision, fault.kind) for fault in done.faults] == [(0, 7, "timeout")]
    assert [(seat.bot, seat.bot_version) for seat in done.seats] == [(n, f"bots/{n}/versions/1") for n in ("ada", "bob")]
    running = (await api.call(get, match_service_pb2.GetMatchRequest(name=second))).match
    assert (running.state, running.HasField("end_time")) == (match_service_pb2.Match.STATE_RUNNING, False)
    with_ada = await api.call(api.matches.ListMatches, match_service_pb2.ListMatchesRequest(bot="ada", page_size=1))
    assert len(with_ada.matches) == 1
    assert with_ada.next_page_token


async def test_the_ladder_shows_ratings_with_intervals_after_a_fit(api: Any, club: Any, database: Database) -> None:
    await api.call(api.tournaments.CreateTournament, asked(entries=["ada", "bob", "cyd"], blocks=8), by="ada")
    club.play_all()
    before = await api.call(api.ladders.GetLadder, ladder_service_pb2.GetLadderRequest(name="antiquity-2p"))
    assert (list(before.rows), before.pending) == ([], 48)
    with database.write() as session:
        refit.refit(session, "antiquity-2p")
    ladder = await api.call(api.ladders.GetLadder, ladder_service_pb2.GetLadderRequest(name="antiquity-2p"))
    assert (len(ladder.rows), ladder.matches, ladder.pending) == (3, 48, 0)
    assert all(row.interval > 0 and row.matches == 32 and row.blocks == 16 for row in ladder.rows)
    names = await api.call(api.ladders.ListLadders, ladder_service_pb2.ListLaddersRequest())
    assert list(names.ladders) == ["antiquity-2p"]
    refused = await api.refused(api.ladders.GetLadder, ladder_service_pb2.GetLadderRequest(name="antiquity-3p"))
    assert refused.code is grpc.StatusCode.NOT_FOUND


async def test_what_went_over_the_wire_reads_back_as_the_same_read_model(api: Any, club: Any, database: Database) -> None:
    await api.call(api.tournaments.CreateTournament, asked(entries=["ada", "bob", "cyd"], blocks=4), by="ada")
    todo = club.due()
    for match in todo[:-2]:
        club.play(match)
    club.play(todo[-2], places=(2, 1), faults=[{"seat": 0, "n": 1, "kind": "crash", "reason": "bang"}])
    claimed = club.claim(todo[-1])
    with database.write() as session:
        lifecycle.wait(session, todo[-1], claimed.fence, ["bots/cyd/versions/1"], club.now)
        refit.refit(session, "antiquity-2p")
    with database.read() as session:
        ladder, bot = queries.ladder(session, "antiquity-2p"), queries.bot(session, "ada")
        tournament = queries.tournament(session, "autumn")
        matches = [queries.match(session, match) for match in todo]
    assert any(match.waiting for match in matches)
    assert convert.ladder(convert.ladder_message(ladder)) == ladder
    assert convert.bot(convert.bot_message(bot)) == bot
    assert convert.tournament(convert.tournament_message(tournament)) == tournament
    assert [convert.match(convert.match_message(match)) for match in matches] == matches
