"""The first tables."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0001"
down_revision: Final = None


def upgrade() -> None:
    op.create_table(
        "account",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("admin", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account")),
        sa.UniqueConstraint("name", name=op.f("uq_account_name")),
    )
    op.create_table(
        "ladder",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("fitted", sa.Integer(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("fitted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_ladder")),
    )
    op.create_table(
        "lease",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("owner", sa.String(length=200), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_lease")),
    )
    op.create_table(
        "bot",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_bot_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot")),
        sa.UniqueConstraint("name", name=op.f("uq_bot_name")),
    )
    op.create_index(op.f("ix_bot_account_id"), "bot", ["account_id"], unique=False)
    op.create_table(
        "request",
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("request_id", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("made", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_request_account_id")),
        sa.PrimaryKeyConstraint("account_id", "request_id", name=op.f("pk_request")),
    )
    op.create_table(
        "token",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("label", sa.String(length=200), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_token_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token")),
        sa.UniqueConstraint("digest", name=op.f("uq_token_digest")),
    )
    op.create_index(op.f("ix_token_account_id"), "token", ["account_id"], unique=False)
    op.create_table(
        "tournament",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("ruleset", sa.String(length=200), nullable=False),
        sa.Column("pairing", sa.String(length=40), nullable=False),
        sa.Column("blocks", sa.Integer(), nullable=False),
        sa.Column("clock", sa.String(length=100), nullable=False),
        sa.Column("policy", sa.String(length=40), nullable=False),
        sa.Column("seed", sa.String(length=200), nullable=False),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("state IN ('running', 'finished', 'cancelled')", name=op.f("ck_tournament_state")),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_tournament_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tournament")),
        sa.UniqueConstraint("name", name=op.f("uq_tournament_name")),
    )
    op.create_index(op.f("ix_tournament_ruleset"), "tournament", ["ruleset"], unique=False)
    op.create_index(op.f("ix_tournament_state"), "tournament", ["state"], unique=False)
    op.create_table(
        "bot_version",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_bot_version_bot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot_version")),
        sa.UniqueConstraint("bot_id", "number", name=op.f("uq_bot_version_bot_id_number")),
    )
    op.create_table(
        "match",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("rotation", sa.Integer(), nullable=False),
        sa.Column("ruleset", sa.String(length=200), nullable=False),
        sa.Column("seed", sa.LargeBinary(), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("strikes", sa.Integer(), nullable=False),
        sa.Column("moves", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(length=200), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_seconds", sa.Float(), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("dispatched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("waiting", sa.JSON(), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("state IN ('pending', 'leased', 'done', 'parked', 'cancelled')", name=op.f("ck_match_state")),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name=op.f("fk_match_tournament_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_match")),
        sa.UniqueConstraint("tournament_id", "number", name=op.f("uq_match_tournament_id_number")),
    )
    op.create_index(op.f("ix_match_dispatched_at"), "match", ["dispatched_at"], unique=False)
    op.create_index(op.f("ix_match_ended_at"), "match", ["ended_at"], unique=False)
    op.create_index(op.f("ix_match_state_number_id"), "match", ["state", "number", "id"], unique=False)
    op.create_index(op.f("ix_match_tournament_id_state"), "match", ["tournament_id", "state"], unique=False)
    op.create_table(
        "attempt",
        sa.Column("match_id", sa.String(length=16), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(length=200), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.String(length=12), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.Column("counted", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["match.id"], name=op.f("fk_attempt_match_id")),
        sa.PrimaryKeyConstraint("match_id", "fence", name=op.f("pk_attempt")),
    )
    op.create_table(
        "entry",
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"], name=op.f("fk_entry_tournament_id")),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_entry_version_id")),
        sa.PrimaryKeyConstraint("tournament_id", "number", name=op.f("pk_entry")),
        sa.UniqueConstraint("tournament_id", "version_id", name=op.f("uq_entry_tournament_id_version_id")),
    )
    op.create_index(op.f("ix_entry_version_id"), "entry", ["version_id"], unique=False)
    op.create_table(
        "rating",
        sa.Column("ladder", sa.String(length=200), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("rating", sa.Float(), nullable=False),
        sa.Column("interval", sa.Float(), nullable=False),
        sa.Column("se", sa.Float(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("blocks", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("provisional", sa.Boolean(), nullable=False),
        sa.Column("anchor", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["ladder"], ["ladder.name"], name=op.f("fk_rating_ladder")),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_rating_version_id")),
        sa.PrimaryKeyConstraint("ladder", "version_id", name=op.f("pk_rating")),
    )
    op.create_index(op.f("ix_rating_ladder_provisional_rating"), "rating", ["ladder", "provisional", "rating"], unique=False)
    op.create_table(
        "rating_event",
        sa.Column("match_id", sa.String(length=16), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("ladder", sa.String(length=200), nullable=False),
        sa.Column("block", sa.String(length=40), nullable=False),
        sa.Column("versions", sa.JSON(), nullable=False),
        sa.Column("places", sa.JSON(), nullable=False),
        sa.Column("failed", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["ladder"], ["ladder.name"], name=op.f("fk_rating_event_ladder")),
        sa.ForeignKeyConstraint(["match_id"], ["match.id"], name=op.f("fk_rating_event_match_id")),
        sa.PrimaryKeyConstraint("match_id", name=op.f("pk_rating_event")),
    )
    op.create_index(op.f("ix_rating_event_ladder"), "rating_event", ["ladder"], unique=False)
    op.create_table(
        "result",
        sa.Column("match_id", sa.String(length=16), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("ending", sa.String(length=20), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("places", sa.JSON(), nullable=False),
        sa.Column("scores", sa.JSON(), nullable=False),
        sa.Column("faults", sa.JSON(), nullable=False),
        sa.Column("moves", sa.Integer(), nullable=False),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["match.id"], name=op.f("fk_result_match_id")),
        sa.PrimaryKeyConstraint("match_id", name=op.f("pk_result")),
    )
    op.create_table(
        "seat",
        sa.Column("match_id", sa.String(length=16), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["match.id"], name=op.f("fk_seat_match_id")),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"], name=op.f("fk_seat_version_id")),
        sa.PrimaryKeyConstraint("match_id", "seat", name=op.f("pk_seat")),
    )
    op.create_index(op.f("ix_seat_version_id"), "seat", ["version_id"], unique=False)
