"""Engine starts; requests with their attempts and verdicts."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _engine_starts()
    _requests()
    _attempts()
    _verdicts()


def _engine_starts() -> None:
    op.create_table(
        "engine_starts",
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("told_by", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double()),
        sa.Column("ready_seconds", sa.Double()),
        sa.Column("untouched", sa.Boolean()),
        sa.Column("woke", sa.Boolean(), nullable=False),
        sa.Column("first_answer", sa.Text(), nullable=False),
        sa.Column("first_by", sa.Text()),
        sa.Column("first_fault", sa.Text()),
        sa.Column("first_writer", sa.Text()),
        sa.Column("retry_step", sa.Text()),
        sa.Column("retry_valid", sa.Boolean()),
        sa.Column("cured_by", sa.Text()),
        sa.Column("certified_at", sa.Double()),
        sa.Column("over_at", sa.Double()),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("lane", "key", name=op.f("pk_engine_starts")),
    )
    op.create_index(op.f("ix_engine_starts_seen_at"), "engine_starts", ["seen_at"])


def _requests() -> None:
    op.create_table(
        "requests",
        sa.Column("number", _NUMBER, sa.Identity(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("stream", sa.Boolean(), nullable=False),
        sa.Column("policy", sa.Text()),
        sa.Column("key", sa.Text()),
        sa.Column("error_code", sa.Text()),
        sa.Column("decided_attempt", sa.Integer()),
        sa.Column("repairs", sa.Text(), nullable=False),
        sa.Column("unchecked", sa.Text(), nullable=False),
        sa.Column("duration_seconds", sa.Double()),
        sa.Column("queue_seconds", sa.Double()),
        sa.Column("overhead_seconds", sa.Double()),
        sa.Column("hold_seconds", sa.Double()),
        sa.Column("ttfr_seconds", sa.Double()),
        sa.Column("ttft_seconds", sa.Double()),
        sa.Column("tokens_per_second", sa.Double()),
        sa.Column("prompt_tokens", sa.BigInteger()),
        sa.Column("completion_tokens", sa.BigInteger()),
        sa.Column("failed_attempt_tokens", sa.BigInteger()),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_requests")),
    )
    op.create_index(op.f("ix_requests_id"), "requests", ["id"])
    op.create_index(op.f("ix_requests_received_at"), "requests", ["received_at"])


def _attempts() -> None:
    op.create_table(
        "attempts",
        sa.Column("request", _NUMBER, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("cold", sa.Boolean(), nullable=False),
        sa.Column("sample", sa.Text()),
        sa.Column("seconds", sa.Double()),
        sa.Column("faults", sa.Text(), nullable=False),
        sa.Column("ttfr_seconds", sa.Double()),
        sa.Column("completion_tokens", sa.BigInteger()),
        sa.ForeignKeyConstraint(
            ["request"],
            ["requests.number"],
            name=op.f("fk_attempts_requests"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("request", "number", name=op.f("pk_attempts")),
    )


def _verdicts() -> None:
    op.create_table(
        "verdicts",
        sa.Column("request", _NUMBER, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("gate", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("enforced", sa.Boolean(), nullable=False),
        sa.Column("seconds", sa.Double()),
        sa.Column("fault", sa.Text()),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("warnings", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["request"],
            ["requests.number"],
            name=op.f("fk_verdicts_requests"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("request", "attempt", "position", name=op.f("pk_verdicts")),
    )
