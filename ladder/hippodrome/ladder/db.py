"""The database: `open_database(url)` gives units of work, `upgrade(url)` brings its schema up to date, `check_schema(url)`
refuses an old one.

    with database.write() as session: ...     one transaction, committed at the end of the block, rolled back on an error
    with database.read() as session: ...      one consistent picture, nothing can be written

SQLite (reliability note A4): pysqlite3 where it is installed, `BEGIN IMMEDIATE` for writers, a second engine for readers,
WAL only where the library has the fix of the WAL-reset fault, else a TRUNCATE journal. PostgreSQL: psycopg; use cases lock
rows in one order: tournament, match, ladder.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from sqlalchemy import Engine, Table, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, Connection
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from sqlalchemy.pool import QueuePool
from sqlmodel import Session

from hippodrome.engine.errors import FieldError
from hippodrome.ladder.errors import DatabaseUnavailable

BUSY_MS: Final = 15_000
"""How long a writer waits for another's commit on SQLite."""
_WAL_FIXED: Final = ((3, 51, 3), (3, 50, 7), (3, 44, 6))
"""First fixed release: of all later lines, of 3.50, of 3.44."""
_NO_SCHEMA: Final = ("42P01", "42703")
"""PostgreSQL's codes for an unknown table and an unknown column."""
_POOL: Final = {"poolclass": QueuePool, "pool_size": 5, "max_overflow": 20, "pool_timeout": 30}


class Database:
    """The two engines of one database. Make it with `open_database`; one per process, shared by its threads."""

    def __init__(self, url: URL, writer: Engine, reader: Engine) -> None:
        self.url, self.writer, self.reader = url, writer, reader

    @property
    def shown(self) -> str:
        """The address without the password."""
        return self.url.render_as_string(hide_password=True)

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A unit of work: one transaction, one commit. Raises DatabaseUnavailable."""
        with self._session(self.writer) as session:
            yield session
            session.commit()

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A consistent picture to read from. Raises DatabaseUnavailable."""
        with self._session(self.reader) as session:
            yield session

    def close(self) -> None:
        """Give the connections back."""
        for engine in {self.writer, self.reader}:
            engine.dispose()

    @contextmanager
    def _session(self, engine: Engine) -> Iterator[Session]:
        with Session(engine, expire_on_commit=False) as session:
            try:
                session.connection()
                yield session
            except NoConnection as error:
                raise _unavailable(self.shown, f"no connection came free within {_POOL['pool_timeout']} s") from error
            except DBAPIError as error:
                if _is_away(error):
                    raise _unavailable(self.shown, str(error.orig), _state(error)) from error
                raise


def open_database(url: str) -> Database:
    """The database at `url`: `sqlite:////path/file.db` or `postgresql+psycopg://user:password@host/name`. Raises FieldError."""
    parsed = read_url(url)
    if parsed.get_backend_name() == "sqlite":
        return Database(parsed, _sqlite(parsed, "BEGIN IMMEDIATE", False), _sqlite(parsed, "BEGIN", True))
    writer = create_engine(parsed, **_POOL, pool_pre_ping=True, connect_args={"connect_timeout": 10})
    return Database(parsed, writer, writer.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True))


