"""Whether the ledger works, and one line for whoever must mend it each time that changes."""

from collections.abc import Callable

from proxy.ledger.trouble import LedgerTrouble, Trouble


class Condition:
    """Told of every success and failure; `say` writes a line for changes alone."""

    def __init__(self, shown: str, say: Callable[[str], None]) -> None:
        self._shown = shown
        self._say = say
        self._trouble: Trouble | None = None
        self._told_refusal = False
        self._lost = 0
        self.works = False

    def fails(self, trouble: LedgerTrouble) -> None:
        self.works = False
        if trouble.kind is self._trouble:
            return
        self._trouble = trouble.kind
        self._told_refusal = False
        self._say(
            f"{_sentence(trouble)} Requests are served as ever; what is to be recorded waits in "
            "memory, and is lost where that gets too much."
        )

    def succeeds(self, dropped: int) -> None:
        """`dropped`: how many records were lost since the start."""
        lost, self._lost = dropped - self._lost, dropped
        self.works = True
        if self._trouble is not None:
            self._trouble = None
            self._say(f"The ledger {self._shown} works again; {lost} records were lost.")

    def refuses(self, trouble: LedgerTrouble) -> None:
        """Records were refused while others were taken: something is wrong with these."""
        if not self._told_refusal:
            self._told_refusal = True
            self._say(f"{_sentence(trouble)} They are lost; further ones only count.")

    def ends(self, lost: int) -> None:
        """The program ends, and so many records could not be written any more: the last word."""
        if lost:
            self._say(f"The ledger {self._shown} did not take the last {lost} records in time.")
        self._say = _say_nothing


def _say_nothing(_: str) -> None:
    """A writer that was stuck may wake up after the end."""


def _sentence(trouble: LedgerTrouble) -> str:
    text = str(trouble)
    return f"{text[0].upper()}{text[1:]}."
