"""The server itself: every RPC is served, bad input is told by field, nothing that a caller does takes it down."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from sqlalchemy import text

from hippodrome.engine.errors import FieldError
from hippodrome.engine.reasons import REASONS
from hippodrome.ladder.api import errors
from hippodrome.ladder.api.server import SERVICES, serve
from hippodrome.ladder.db import Database
from hippodrome.ladder.settings import Settings
from hippodrome.v1 import (
    account_service_pb2,
    bot_service_pb2,
    ladder_service_pb2,
    match_pb2,
    match_service_pb2,
    tournament_service_pb2,
)

FILES = (account_service_pb2, bot_service_pb2, tournament_service_pb2, ladder_service_pb2, match_service_pb2)
ANYBODY = {
    *("GetBot", "ListBots", "GetTournament", "ListTournaments", "WatchTournament"),
    *("GetLadder", "ListLadders", "GetMatch", "ListMatches", "GetMatchRecord"),
}
"""The RPCs that need no token."""


def every_rpc() -> Iterator[MethodDescriptor]:
    for file in FILES:
        for service in file.DESCRIPTOR.services_by_name.values():
            yield from service.methods


def test_the_server_serves_exactly_the_services_for_people() -> None:
    assert {rpc.containing_service.full_name for rpc in every_rpc()} == set(SERVICES)


async def test_every_rpc_is_served_and_those_that_write_want_a_token(api: Any) -> None:
    for rpc in every_rpc():
        code = await _code(api, rpc)
        assert code is not grpc.StatusCode.UNIMPLEMENTED, rpc.full_name
        wanted = rpc.name not in ANYBODY
        assert (code is grpc.StatusCode.UNAUTHENTICATED) == wanted, (rpc.full_name, code)


async def _code(api: Any, rpc: MethodDescriptor) -> grpc.StatusCode:
    """The status of the RPC called with an empty request."""
    path, kind = f"/{rpc.containing_service.full_name}/{rpc.name}", GetMessageClass(rpc.output_type)
    request = GetMessageClass(rpc.input_type)().SerializeToString()
    multi = api.channel.unary_stream if rpc.server_streaming else api.channel.unary_unary
    call = multi(path, request_serializer=bytes, response_deserializer=kind.FromString)(request, timeout=20)
    code: grpc.StatusCode = await call.code()
    return code


CLOCK = match_pb2.TimeControl
WRONG: list[tuple[str, str, Any, str, str]] = [
    ("bots", "CreateBot", bot_service_pb2.CreateBotRequest(bot_id=""), "bot_id", "lower-case"),
    ("bots", "CreateBot", bot_service_pb2.CreateBotRequest(bot_id="Quokka"), "bot_id", "'Quokka'"),
    ("bots", "CreateBot", bot_service_pb2.CreateBotRequest(bot_id="q" * 41), "bot_id", "2 to 40"),
    ("bots", "CreateBot", bot_service_pb2.CreateBotRequest(bot_id="ok", request_id="r" * 300), "request_id", "at most 200"),
    ("bots", "CreateBot", bot_service_pb2.CreateBotRequest(bot_id="ok", description="d" * 3000), "description", "2000"),
    ("bots", "CreateBotVersion", bot_service_pb2.CreateBotVersionRequest(bot="nobody"), "bot", "no bot 'nobody'"),
    ("bots", "CreateBotSession", bot_service_pb2.CreateBotSessionRequest(bot="a/b/c"), "bot", "quokka@3"),
    ("bots", "CreateBotSession", bot_service_pb2.CreateBotSessionRequest(bot="quokka@9"), "bot", "no version 9"),
    ("bots", "GetBot", bot_service_pb2.GetBotRequest(name="tournaments/x"), "name", "bots/NAME"),
    ("bots", "ListBots", bot_service_pb2.ListBotsRequest(page_size=-1), "page_size", "negative"),
    ("bots", "ListBots", bot_service_pb2.ListBotsRequest(page_token="x"), "page_token", "next_page_token"),
    ("bots", "ListBots", bot_service_pb2.ListBotsRequest(page_token="é\0"), "page_token", "next_page_token"),
    ("accounts", "CreateAccount", account_service_pb2.CreateAccountRequest(account_id="1x"), "account_id", "letter"),
    ("accounts", "CreateToken", account_service_pb2.CreateTokenRequest(label="x" * 500), "label", "200"),
    ("accounts", "CreateToken", account_service_pb2.CreateTokenRequest(account="accounts/nobody"), "account", "nobody"),
    ("accounts", "RevokeToken", account_service_pb2.RevokeTokenRequest(name="tokens/4"), "name", "accounts/ada/tokens/4"),
    ("accounts", "RevokeToken", account_service_pb2.RevokeTokenRequest(name="accounts/root/tokens/" + "9" * 30), "name", ""),
    ("accounts", "ListAccounts", account_service_pb2.ListAccountsRequest(page_size=-5), "page_size", "negative"),
    ("tournaments", "CreateTournament", {"tournament_id": "A B"}, "tournament_id", "lower-case"),
    ("tournaments", "CreateTournament", {"ruleset": "antiqity-2p"}, "game", "did you mean 'antiquity'?"),
    ("tournaments", "CreateTournament", {"ruleset": ""}, "game", "antiquity"),
    ("tournaments", "CreateTournament", {"ruleset": "antiquity-9p"}, "players", "2, 3, 4"),
    ("tournaments", "CreateTournament", {"ruleset": "antiquity-2p.powr=true"}, "options", "did you mean 'power'?"),
    ("tournaments", "CreateTournament", {"entries": []}, "entries", ""),
    ("tournaments", "CreateTournament", {"entries": ["quokka"]}, "entries", ""),
    ("tournaments", "CreateTournament", {"entries": ["quokka", "quoka"]}, "entries", "did you mean 'quokka'?"),
    ("tournaments", "CreateTournament", {"entries": ["quokka", "quokka@1"]}, "entries", "twice"),
    ("tournaments", "CreateTournament", {"blocks": 4_000_000_000}, "blocks", "at most"),
    ("tournaments", "CreateTournament", {"clock": CLOCK()}, "clock", "bank above 0"),
    ("tournaments", "CreateTournament", {"clock": CLOCK(bank=Duration(seconds=-1))}, "clock", "bank above 0"),
    ("tournaments", "CreateTournament", {"clock": CLOCK(bank=Duration(seconds=1 << 60))}, "clock.bank", "a day"),
    ("tournaments", "CreateTournament", {"clock": CLOCK(bank=Duration(seconds=5, nanos=7))}, "clock.bank", "whole micro"),
    ("tournaments", "CreateTournament", {"clock": CLOCK(bank=Duration(seconds=5, nanos=-1000))}, "clock.bank", "same sign"),
    ("tournaments", "CreateTournament", {"clock": CLOCK(bank=Duration(nanos=2_000_000_000))}, "clock.bank", "micro"),
    ("tournaments", "CreateTournament", {"policy": "forgive"}, "policy", "retry:N"),
    ("tournaments", "CreateTournament", {"pairing": "round-robbin"}, "pairing", "did you mean 'round-robin'?"),
    ("tournaments", "CreateTournament", {"seed": "s" * 300}, "seed", "200"),
    ("tournaments", "GetTournament", tournament_service_pb2.GetTournamentRequest(name="x"), "name", "no tournament 'x'"),
    ("tournaments", "CancelTournament", tournament_service_pb2.CancelTournamentRequest(name=""), "name", "tournaments/"),
    ("ladders", "GetLadder", ladder_service_pb2.GetLadderRequest(name="x"), "name", "no ladder 'x'"),
    ("matches", "GetMatch", match_service_pb2.GetMatchRequest(name="matches/xyz"), "name", "copy the id"),
    ("matches", "GetMatchRecord", match_service_pb2.GetMatchRecordRequest(name="m" * 100_000), "name", "copy the id"),
    ("matches", "ListMatches", match_service_pb2.ListMatchesRequest(tournament="x"), "tournament", "no tournament 'x'"),
    ("matches", "ListMatches", match_service_pb2.ListMatchesRequest(bot="quoka"), "bot", "did you mean 'quokka'?"),
]


async def test_wrong_input_is_told_by_field_in_one_line_with_details(api: Any) -> None:
    for name in ("quokka", "wombat"):
        await api.call(api.bots.CreateBot, bot_service_pb2.CreateBotRequest(bot_id=name), by="root")
    for service, method, request, field, says in WRONG:
        if isinstance(request, dict):
            usual: dict[str, Any] = {"ruleset": "antiquity-2p", "entries": ["quokka", "wombat"]}
            request = tournament_service_pb2.CreateTournamentRequest(**usual | request)
        refused = await api.refused(getattr(getattr(api, service), method), request, by="root")
        told = f"{method} {request}: {refused.message}"
        assert refused.code in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND), told
        assert (refused.field, refused.info.domain) == (field, "hippodrome"), told
        assert says in refused.message, told
        assert "\n" not in refused.message, told
        assert refused.info.metadata["fix"], told
        assert [violation.field for violation in refused.bad.field_violations] == [field], told
        assert refused.status.code == refused.code.value[0], told
        assert len(refused.message) < 2000, told


def test_every_error_of_the_ladder_has_a_reason_of_the_common_table() -> None:
    for kind in (errors.Unauthenticated, errors.NotAllowed, errors.EngineUnavailable, FieldError):
        assert errors.reason_of(kind("field", "problem", "fix")) in REASONS
    assert errors.reason_of(TimeoutError()) in REASONS
    assert errors.reason_of(KeyError("x")) == "UNFORESEEN"
    assert "x-secret-x" not in errors.message_of(KeyError("x-secret-x")), "what is unforeseen stays in the log"


async def test_a_call_that_takes_too_long_ends_at_its_deadline_and_the_server_lives_on(api: Any, database: Database) -> None:
    asked = bot_service_pb2.CreateBotRequest(bot_id="quokka", request_id="r-1")
    with database.write() as session:
        if session.get_bind().dialect.name == "postgresql":
            session.execute(text("LOCK TABLE bot IN ACCESS EXCLUSIVE MODE"))
        with pytest.raises(Exception, match=r"(?i)deadline"):
            await api.call(api.bots.CreateBot, asked, by="ada", timeout=0.5)
    made = await api.call(api.bots.CreateBot, asked, by="ada")
    assert made.bot.name == "bots/quokka"
    assert len((await api.call(api.bots.ListBots, bot_service_pb2.ListBotsRequest())).bots) == 1


async def test_an_oversized_message_is_refused_and_the_next_call_served(api: Any) -> None:
    huge = bot_service_pb2.CreateBotRequest(bot_id="quokka", description="x" * 400_000)
    assert (await api.refused(api.bots.CreateBot, huge, by="ada")).code is grpc.StatusCode.RESOURCE_EXHAUSTED
    await api.call(api.bots.ListBots, bot_service_pb2.ListBotsRequest())


async def test_garbage_instead_of_a_message_is_refused_and_the_next_call_served(api: Any) -> None:
    for garbage in (b"\xff" * 40, b"\x0a\xff\xff\xff\xff\x0f", bytes(range(256))):
        call = api.channel.unary_unary("/hippodrome.v1.BotService/CreateBot", request_serializer=bytes)
        with pytest.raises(grpc.aio.AioRpcError):
            await call(garbage, metadata=api.metadata("ada"), timeout=20)
    assert not (await api.call(api.bots.ListBots, bot_service_pb2.ListBotsRequest())).bots


async def test_unknown_fields_are_tolerated(api: Any) -> None:
    known = bot_service_pb2.CreateBotRequest(bot_id="quokka").SerializeToString()
    unknown = b"\xfa\x3f\x03new" + b"\xf8\x3f\x07"
    call = api.channel.unary_unary(
        "/hippodrome.v1.BotService/CreateBot",
        request_serializer=bytes,
        response_deserializer=bot_service_pb2.CreateBotResponse.FromString,
    )
    made = await call(known + unknown, metadata=api.metadata("ada"), timeout=20)
    assert made.bot.name == "bots/quokka"


async def test_health_and_reflection_know_all_services(api: Any) -> None:
    checks = health_pb2_grpc.HealthStub(api.channel)
    for service in ("", *SERVICES):
        answer = await checks.Check(health_pb2.HealthCheckRequest(service=service), timeout=20)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    stub = reflection_pb2_grpc.ServerReflectionStub(api.channel)
    asked = reflection_pb2.ServerReflectionRequest(list_services="")
    async for answer in stub.ServerReflectionInfo(iter([asked]), timeout=20):
        listed = {service.name for service in answer.list_services_response.service}
    assert set(SERVICES) <= listed


async def test_a_second_server_on_the_port_is_refused(api: Any, settings: Settings) -> None:
    with pytest.raises(FieldError, match="choose another port"):
        await serve(settings, api.server.address)
    with pytest.raises(FieldError, match="HOST:PORT"):
        await serve(settings, "nowhere")


def _start(tmp_path: Path, url: str, *more: str) -> tuple[subprocess.Popen[str], Path]:
    file = tmp_path / "address"
    env = {k: v for k, v in os.environ.items() if not k.startswith("HIPPODROME_")}
    env |= {"HIPPODROME_HOME": str(tmp_path / "home"), "HIPPODROME_DATABASE_URL": url}
    command = [sys.executable, "-m", "hippodrome.ladder.api", "--address-file", str(file), *more]
    return subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True), file


def test_the_process_tells_its_address_serves_and_ends_in_order(tmp_path: Path, database_url: str) -> None:
    process, file = _start(tmp_path, database_url)
    try:
        deadline = time.monotonic() + 60
        while not file.exists():
            assert process.poll() is None, process.stderr and process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        with grpc.insecure_channel(file.read_text().strip()) as channel:
            call = channel.unary_unary(
                "/hippodrome.v1.BotService/ListBots",
                request_serializer=bot_service_pb2.ListBotsRequest.SerializeToString,
                response_deserializer=bot_service_pb2.ListBotsResponse.FromString,
            )
            assert not call(bot_service_pb2.ListBotsRequest(), timeout=20).bots
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.communicate()


def test_the_process_says_in_one_line_that_the_schema_is_not_there(tmp_path: Path, empty_database_url: str) -> None:
    process, _ = _start(tmp_path, empty_database_url, "--wait", "0.2")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "fix: hippodrome db upgrade" in said.splitlines()[-1]
    assert "Traceback" not in said


def test_the_process_says_in_one_line_that_it_cannot_listen_there(tmp_path: Path, database_url: str) -> None:
    process, _ = _start(tmp_path, database_url, "--listen", "127.0.0.1:99999")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "listen: '127.0.0.1:99999'" in said.splitlines()[-1]
    assert "Traceback" not in said


def test_the_docs_list_every_reason_of_the_api_as_the_table_has_it() -> None:
    page = (Path(__file__).parents[3] / "docs" / "api.md").read_text(encoding="utf-8")
    for reason in {*errors.REASON_OF.values(), "UNFORESEEN"}:
        row = REASONS[reason]
        assert f"| `{reason}` | {row.code} | {row.meaning} | {row.remedy} |" in page
