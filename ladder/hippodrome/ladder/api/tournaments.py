"""TournamentService: creates, watches and cancels tournaments."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from hippodrome.ladder import convert, queries, tournaments
from hippodrome.ladder.api.calls import Call, Context, Hub, abort
from hippodrome.ladder.api.errors import NotAllowed
from hippodrome.v1 import tournament_service_pb2 as v1
from hippodrome.v1.tournament_service_pb2_grpc import TournamentServiceServicer

WATCH_SECONDS: Final = 0.5
"""How often a watched tournament is looked at."""
_RUNNING: Final = v1.Tournament.STATE_RUNNING


class Tournaments(TournamentServiceServicer):
    """Serves TournamentService."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub

    async def CreateTournament(self, request: v1.CreateTournamentRequest, context: Context) -> v1.CreateTournamentResponse:
        return await self.hub.write(context, create_tournament, request)

    async def GetTournament(self, request: v1.GetTournamentRequest, context: Context) -> v1.GetTournamentResponse:
        return await self.hub.read(context, get_tournament, request)

    async def ListTournaments(self, request: v1.ListTournamentsRequest, context: Context) -> v1.ListTournamentsResponse:
        return await self.hub.read(context, list_tournaments, request)

    async def WatchTournament(
        self, request: v1.WatchTournamentRequest, context: Context
    ) -> AsyncIterator[v1.WatchTournamentResponse]:
        """Sends the tournament at once, then whenever it has changed; ends when it is over or the server closes."""
        last = None
        while not self.hub.closing.is_set():
            try:
                now = await self.hub.in_thread(self.hub.reading, watch_tournament, request)
            except Exception as error:
                await abort(context, error)
            if now != last:
                yield now
                last = now
            if now.tournament.state != _RUNNING:
                return
            await self.hub.pause(WATCH_SECONDS)

    async def CancelTournament(self, request: v1.CancelTournamentRequest, context: Context) -> v1.CancelTournamentResponse:
        return await self.hub.write(context, cancel_tournament, request)

    async def ResumeTournament(self, request: v1.ResumeTournamentRequest, context: Context) -> v1.ResumeTournamentResponse:
        return await self.hub.write(context, resume_tournament, request)


def create_tournament(call: Call, request: v1.CreateTournamentRequest) -> v1.CreateTournamentResponse:
    """Plan a tournament of the caller's."""
    clock = convert.clock(request.clock) if request.HasField("clock") else tournaments.DEFAULT_CLOCK
    made = tournaments.create_tournament(
        call.session,
        name=request.tournament_id,
        ruleset=request.ruleset,
        entries=request.entries,
        blocks=request.blocks or 1,
        clock=clock,
        policy=request.policy or "forfeit",
        pairing=request.pairing or "round-robin",
        seed=request.seed,
        rated=not request.unrated,
        account=call.owner(),
        request_id=request.request_id,
    )
    return v1.CreateTournamentResponse(tournament=_message(call, made.name))


def get_tournament(call: Call, request: v1.GetTournamentRequest) -> v1.GetTournamentResponse:
    """One tournament with its standings."""
    return v1.GetTournamentResponse(tournament=_message(call, request.name))


def list_tournaments(call: Call, request: v1.ListTournamentsRequest) -> v1.ListTournamentsResponse:
    """A page of all tournaments, newest first."""
    page = queries.list_tournaments(call.session, request.page_size, request.page_token)
    messages = map(convert.tournament_message, page.items)
    return v1.ListTournamentsResponse(tournaments=messages, next_page_token=page.next_page_token)


def watch_tournament(call: Call, request: v1.WatchTournamentRequest) -> v1.WatchTournamentResponse:
    """The tournament now."""
    return v1.WatchTournamentResponse(tournament=_message(call, request.name))


def cancel_tournament(call: Call, request: v1.CancelTournamentRequest) -> v1.CancelTournamentResponse:
    """Stop a tournament of the caller's."""
    _check_owner(call, request.name)
    made = tournaments.cancel(call.session, request.name)
    return v1.CancelTournamentResponse(tournament=_message(call, made.name))


def resume_tournament(call: Call, request: v1.ResumeTournamentRequest) -> v1.ResumeTournamentResponse:
    """Go on with a tournament of the caller's, parked matches included."""
    _check_owner(call, request.name)
    made = tournaments.resume(call.session, request.name)
    return v1.ResumeTournamentResponse(tournament=_message(call, made.name))


def _message(call: Call, name: str) -> v1.Tournament:
    return convert.tournament_message(queries.tournament(call.session, name))


def _check_owner(call: Call, name: str) -> None:
    caller, found = call.owner(), tournaments.get_tournament(call.session, name)
    if found.account_id != caller.id and not caller.admin:
        raise NotAllowed("name", f"tournaments/{found.name} belongs to another account", "use a token of that account")
