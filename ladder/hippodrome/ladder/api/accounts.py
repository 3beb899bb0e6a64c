"""AccountService: who may do what."""

from __future__ import annotations

from hippodrome.ladder import accounts, convert, ids, paging
from hippodrome.ladder.api.calls import Call, Context, Hub
from hippodrome.ladder.api.errors import NotAllowed
from hippodrome.v1 import account_service_pb2 as v1
from hippodrome.v1.account_service_pb2_grpc import AccountServiceServicer


class Accounts(AccountServiceServicer):
    """Serves AccountService."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub

    async def CreateAccount(self, request: v1.CreateAccountRequest, context: Context) -> v1.CreateAccountResponse:
        return await self.hub.write(context, create_account, request)

    async def GetAccount(self, request: v1.GetAccountRequest, context: Context) -> v1.GetAccountResponse:
        return await self.hub.read(context, get_account, request)

    async def ListAccounts(self, request: v1.ListAccountsRequest, context: Context) -> v1.ListAccountsResponse:
        return await self.hub.read(context, list_accounts, request)

    async def CreateToken(self, request: v1.CreateTokenRequest, context: Context) -> v1.CreateTokenResponse:
        return await self.hub.write(context, create_token, request)

    async def RevokeToken(self, request: v1.RevokeTokenRequest, context: Context) -> v1.RevokeTokenResponse:
        return await self.hub.write(context, revoke_token, request)


def create_account(call: Call, request: v1.CreateAccountRequest) -> v1.CreateAccountResponse:
    """A new account; only an administrator may."""
    by = call.admin("create accounts")
    account, secret = accounts.create_account(
        call.session, name=request.account_id, admin=request.admin, by=by, request_id=request.request_id
    )
    return v1.CreateAccountResponse(account=convert.account_message(convert.account_page(account)), secret=secret)


def get_account(call: Call, request: v1.GetAccountRequest) -> v1.GetAccountResponse:
    """The caller's account."""
    return v1.GetAccountResponse(account=convert.account_message(convert.account_page(call.owner())))


def list_accounts(call: Call, request: v1.ListAccountsRequest) -> v1.ListAccountsResponse:
    """A page of all accounts; only an administrator may."""
    call.admin("list accounts")
    size, after = paging.page_size(request.page_size), paging.read_token("accounts", request.page_token, (str,))
    rows = [row for row in accounts.list_accounts(call.session) if after is None or row.name > after[0]]
    page = paging.page("accounts", rows, size, lambda row: (row.name,), lambda shown: [*map(convert.account_page, shown)])
    return v1.ListAccountsResponse(accounts=map(convert.account_message, page.items), next_page_token=page.next_page_token)


def create_token(call: Call, request: v1.CreateTokenRequest) -> v1.CreateTokenResponse:
    """A further token, of the caller's account or, for an administrator, of any."""
    account = call.owner()
    if request.account and request.account != ids.account_name(account.name):
        call.admin("create tokens for other accounts")
        account = accounts.get_account(call.session, request.account, field="account")
    token, secret = accounts.create_token(call.session, account, label=request.label)
    return v1.CreateTokenResponse(token=convert.token_message(convert.token_page(account.name, token)), secret=secret)


def revoke_token(call: Call, request: v1.RevokeTokenRequest) -> v1.RevokeTokenResponse:
    """Make a token useless: one's own, or, for an administrator, any."""
    caller, (account, _) = call.owner(), ids.parse_token(request.name)
    if account != caller.name and not caller.admin:
        raise NotAllowed(
            "name", f"{request.name} is not yours", "name a token of your own account, or use an administrator's token"
        )
    token = accounts.revoke_token(call.session, request.name)
    return v1.RevokeTokenResponse(token=convert.token_message(convert.token_page(account, token)))
