"""The tables of the ledger, as they are now; migrations/ holds how they came about.

Instants are Unix seconds. Lists of words are joined by commas, facts and warnings are JSON. There
is no prompt and no reply in them.
"""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Identity,
    Integer,
    MetaData,
    Table,
    Text,
)

METADATA: Final = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)

# SQLite counts up by itself only in a column that is spelled INTEGER.
_Number: Final = BigInteger().with_variant(Integer, "sqlite")

# `first_writer` tells which run of which proxy reported the first answer.
ENGINE_STARTS: Final = Table(
    "engine_starts",
    METADATA,
    Column("lane", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("told_by", Text, nullable=False),
    Column("seen_at", Double, nullable=False, index=True),
    Column("started_at", Double),
    Column("ready_seconds", Double),
    Column("untouched", Boolean),
    Column("woke", Boolean, nullable=False),
    Column("first_answer", Text, nullable=False),
    Column("first_by", Text),
    Column("first_fault", Text),
    Column("first_writer", Text),
    Column("retry_step", Text),
    Column("retry_valid", Boolean),
    Column("cured_by", Text),
    Column("certified_at", Double),
    Column("over_at", Double),
    Column("facts", Text, nullable=False),
)

# `id` is the x-request-id, which clients may choose and repeat. `decided_attempt` is the attempt
# whose verdicts are the request's.
REQUESTS: Final = Table(
    "requests",
    METADATA,
    Column("number", _Number, Identity(), primary_key=True),
    Column("id", Text, nullable=False, index=True),
    Column("received_at", Double, nullable=False, index=True),
    Column("endpoint", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("stream", Boolean, nullable=False),
    Column("policy", Text),
    Column("key", Text),
    Column("error_code", Text),
    Column("decided_attempt", Integer),
    Column("repairs", Text, nullable=False),
    Column("unchecked", Text, nullable=False),
    Column("duration_seconds", Double),
    Column("queue_seconds", Double),
    Column("overhead_seconds", Double),
    Column("hold_seconds", Double),
    Column("ttfr_seconds", Double),
    Column("ttft_seconds", Double),
    Column("tokens_per_second", Double),
    Column("prompt_tokens", BigInteger),
    Column("completion_tokens", BigInteger),
    Column("failed_attempt_tokens", BigInteger),
)

ATTEMPTS: Final = Table(
    "attempts",
    METADATA,
    Column(
        "request",
        _Number,
        ForeignKey("requests.number", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("step", Text, nullable=False),
    Column("result", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("cold", Boolean, nullable=False),
    Column("sample", Text),
    Column("seconds", Double),
    Column("faults", Text, nullable=False),
    Column("ttfr_seconds", Double),
    Column("completion_tokens", BigInteger),
)

VERDICTS: Final = Table(
    "verdicts",
    METADATA,
    Column(
        "request",
        _Number,
        ForeignKey("requests.number", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("gate", Text, nullable=False),
    Column("result", Text, nullable=False),
    Column("enforced", Boolean, nullable=False),
    Column("seconds", Double),
    Column("fault", Text),
    Column("place", Text, nullable=False),
    Column("warnings", Text, nullable=False),
)
