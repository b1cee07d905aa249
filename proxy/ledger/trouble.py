"""What can be wrong with the ledger itself, in words for whoever must mend it."""

from enum import StrEnum
from typing import Final

from typing_extensions import override

from proxy.errors import SluicegateError


class Trouble(StrEnum):
    """Why the ledger cannot be used now."""

    LOCKED = "locked"
    CORRUPT = "corrupt"
    NO_DATABASE = "no_database"
    FOREIGN = "foreign"
    NEWER = "newer"
    OLDER = "older"
    FULL = "full"
    READ_ONLY = "read_only"
    NO_FOLDER = "no_folder"
    MISSING = "missing"
    GONE = "gone"
    UNREACHABLE = "unreachable"
    REFUSED = "refused"
    BROKEN = "broken"


_SAID: Final = {
    Trouble.LOCKED: "is locked by another program",
    Trouble.CORRUPT: "is damaged; it is left as it is: move it away, or mend it",
    Trouble.NO_DATABASE: "is no SQLite database; it is left as it is: name another file",
    Trouble.FOREIGN: "holds tables of another program; name another database",
    Trouble.NEWER: "was made by a newer Sluicegate; upgrade, or name another file or database",
    Trouble.OLDER: "was made by an older Sluicegate; `sluicegate serve` brings it up to date",
    Trouble.FULL: "has no room: the disk is full",
    Trouble.READ_ONLY: "may not be written; check the rights of file and folder, or of the role",
    Trouble.NO_FOLDER: "has no folder to stand in; make it, or name another file",
    Trouble.MISSING: "is not there; `sluicegate serve` makes it, `--config FILE` or `--url URL` "
    "names another",
    Trouble.GONE: "was moved or deleted while it was open; it is made anew",
    Trouble.UNREACHABLE: "cannot be reached",
    Trouble.REFUSED: "refuses records",
    Trouble.BROKEN: "does not work",
}


class LedgerTrouble(SluicegateError):
    """The ledger cannot be used now. `detail` is the database's own word, without secrets."""

    def __init__(self, kind: Trouble, shown: str, detail: str = "") -> None:
        super().__init__(kind, shown, detail)
        self.kind = kind
        self.shown = shown
        self.detail = detail

    @override
    def __str__(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        return f"the ledger {self.shown} {_SAID[self.kind]}{detail}"
