"""BotService: bots, versions, and where they play."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import grpc
import pytest

from hippodrome.engine import tickets
from hippodrome.ladder.settings import Settings
from hippodrome.v1 import bot_service_pb2 as v1


@pytest.fixture
def node() -> Iterator[str]:
    """An address where something takes connections."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def dead() -> str:
    """An address where nothing does."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    return f"127.0.0.1:{port}"


async def test_a_bot_is_registered_with_its_first_version_and_found_by_anybody(api: Any) -> None:
    made = await api.call(api.bots.CreateBot, v1.CreateBotRequest(bot_id="quokka", description="small"), by="ada")
    assert (made.bot.name, made.bot.account, made.bot.description) == ("bots/quokka", "accounts/ada", "small")
    assert [version.name for version in made.bot.versions] == ["bots/quokka/versions/1"]
    for name in ("quokka", "bots/quokka"):
        assert (await api.call(api.bots.GetBot, v1.GetBotRequest(name=name))).bot == made.bot


async def test_an_unknown_bot_is_not_found_and_the_nearest_is_named(api: Any) -> None:
    await api.call(api.bots.CreateBot, v1.CreateBotRequest(bot_id="quokka"), by="ada")
    refused = await api.refused(api.bots.GetBot, v1.GetBotRequest(name="bots/quoka"))
    assert (refused.code, refused.reason, refused.field) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND", "name")
    assert "did you mean 'quokka'?" in refused.message
    assert refused.info.metadata["legal"].split("\n") == ["quokka"]


async def test_only_its_owner_or_an_administrator_adds_a_version(api: Any) -> None:
    await api.call(api.bots.CreateBot, v1.CreateBotRequest(bot_id="quokka"), by="ada")
    asked = v1.CreateBotVersionRequest(bot="bots/quokka", description="faster")
    refused = await api.refused(api.bots.CreateBotVersion, asked, by="bob")
    assert (refused.code, refused.field) == (grpc.StatusCode.PERMISSION_DENIED, "bot")
    assert (await api.call(api.bots.CreateBotVersion, asked, by="ada")).version.name == "bots/quokka/versions/2"
    assert (await api.call(api.bots.CreateBotVersion, asked, by="root")).version.name == "bots/quokka/versions/3"


async def test_a_repeated_request_makes_one_bot_and_one_version(api: Any) -> None:
    asked = v1.CreateBotRequest(bot_id="quokka", request_id="r-1")
    assert await api.call(api.bots.CreateBot, asked, by="ada") == await api.call(api.bots.CreateBot, asked, by="ada")
    more = v1.CreateBotVersionRequest(bot="quokka", request_id="r-2")
    first, again = [await api.call(api.bots.CreateBotVersion, more, by="ada") for _ in range(2)]
    assert first == again
    mixed = await api.refused(api.bots.CreateBot, v1.CreateBotRequest(bot_id="other", request_id="r-2"), by="ada")
    assert (mixed.code, mixed.field) == (grpc.StatusCode.INVALID_ARGUMENT, "request_id")


async def test_the_same_request_told_eight_times_at_once_makes_one_bot(api: Any) -> None:
    asked = v1.CreateBotRequest(bot_id="quokka", request_id="r-1")
    answers = await asyncio.gather(*(api.call(api.bots.CreateBot, asked, by="ada") for _ in range(8)))
    assert all(answer == answers[0] for answer in answers)
    assert len((await api.call(api.bots.ListBots, v1.ListBotsRequest())).bots) == 1


async def test_bots_are_listed_by_name_in_pages(api: Any) -> None:
    for name in ("dingo", "ape", "cat", "bat"):
        await api.call(api.bots.CreateBot, v1.CreateBotRequest(bot_id=name), by="ada")
    first = await api.call(api.bots.ListBots, v1.ListBotsRequest(page_size=3))
    rest = await api.call(api.bots.ListBots, v1.ListBotsRequest(page_size=3, page_token=first.next_page_token))
    assert [bot.name for bot in first.bots] == ["bots/ape", "bots/bat", "bots/cat"]
    assert [bot.name for bot in rest.bots] == ["bots/dingo"]
    assert rest.next_page_token == ""


async def test_a_session_gives_the_address_of_a_node_and_a_ticket_it_accepts(api: Any, settings: Settings, node: str) -> None:
    await api.call(api.bots.CreateBot, v1.CreateBotRequest(bot_id="quokka"), by="ada")
    await api.call(api.bots.CreateBotVersion, v1.CreateBotVersionRequest(bot="quokka"), by="ada")
    _use(api, node)
    for text, version in (("quokka", 2), ("quokka@1", 1), ("bots/quokka/versions/2", 2)):
        place = await api.call(api.bots.CreateBotSession, v1.CreateBotSessionRequest(bot=text), by="ada")
        assert (place.address, place.bot_version) == (node, f"bots/quokka/versions/{version}")
        ticket = tickets.check(settings.secret, place.ticket, time.time())
        assert (ticket.bot, ticket.version) == ("quokka", place.bot_version)
    with pytest.raises(ValueError, match="expired"):
        tickets.check(settings.secret, place.ticket, time.time() + 86_400)


async def test_a_session_is_for_the_owner_or_an_administrator(api: Any, node: str) -> None:
    await api.call(api.bots.CreateBot, v1.CreateBotRequest(bot_id="quokka"), by="ada")
    _use(api, node)
    asked = v1.CreateBotSessionRequest(bot="quokka")
    assert (await api.refused(api.bots.CreateBotSession, asked)).code is grpc.StatusCode.UNAUTHENTICATED
    refused = await api.refused(api.bots.CreateBotSession, asked, by="bob")
    assert (refused.code, refused.field) == (grpc.StatusCode.PERMISSION_DENIED, "bot")
    await api.call(api.bots.CreateBotSession, asked, by="root")


async def test_without_a_node_the_session_says_try_later(api: Any, dead: str) -> None:
    await api.call(api.bots.CreateBot, v1.CreateBotRequest(bot_id="quokka"), by="ada")
    for engines in ((), (dead,)):
        _use(api, *engines)
        refused = await api.refused(api.bots.CreateBotSession, v1.CreateBotSessionRequest(bot="quokka"), by="ada")
        assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "ENGINE_UNAVAILABLE")
        assert "hippodrome up" in refused.message


@pytest.mark.parametrize("follows", [False, True])
async def test_bots_are_sent_to_a_node_that_lives(api: Any, dead: str, node: str, follows: bool) -> None:
    await api.call(api.bots.CreateBot, v1.CreateBotRequest(bot_id="quokka"), by="ada")
    _use(api, dead, node)
    for _ in range(5):
        asked = v1.CreateBotSessionRequest(bot="quokka", follows_invitations=follows)
        assert (await api.call(api.bots.CreateBotSession, asked, by="ada")).address == node


async def test_bots_that_follow_invitations_are_spread_and_others_meet_at_the_first_node(api: Any) -> None:
    await api.call(api.bots.CreateBot, v1.CreateBotRequest(bot_id="quokka"), by="ada")
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        nodes = [f"127.0.0.1:{one.getsockname()[1]}" for one in (first, second)]
        _use(api, *nodes)

        async def sent_to(follows: bool) -> str:
            asked = v1.CreateBotSessionRequest(bot="quokka", follows_invitations=follows)
            return str((await api.call(api.bots.CreateBotSession, asked, by="ada")).address)

        assert {await sent_to(follows=False) for _ in range(5)} == {nodes[0]}
        assert {await sent_to(follows=True) for _ in range(40)} == set(nodes)


async def test_the_nodes_of_the_service_on_this_home_are_known(api: Any, settings: Settings, node: str) -> None:
    await api.call(api.bots.CreateBot, v1.CreateBotRequest(bot_id="quokka"), by="ada")
    told = settings.home / "run" / "server.json"
    told.parent.mkdir(parents=True)
    told.write_text(f'{{"engines": ["{node}"]}}')
    place = await api.call(api.bots.CreateBotSession, v1.CreateBotSessionRequest(bot="quokka"), by="ada")
    assert place.address == node


def _use(api: Any, *engines: str) -> None:
    """The server's settings with these engine nodes."""
    api.server.hub.settings = replace(api.settings, engine_addresses=engines or None)
