"""The accounts that `up` keeps."""

from __future__ import annotations

from hippodrome.ladder import accounts
from hippodrome.ladder.db import Database
from hippodrome.workers.house import prepare_house


def names_of(database: Database, *secrets: str) -> list[str]:
    """The accounts that these secrets belong to; empty for one that is worth nothing any more."""
    names = []
    with database.read() as session:
        for secret in secrets:
            account = accounts.authenticate(session, secret)
            names.append(account.name if account else "")
    return names


def test_a_start_ends_the_tokens_of_the_last_one_at_its_place_and_of_no_other(database: Database) -> None:
    """Two services may share a database: neither may lock the other's bots out."""
    with database.write() as session:
        here = prepare_house(session, ("random",), "host:/home/ada")
        there = prepare_house(session, ("random",), "host:/srv/" + "deep/" * 100)
        again = prepare_house(session, ("random",), "host:/home/ada")
    assert names_of(database, *here) == ["", ""]
    assert names_of(database, *there, *again) == ["operator", "house"] * 2
