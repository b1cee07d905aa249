"""Ledgers as tests open them: in the test's own process."""

from proxy.ledger.address import LedgerAddress
from proxy.ledger.revision import bring_up_to_date
from proxy.ledger.store import Store, open_store


def store_at(address: LedgerAddress, writer: str = "a") -> Store:
    """An open ledger whose tables are up to date. Raises `LedgerTrouble`."""
    return open_store(address, writer, bring_up_to_date)
