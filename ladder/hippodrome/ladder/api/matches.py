"""MatchService: reads matches. The record, and the seed in it, are given out when no match of the block is open any more."""

from __future__ import annotations

from hippodrome.ladder import convert, queries
from hippodrome.ladder.api.calls import Call, Context, Hub
from hippodrome.v1 import match_service_pb2 as v1
from hippodrome.v1.match_service_pb2_grpc import MatchServiceServicer


class Matches(MatchServiceServicer):
    """Serves MatchService."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub

    async def GetMatch(self, request: v1.GetMatchRequest, context: Context) -> v1.GetMatchResponse:
        return await self.hub.read(context, get_match, request)

    async def ListMatches(self, request: v1.ListMatchesRequest, context: Context) -> v1.ListMatchesResponse:
        return await self.hub.read(context, list_matches, request)

    async def GetMatchRecord(self, request: v1.GetMatchRecordRequest, context: Context) -> v1.GetMatchRecordResponse:
        return await self.hub.read(context, get_match_record, request)


def get_match(call: Call, request: v1.GetMatchRequest) -> v1.GetMatchResponse:
    """One match."""
    return v1.GetMatchResponse(match=convert.match_message(queries.match(call.session, request.name)))


def list_matches(call: Call, request: v1.ListMatchesRequest) -> v1.ListMatchesResponse:
    """A page of matches, newest planned first, of a tournament or with a bot if asked."""
    page = queries.list_matches(
        call.session,
        tournament=request.tournament,
        bot=request.bot,
        page_size=request.page_size,
        page_token=request.page_token,
    )
    return v1.ListMatchesResponse(matches=map(convert.match_message, page.items), next_page_token=page.next_page_token)


def get_match_record(call: Call, request: v1.GetMatchRecordRequest) -> v1.GetMatchRecordResponse:
    """The record of a published match."""
    return v1.GetMatchRecordResponse(record=queries.record_text(call.session, request.name).encode("utf-8"))
