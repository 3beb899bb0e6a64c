"""LadderService: reads ladders."""

from __future__ import annotations

from hippodrome.ladder import convert, queries
from hippodrome.ladder.api.calls import Call, Context, Hub
from hippodrome.v1 import ladder_service_pb2 as v1
from hippodrome.v1.ladder_service_pb2_grpc import LadderServiceServicer


class Ladders(LadderServiceServicer):
    """Serves LadderService."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub

    async def GetLadder(self, request: v1.GetLadderRequest, context: Context) -> v1.GetLadderResponse:
        return await self.hub.read(context, get_ladder, request)

    async def ListLadders(self, request: v1.ListLaddersRequest, context: Context) -> v1.ListLaddersResponse:
        return await self.hub.read(context, list_ladders, request)


def get_ladder(call: Call, request: v1.GetLadderRequest) -> v1.GetLadderResponse:
    """One ladder, best first."""
    return convert.ladder_message(queries.ladder(call.session, request.name, every_version=request.every_version))


def list_ladders(call: Call, request: v1.ListLaddersRequest) -> v1.ListLaddersResponse:
    """A page of the names of all ladders that have a rated match."""
    page = queries.list_ladders(call.session, request.page_size, request.page_token)
    return v1.ListLaddersResponse(ladders=page.items, next_page_token=page.next_page_token)
