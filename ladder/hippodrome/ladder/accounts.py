"""Accounts and tokens. A secret is shown once; only its SHA-256 is stored."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Final

from sqlmodel import Session, col, select

from hippodrome.engine.game import did_you_mean
from hippodrome.ladder import ids, requests
from hippodrome.ladder.errors import AlreadyExists, NotFound
from hippodrome.ladder.models import Account, Token, add_unique, key, utcnow

PREFIX: Final = "hippo_"
"""Secrets start with it, so that scanners of published code find them."""
_LABEL: Final = 200


def create_account(
    session: Session, *, name: str, admin: bool = False, by: Account | None = None, request_id: str = ""
) -> tuple[Account, str]:
    """A new account and the secret of its first token. Raises FieldError, AlreadyExists.

    Told again with the same `request_id` by the same account it gives that account and the secret of a further token, for
    the first one is stored nowhere.
    """
    ids.check_name("account_id", name)
    made = requests.recall(session, by, "account", request_id) if by else None
    if made is not None:
        account = get_account(session, made, field="request_id")
        return account, create_token(session, account, label="repeated request")[1]
    taken = AlreadyExists("account_id", f"{name!r} is taken", "choose another name")
    if session.exec(select(Account).where(Account.name == name)).first():
        raise taken
    account = Account(name=name, admin=admin)
    add_unique(session, account, taken)
    if by:
        requests.remember(session, by, "account", request_id, name)
    return account, create_token(session, account, label="first")[1]


def ensure_account(session: Session, *, name: str, admin: bool = False) -> Account:
    """The account called `name`, made without a token if it is not there."""
    found = session.exec(select(Account).where(Account.name == ids.check_name("account_id", name))).first()
    account = found or Account(name=name, admin=admin)
    session.add(account)
    session.flush()
    return account


def get_account(session: Session, name: str, *, field: str = "name") -> Account:
    """The account called `ada` or `accounts/ada`. Raises NotFound."""
    wanted = ids.parse_name("accounts", name, field)
    found = session.exec(select(Account).where(Account.name == wanted)).first()
    if found is None:
        raise NotFound(field, f"no account {wanted[:60]!r}", "see `hippodrome doctor`, or create it")
    return found


def list_accounts(session: Session) -> list[Account]:
    """All accounts, by name."""
    return list(session.exec(select(Account).order_by(col(Account.name))))


def create_token(session: Session, account: Account, *, label: str = "") -> tuple[Token, str]:
    """A further token of `account` and its secret. Raises FieldError."""
    ids.check_text("label", label, _LABEL)
    secret = PREFIX + secrets.token_urlsafe(32)
    token = Token(account_id=key(account), label=label, digest=_digest(secret))
    session.add(token)
    session.flush()
    return token, secret


def list_tokens(session: Session, account: Account) -> list[Token]:
    """The tokens of `account`, revoked ones too, oldest first."""
    return list(session.exec(select(Token).where(Token.account_id == key(account)).order_by(col(Token.id))))


def revoke_token(session: Session, name: str) -> Token:
    """Make the token `accounts/ada/tokens/4` useless from now on; again does no harm. Raises FieldError, NotFound."""
    account_name, number = ids.parse_token(name)
    account = get_account(session, account_name)
    token = session.get(Token, number)
    if token is None or token.account_id != account.id:
        numbers = [str(t.id) for t in list_tokens(session, account)]
        raise NotFound("name", f"{account_name} has no token {number}", did_you_mean(str(number), numbers), tuple(numbers))
    token.revoked_at = token.revoked_at or utcnow()
    session.add(token)
    session.flush()
    return token


def authenticate(session: Session, secret: str) -> Account | None:
    """The account whose working token has this secret, or None."""
    digest = _digest(secret)
    token = session.exec(select(Token).where(Token.digest == digest)).first()
    if token is None or token.revoked_at is not None or not hmac.compare_digest(token.digest, digest):
        return None
    return session.get(Account, token.account_id)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", errors="surrogatepass")).hexdigest()
