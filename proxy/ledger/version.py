"""The version of the ledger's tables that this program reads and writes."""

from typing import Final

from proxy.ledger.address import LedgerAddress
from proxy.ledger.trouble import LedgerTrouble, Trouble

# The newest file in migrations/versions. Revisions are numbers, so newer ones can be told.
HEAD: Final = "0001"
# Not alembic's own name for it, since another program may share the database.
VERSION_TABLE: Final = "sluicegate_ledger_version"


def refuse_newer(revision: str, address: LedgerAddress) -> None:
    """Raises `LedgerTrouble` for a revision that this program does not know."""
    if not revision.isdecimal() or int(revision) > int(HEAD):
        detail = f"revision {revision[:32]}, this version knows {HEAD}"
        raise LedgerTrouble(Trouble.NEWER, address.shown, detail)
