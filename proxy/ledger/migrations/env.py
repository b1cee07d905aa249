"""What alembic runs around the migrations: on the connection that is handed to it."""

from alembic import context

from proxy.ledger.tables import METADATA
from proxy.ledger.version import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    # SQLite changes a column by making the table anew.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
