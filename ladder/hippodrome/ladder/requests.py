"""Request ids: a creation that is told twice with the same id is made once."""

from __future__ import annotations

from typing import Final

from sqlmodel import Session

from hippodrome.engine.errors import FieldError
from hippodrome.ladder import ids
from hippodrome.ladder.models import Account, Request, key

LONGEST: Final = 200


def recall(session: Session, account: Account, kind: str, request_id: str) -> str | None:
    """The name that this request has made before; None if it is new or has no id. Raises FieldError on one of another kind."""
    if not request_id:
        return None
    ids.check_text("request_id", request_id, LONGEST)
    row = session.get(Request, (key(account), request_id))
    if row is not None and row.kind != kind:
        raise FieldError(
            "request_id", f"it has made a {row.kind} before", "use a fresh one for each request, for example a UUID"
        )
    return row.made if row else None


def remember(session: Session, account: Account, kind: str, request_id: str, made: str) -> None:
    """Note in the same transaction what the request has made."""
    if request_id:
        session.add(Request(account_id=key(account), request_id=request_id, kind=kind, made=made))