def read_url(url: str) -> URL:
    """`url` checked, the driver named. Raises FieldError."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise FieldError("HIPPODROME_DATABASE_URL", "it is no database address", _FIX) from None
    if parsed.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise FieldError("HIPPODROME_DATABASE_URL", f"{parsed.drivername!r} is not a database known here", _FIX)
    if not parsed.database or parsed.database == ":memory:":
        raise FieldError("HIPPODROME_DATABASE_URL", "a database in memory cannot be shared by processes", _FIX)
    return parsed


_FIX: Final = "write sqlite:////path/to/file.db or postgresql+psycopg://user:password@host/name"


def wal_is_safe(version: tuple[int, ...]) -> bool:
    """Whether this SQLite release has the fix of the fault that can corrupt a WAL database when its log is reset."""
    newest, *lines = _WAL_FIXED
    return version >= newest or any(version[:2] == fixed[:2] and version >= fixed for fixed in lines)


def sqlite_module() -> ModuleType:
    """The SQLite binding in use: pysqlite3 carries a newer library than most Pythons."""
    try:
        from pysqlite3 import dbapi2
    except ImportError:
        return sqlite3
    module: ModuleType = dbapi2
    return module


def _sqlite(url: URL, begin: str, query_only: bool) -> Engine:
    module = sqlite_module()
    journal = "wal" if wal_is_safe(module.sqlite_version_info) else "truncate"
    engine = create_engine(url, **_POOL, module=module, connect_args={"timeout": BUSY_MS / 1000, "check_same_thread": False})

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _record: object) -> None:
        connection.isolation_level = None
        for pragma in (f"busy_timeout={BUSY_MS}", "foreign_keys=ON", "synchronous=FULL"):
            connection.execute(f"PRAGMA {pragma}")
        if query_only:
            connection.execute("PRAGMA query_only=ON")
        elif connection.execute("PRAGMA journal_mode").fetchone()[0] != journal:
            connection.execute(f"PRAGMA journal_mode={journal}")

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _state(error: DBAPIError) -> str | None:
    """PostgreSQL's five-letter code of the error."""
    return getattr(error.orig, "sqlstate", None)


def _is_away(error: DBAPIError) -> bool:
    """Whether it is the database that fails, not what was asked of it. SQLite's plain DatabaseError: the file is no database,
    or damaged."""
    broken = isinstance(error, OperationalError) or type(error) is DatabaseError
    return broken or error.connection_invalidated or _state(error) in _NO_SCHEMA


def _unavailable(shown: str, what: str, state: str | None = None) -> DatabaseUnavailable:
    cause = " ".join(what.split())[:200]
    if cause.startswith("no such") or state in _NO_SCHEMA:
        return DatabaseUnavailable(f"database: {shown} is not up to date ({cause}); fix: hippodrome db upgrade")
    return DatabaseUnavailable(
        f"database: {shown} cannot be used: {cause}; fix: check that it runs and HIPPODROME_DATABASE_URL"
    )


def insert_into(session: Session, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An INSERT that can say `on_conflict_do_nothing` and `on_conflict_do_update`: both databases spell them alike."""
    return postgresql.insert(table) if session.get_bind().dialect.name == "postgresql" else sqlite.insert(table)


def upgrade(url: str) -> None:
    """Bring the schema of the database at `url` to this program's, made first if it is not there. Safe to run at any time."""
    from alembic import command

    parsed = read_url(url)
    if parsed.get_backend_name() == "sqlite":
        Path(str(parsed.database)).parent.mkdir(parents=True, exist_ok=True)
    database = open_database(url)
    try:
        with database.write() as session:
            config = alembic_config()
            config.attributes["connection"] = session.connection()
            command.upgrade(config, "head")
    finally:
        database.close()


def check_schema(url: str) -> None:
    """Raises DatabaseUnavailable unless the schema is exactly this program's."""
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    database = open_database(url)
    try:
        parsed = database.url
        if parsed.get_backend_name() == "sqlite" and not Path(str(parsed.database)).exists():
            raise DatabaseUnavailable(f"database: {database.shown} is not there; fix: hippodrome db upgrade")
        with database.read() as session:
            found = MigrationContext.configure(session.connection()).get_current_revision()
        script = ScriptDirectory.from_config(alembic_config())
        if found != script.get_current_head():
            known = found is None or any(found == revision.revision for revision in script.walk_revisions())
            fix = "hippodrome db upgrade" if known else "use the hippodrome that made it, or a newer one"
            wanted = script.get_current_head()
            problem = f"{database.shown} has schema {found or 'none'}, this program needs {wanted}"
            raise DatabaseUnavailable(f"database: {problem}; fix: {fix}")
    finally:
        database.close()


def alembic_config() -> Any:
    """Alembic's settings: the migrations lie beside this module."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
