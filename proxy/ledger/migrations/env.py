"""What alembic runs around the migrations: on the connection that is handed to it."""

from alembic import context

from proxy.ledger.revision import VERSION_TABLE
from proxy.ledger.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    # SQLite changes a column by making the table anew.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
