"""Run by Alembic, which puts the connection of `db.upgrade` into the settings: the caller commits."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from sqlmodel import SQLModel

from hippodrome.ladder.models import Utc


def render_item(kind: str, item: Any, _autogen: object) -> str | Literal[False]:
    """How `Utc` is written in a migration: as what it is in the database, so that old migrations do not need our class."""
    return "sa.DateTime(timezone=True)" if kind == "type" and isinstance(item, Utc) else False


connection = context.config.attributes["connection"]
if connection.dialect.name == "postgresql":
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7103219)")
context.configure(
    connection=connection,
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
    render_item=render_item,
    compare_type=True,
    transactional_ddl=True,
)
context.run_migrations()
