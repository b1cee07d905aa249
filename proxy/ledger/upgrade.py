"""Runs the migrations: the one home of alembic."""

import threading
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

MIGRATIONS: Final = Path(__file__).resolve().parent / "migrations"
# Alembic keeps what it works on in its modules: migrations at once would mix their databases up.
_ONE_AT_A_TIME: Final = threading.Lock()


def upgrade(connection: Connection, revision: str) -> None:
    """Run what leads to a revision, inside the connection's transaction."""
    config = migration_config()
    config.attributes["connection"] = connection
    with _ONE_AT_A_TIME:
        command.upgrade(config, revision)


def migration_config() -> Config:
    """What alembic must know: the folder of the migrations. No file is read."""
    config = Config()
    # Its values know %-substitution.
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
