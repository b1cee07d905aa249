"""The ledger: engine starts and requests in a database, written by a thread of its own."""
