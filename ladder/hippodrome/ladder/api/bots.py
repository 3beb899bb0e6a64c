"""BotService: bots, their versions, and where they play."""

from __future__ import annotations

import time
from typing import Final

from sqlmodel import Session

from hippodrome.engine import tickets
from hippodrome.ladder import bots, convert, ids, queries
from hippodrome.ladder.api import engines
from hippodrome.ladder.api.calls import Call, Context, Hub
from hippodrome.ladder.api.errors import NotAllowed
from hippodrome.ladder.models import Account, Bot
from hippodrome.v1 import bot_service_pb2 as v1
from hippodrome.v1.bot_service_pb2_grpc import BotServiceServicer

TICKET_SECONDS: Final = 600
"""How long a ticket opens a session."""


class Bots(BotServiceServicer):
    """Serves BotService."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub

    async def CreateBot(self, request: v1.CreateBotRequest, context: Context) -> v1.CreateBotResponse:
        return await self.hub.write(context, create_bot, request)

    async def GetBot(self, request: v1.GetBotRequest, context: Context) -> v1.GetBotResponse:
        return await self.hub.read(context, get_bot, request)

    async def ListBots(self, request: v1.ListBotsRequest, context: Context) -> v1.ListBotsResponse:
        return await self.hub.read(context, list_bots, request)

    async def CreateBotVersion(self, request: v1.CreateBotVersionRequest, context: Context) -> v1.CreateBotVersionResponse:
        return await self.hub.write(context, create_bot_version, request)

    async def CreateBotSession(self, request: v1.CreateBotSessionRequest, context: Context) -> v1.CreateBotSessionResponse:
        return await self.hub.read(context, create_bot_session, request)


def create_bot(call: Call, request: v1.CreateBotRequest) -> v1.CreateBotResponse:
    """A bot of the caller's account, with its first version."""
    bot = bots.create_bot(
        call.session,
        account=call.owner(),
        name=request.bot_id,
        description=request.description,
        request_id=request.request_id,
    )
    return v1.CreateBotResponse(bot=convert.bot_message(queries.bot(call.session, bot.name)))


def get_bot(call: Call, request: v1.GetBotRequest) -> v1.GetBotResponse:
    """One bot with its versions and ratings."""
    return v1.GetBotResponse(bot=convert.bot_message(queries.bot(call.session, request.name)))


def list_bots(call: Call, request: v1.ListBotsRequest) -> v1.ListBotsResponse:
    """A page of all bots, by name."""
    page = queries.list_bots(call.session, request.page_size, request.page_token)
    return v1.ListBotsResponse(bots=map(convert.bot_message, page.items), next_page_token=page.next_page_token)


def create_bot_version(call: Call, request: v1.CreateBotVersionRequest) -> v1.CreateBotVersionResponse:
    """The next version of a bot of the caller's."""
    caller = call.owner()
    bot = bots.get_bot(call.session, request.bot, field="bot")
    _check_owner(call.session, caller, bot)
    made = bots.create_version(call.session, bot, description=request.description, request_id=request.request_id)
    name = ids.version_name(bot.name, made.number)
    pages = queries.bot(call.session, bot.name).versions
    return v1.CreateBotVersionResponse(version=next(convert.version_message(page) for page in pages if page.name == name))


def create_bot_session(call: Call, request: v1.CreateBotSessionRequest) -> v1.CreateBotSessionResponse:
    """The address of an engine node and a ticket for it."""
    caller = call.owner()
    bot, version = bots.find_version(call.session, request.bot, field="bot")
    _check_owner(call.session, caller, bot)
    name = ids.version_name(bot.name, version.number)
    ticket = tickets.Ticket(bot.name, name, int(time.time()) + TICKET_SECONDS)
    address = engines.choose(call.settings, request.follows_invitations)
    return v1.CreateBotSessionResponse(address=address, ticket=tickets.issue(call.settings.secret, ticket), bot_version=name)


def _check_owner(session: Session, caller: Account, bot: Bot) -> None:
    if bot.account_id != caller.id and not caller.admin:
        owner = session.get_one(Account, bot.account_id)
        raise NotAllowed("bot", f"bots/{bot.name} belongs to accounts/{owner.name}", "use a token of that account")
