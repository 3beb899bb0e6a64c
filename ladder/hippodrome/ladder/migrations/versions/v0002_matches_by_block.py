"""The matches of a block are found by an index: whether a record may be shown depends on them."""

from __future__ import annotations

from typing import Final

from alembic import op

revision: Final = "0002"
down_revision: Final = "0001"


def upgrade() -> None:
    op.create_index(op.f("ix_match_tournament_id_block"), "match", ["tournament_id", "block"], unique=False)
