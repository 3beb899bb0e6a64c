"""The database: units of work, migrations, errors."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool
from sqlmodel import SQLModel, select

from hippodrome.engine.errors import FieldError
from hippodrome.ladder import accounts
from hippodrome.ladder.db import Database, check_schema, open_database, read_url, upgrade, wal_is_safe
from hippodrome.ladder.errors import DatabaseUnavailable
from hippodrome.ladder.models import Account


def test_migrations_make_exactly_the_tables_of_the_models(empty_database_url: str) -> None:
    upgrade(empty_database_url)
    database = open_database(empty_database_url)
    with database.read() as session:
        context = MigrationContext.configure(session.connection(), opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, SQLModel.metadata) == []
    database.close()


def test_upgrade_twice_changes_nothing_and_satisfies_the_check(empty_database_url: str) -> None:
    upgrade(empty_database_url)
    upgrade(empty_database_url)
    check_schema(empty_database_url)


def test_a_database_without_schema_is_refused_with_the_fix(empty_database_url: str) -> None:
    with pytest.raises(DatabaseUnavailable, match=r"^database: .*; fix: hippodrome db upgrade$"):
        check_schema(empty_database_url)


def test_a_schema_from_the_future_asks_for_a_newer_program(database_url: str) -> None:
    database = open_database(database_url)
    with database.write() as session:
        session.connection().exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    database.close()
    with pytest.raises(DatabaseUnavailable, match=r"has schema 9999.*newer"):
        check_schema(database_url)


def test_a_write_that_fails_leaves_nothing(database: Database) -> None:
    with pytest.raises(FieldError), database.write() as session:  # noqa: PT012 the first statement must be undone
        accounts.create_account(session, name="ada")
        accounts.create_account(session, name="NOT A NAME")
    with database.read() as session:
        assert session.exec(select(Account)).all() == []


def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises((DBAPIError, DatabaseUnavailable)), database.read() as session:
        accounts.create_account(session, name="ada")


def test_a_reader_sees_one_picture_and_does_not_block_the_writer(database: Database) -> None:
    with database.read() as reader:
        assert accounts.list_accounts(reader) == []
        with database.write() as writer:
            accounts.create_account(writer, name="ada")
        assert accounts.list_accounts(reader) == []
    with database.read() as reader:
        assert [account.name for account in accounts.list_accounts(reader)] == ["ada"]


def test_times_come_back_in_utc(database: Database) -> None:
    with database.write() as session:
        made = accounts.create_account(session, name="ada")[0].created_at
    with database.read() as session:
        read = accounts.get_account(session, "ada").created_at
    assert read == made
    assert read.utcoffset() == made.utcoffset() == timedelta(0)


@pytest.mark.parametrize("url", ["", "nonsense", "mysql://x/y", "sqlite://", "sqlite:///:memory:"])
def test_an_address_that_cannot_serve_names_the_setting_and_the_fix(url: str) -> None:
    with pytest.raises(FieldError, match=r"^HIPPODROME_DATABASE_URL: .*; fix: write sqlite:"):
        read_url(url)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_every_spelling_of_postgresql_uses_psycopg(scheme: str) -> None:
    assert read_url(f"{scheme}://u:p@h/d").drivername == "postgresql+psycopg"


def test_a_database_that_is_away_is_named_without_its_password() -> None:
    database = open_database("postgresql://ada:secret@127.0.0.1:1/x")
    with pytest.raises(DatabaseUnavailable) as caught, database.read():
        pass
    assert "127.0.0.1:1" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_database_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear Ada,\n" * 1000)
    with pytest.raises(DatabaseUnavailable, match=r"letter\.txt cannot be used: file is not a database; fix: "):
        upgrade(f"sqlite:///{file}")
    assert file.read_text() == "Dear Ada,\n" * 1000


def test_a_pool_that_is_used_up_is_told_like_a_database_that_is_away(database: Database) -> None:
    queue = database.reader.pool
    assert isinstance(queue, QueuePool)
    queue._timeout = 0.1
    with ExitStack() as held:
        for _ in range(25):
            held.enter_context(database.read())
        with pytest.raises(DatabaseUnavailable, match="no connection came free"), database.read():
            pass


def test_missing_tables_while_at_work_name_the_fix(empty_database_url: str) -> None:
    database = open_database(empty_database_url)
    with pytest.raises(DatabaseUnavailable, match="fix: hippodrome db upgrade"), database.read() as session:
        accounts.list_accounts(session)
    database.close()


@pytest.mark.parametrize(
    ("version", "safe"),
    [((3, 40, 1), False), ((3, 51, 2), False), ((3, 51, 3), True), ((3, 53, 4), True), ((3, 50, 6), False), ((3, 50, 7), True),
     ((3, 44, 6), True), ((3, 45, 9), False)],
)  # fmt: skip
def test_wal_only_where_the_library_has_the_fix(version: tuple[int, ...], safe: bool) -> None:
    assert wal_is_safe(version) is safe
