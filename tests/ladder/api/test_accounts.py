"""AccountService: who may do what, and what a token opens."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from hippodrome.v1 import account_service_pb2 as v1
from hippodrome.v1 import bot_service_pb2


async def test_an_administrator_creates_an_account_whose_secret_then_works(api: Any) -> None:
    made = await api.call(api.accounts.CreateAccount, v1.CreateAccountRequest(account_id="cyd"), by="root")
    api.secrets["cyd"] = made.secret
    mine = await api.call(api.accounts.GetAccount, v1.GetAccountRequest(), by="cyd")
    assert (mine.account.name, mine.account.admin) == ("accounts/cyd", False)
    assert mine.account == made.account


async def test_an_ordinary_account_may_not_create_accounts_not_even_learn_that_one_is_there(api: Any) -> None:
    for name in ("cyd", "bob"):
        refused = await api.refused(api.accounts.CreateAccount, v1.CreateAccountRequest(account_id=name), by="ada")
        assert (refused.code, refused.reason) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_ALLOWED")
        assert "administrator" in refused.message


async def test_a_name_that_is_taken_is_already_exists(api: Any) -> None:
    refused = await api.refused(api.accounts.CreateAccount, v1.CreateAccountRequest(account_id="bob"), by="root")
    assert (refused.code, refused.reason, refused.field) == (grpc.StatusCode.ALREADY_EXISTS, "ALREADY_EXISTS", "account_id")


async def test_a_repeated_request_makes_one_account(api: Any) -> None:
    request = v1.CreateAccountRequest(account_id="cyd", request_id="r-1")
    first = await api.call(api.accounts.CreateAccount, request, by="root")
    again = await api.call(api.accounts.CreateAccount, request, by="root")
    assert first.account == again.account
    listed = await api.call(api.accounts.ListAccounts, v1.ListAccountsRequest(), by="root")
    assert [account.name for account in listed.accounts] == [f"accounts/{n}" for n in ("ada", "bob", "cyd", "root")]


async def test_accounts_are_listed_in_pages_for_administrators_only(api: Any) -> None:
    names, token = [], ""
    while True:
        page = await api.call(api.accounts.ListAccounts, v1.ListAccountsRequest(page_size=2, page_token=token), by="root")
        names.append([account.name for account in page.accounts])
        token = page.next_page_token
        if not token:
            break
    assert names == [["accounts/ada", "accounts/bob"], ["accounts/root"]]
    refused = await api.refused(api.accounts.ListAccounts, v1.ListAccountsRequest(), by="ada")
    assert refused.code is grpc.StatusCode.PERMISSION_DENIED


async def test_a_revoked_token_opens_nothing_and_the_others_still_do(api: Any) -> None:
    made = await api.call(api.accounts.CreateToken, v1.CreateTokenRequest(label="laptop"), by="ada")
    api.secrets["laptop"] = made.secret
    assert (await api.call(api.accounts.GetAccount, v1.GetAccountRequest(), by="laptop")).account.name == "accounts/ada"
    gone = await api.call(api.accounts.RevokeToken, v1.RevokeTokenRequest(name=made.token.name), by="ada")
    assert gone.token.HasField("revoke_time")
    refused = await api.refused(api.accounts.GetAccount, v1.GetAccountRequest(), by="laptop")
    assert (refused.code, refused.reason) == (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_INVALID")
    await api.call(api.accounts.GetAccount, v1.GetAccountRequest(), by="ada")


async def test_tokens_of_others_are_for_administrators(api: Any) -> None:
    asked = v1.CreateTokenRequest(account="accounts/bob")
    refused = await api.refused(api.accounts.CreateToken, asked, by="ada")
    assert refused.code is grpc.StatusCode.PERMISSION_DENIED
    made = await api.call(api.accounts.CreateToken, asked, by="root")
    assert made.token.name.startswith("accounts/bob/tokens/")
    denied = await api.refused(api.accounts.RevokeToken, v1.RevokeTokenRequest(name=made.token.name), by="ada")
    assert denied.code is grpc.StatusCode.PERMISSION_DENIED
    unknown = await api.refused(api.accounts.RevokeToken, v1.RevokeTokenRequest(name="accounts/bob/tokens/99"), by="ada")
    assert unknown.code is grpc.StatusCode.PERMISSION_DENIED, "permission comes before existence"
    await api.call(api.accounts.RevokeToken, v1.RevokeTokenRequest(name=made.token.name), by="root")


@pytest.mark.parametrize("header", ["hippo_x", "Basic abc", "Bearer ", "Bearer hippo_wrong", "hippo"])
async def test_a_header_that_is_no_token_of_ours_is_refused_even_where_anybody_may_read(api: Any, header: str) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await api.bots.ListBots(bot_service_pb2.ListBotsRequest(), metadata=(("authorization", header),), timeout=20)
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert "HIPPODROME_TOKEN" in (caught.value.details() or "")


async def test_a_token_stands_in_no_log_line(api: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG"):
        await api.call(api.accounts.GetAccount, v1.GetAccountRequest(), by="ada")
    assert api.secrets["ada"] not in caplog.text
