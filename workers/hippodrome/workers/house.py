"""The accounts that `up` keeps: `house` owns the built-in bots, `operator` is whoever sits at this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlmodel import Session

from hippodrome.ladder import accounts, ids
from hippodrome.ladder.bots import ensure_bot
from hippodrome.ladder.models import Account, key

HOUSE: Final = ids.HOUSE
OPERATOR: Final = "operator"
_LONGEST: Final = 100


def prepare_house(session: Session, bots: Sequence[str], place: str = "") -> tuple[str, str]:
    """Both accounts, the built-in `bots`, and fresh secrets of (operator, house). Those of the last `up` at `place` end; one
    at another place may share the database."""
    house = accounts.ensure_account(session, name=HOUSE)
    operator = accounts.ensure_account(session, name=OPERATOR, admin=True)
    for bot in bots:
        ensure_bot(session, account=house, name=bot, description=f"built-in bot `{bot}`")
    label = f"up {ids.clean_text(place)[3 - _LONGEST:]}".strip()
    return _fresh_token(session, operator, label), _fresh_token(session, house, label)


def _fresh_token(session: Session, account: Account, label: str) -> str:
    for token in accounts.list_tokens(session, account):
        if token.label == label and token.revoked_at is None:
            accounts.revoke_token(session, ids.token_name(account.name, key(token)))
    return accounts.create_token(session, account, label=label)[1]
