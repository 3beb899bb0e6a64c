"""Accounts, tokens, bots, versions."""

from __future__ import annotations

from typing import Any

import pytest
from sqlmodel import select

from hippodrome.engine.errors import FieldError
from hippodrome.ladder import accounts, bots
from hippodrome.ladder.db import Database
from hippodrome.ladder.errors import AlreadyExists, NotFound
from hippodrome.ladder.models import Token


def test_a_secret_opens_its_account_and_is_not_stored(database: Database) -> None:
    with database.write() as session:
        _, secret = accounts.create_account(session, name="ada", admin=True)
        accounts.create_account(session, name="bob")
    with database.read() as session:
        found = accounts.authenticate(session, secret)
        assert found is not None
        assert (found.name, found.admin) == ("ada", True)
        assert all(secret not in repr(token.model_dump()) for token in session.exec(select(Token)))
        assert secret.startswith("hippo_")
        assert len(secret) > 40


@pytest.mark.parametrize("secret", ["", "hippo_", "x" * 10_000, "\ud800", "é"])
def test_a_wrong_secret_opens_nothing(database: Database, secret: str) -> None:
    with database.write() as session:
        accounts.create_account(session, name="ada")
        assert accounts.authenticate(session, secret) is None


def test_a_revoked_token_opens_nothing_and_others_still_do(database: Database) -> None:
    with database.write() as session:
        account, first = accounts.create_account(session, name="ada")
        token, second = accounts.create_token(session, account, label="laptop")
        name = f"accounts/ada/tokens/{token.id}"
        revoked = accounts.revoke_token(session, name).revoked_at
        assert revoked is not None
        assert accounts.revoke_token(session, name).revoked_at == revoked, "again does no harm"
        assert accounts.authenticate(session, second) is None
        assert accounts.authenticate(session, first) == account
        tokens = [(token.label, token.revoked_at is None) for token in accounts.list_tokens(session, account)]
        assert tokens == [("first", True), ("laptop", False)]


def test_a_token_of_another_account_is_not_found(database: Database) -> None:
    with database.write() as session:
        accounts.create_account(session, name="ada")
        bob = accounts.create_account(session, name="bob")[0]
        number = accounts.list_tokens(session, bob)[0].id
        with pytest.raises(NotFound, match="ada has no token"):
            accounts.revoke_token(session, f"accounts/ada/tokens/{number}")
        with pytest.raises(FieldError, match="accounts/NAME/tokens/NUMBER"):
            accounts.revoke_token(session, "tokens/1")


def test_names_are_taken_once(club: Any) -> None:
    with club.database.write() as session:
        ada = accounts.get_account(session, "accounts/ada")
        with pytest.raises(AlreadyExists, match="account_id: 'ada' is taken"):
            accounts.create_account(session, name="ada")
        with pytest.raises(AlreadyExists, match="bot_id: 'bob' is taken"):
            bots.create_bot(session, account=ada, name="bob")


def test_the_same_request_makes_one_thing(club: Any) -> None:
    with club.database.write() as session:
        ada = accounts.get_account(session, "ada")
        first = bots.create_bot(session, account=ada, name="eve", request_id="r1")
        assert bots.create_bot(session, account=ada, name="eve", request_id="r1").id == first.id
        assert bots.create_version(session, first, request_id="r2").number == 2
        assert bots.create_version(session, first, request_id="r2").number == 2
        assert bots.create_version(session, first, request_id="r3").number == 3
        with pytest.raises(FieldError, match="request_id: it has made a bot before"):
            bots.create_version(session, first, request_id="r1")
        with pytest.raises(FieldError, match="request_id: 201 characters"):
            bots.create_bot(session, account=ada, name="new", request_id="x" * 201)


def test_a_repeated_request_for_an_account_gives_it_with_a_working_secret(database: Database) -> None:
    with database.write() as session:
        admin = accounts.create_account(session, name="root", admin=True)[0]
        ada, first = accounts.create_account(session, name="ada", by=admin, request_id="r")
        again, second = accounts.create_account(session, name="ada", by=admin, request_id="r")
        assert again.id == ada.id
        assert accounts.authenticate(session, first) == accounts.authenticate(session, second) == ada


def test_versions_count_up_and_are_found_by_every_name(club: Any) -> None:
    with club.database.write() as session:
        bot = bots.get_bot(session, "ada")
        bots.create_version(session, bot, description="faster")
        for text, number in [("ada", 2), ("bots/ada", 2), ("ada@1", 1), ("bots/ada/versions/2", 2)]:
            assert bots.find_version(session, text)[1].number == number
        assert [version.number for version in bots.versions_of(session, bot)] == [1, 2]


UNKNOWN = [("addа", "no bot"), ("bobb", "did you mean 'bob'"), ("bob@7", "bob has no version 7"), ("", "names no bot")]


@pytest.mark.parametrize(("text", "told"), UNKNOWN)
def test_an_unknown_bot_gets_the_nearest(club: Any, text: str, told: str) -> None:
    with club.database.read() as session, pytest.raises(FieldError, match=f"^entries: .*{told}"):
        bots.find_version(session, text, field="entries")


def test_ensured_things_are_made_once(club: Any) -> None:
    for _ in range(2):
        with club.database.write() as session:
            house = accounts.ensure_account(session, name="house")
            bots.ensure_bot(session, account=house, name="random")
    with club.database.write() as session:
        assert [bot.name for bot in bots.list_bots(session)] == ["ada", "bob", "cyd", "dan", "random"]
        with pytest.raises(AlreadyExists, match="belongs to another account"):
            bots.ensure_bot(session, account=accounts.get_account(session, "house"), name="ada")


def test_texts_have_a_limit(club: Any) -> None:
    with club.database.write() as session:
        ada = accounts.get_account(session, "ada")
        with pytest.raises(FieldError, match=r"^description: 2001 characters"):
            bots.create_bot(session, account=ada, name="new", description="x" * 2001)
        with pytest.raises(FieldError, match=r"^label: 201 characters"):
            accounts.create_token(session, ada, label="x" * 201)
