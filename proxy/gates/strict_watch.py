"""Reads JSON answers while they arrive, and says at once when one cannot become valid any more."""

from collections.abc import Callable

from typing_extensions import override

from proxy.errors import Fault
from proxy.gates.base import Verdict, Watch
from proxy.gates.json_prefix import Finding, Limits, PrefixReader


class StrictWatch(Watch):
    """The eyes on all choices of one stream.

    `spared` are beginnings that a repair could still save; `spare_prose` spares any text before
    the document, which a tool call may yet follow. What is spared is not watched further.
    """

    def __init__(
        self,
        limits: Limits,
        spared: tuple[str, ...],
        *,
        spare_prose: bool,
        explain: Callable[[int, Finding], Verdict],
    ) -> None:
        self._limits = limits
        self._spared = spared
        self._spare_prose = spare_prose
        self._explain = explain
        self._eyes: dict[int, _Eye] = {}

    @override
    def feed(self, choice: int, content: str) -> Verdict | None:
        eye = self._eyes.get(choice)
        if eye is None:
            eye = _Eye(PrefixReader(self._limits), self._spared, spare_prose=self._spare_prose)
            self._eyes[choice] = eye
        finding = eye.feed(content)
        return None if finding is None else self._explain(choice, finding)


class _Eye:
    def __init__(self, reader: PrefixReader, spared: tuple[str, ...], *, spare_prose: bool) -> None:
        self._reader = reader
        self._spared = spared
        self._spare_prose = spare_prose
        self._fed = 0
        self._beginning = ""  # from the first junk on
        self._is_closed = False

    def feed(self, content: str) -> Finding | None:
        if self._is_closed:
            return None
        finding = self._reader.feed(content)
        before = self._fed
        self._fed += len(content)
        return finding if finding is None else self._unless_spared(finding, content, before)

    def _unless_spared(self, finding: Finding, content: str, before: int) -> Finding | None:
        if finding.fault is not Fault.LEADING_JUNK:
            return finding
        self._beginning += content[max(0, finding.at - before) :]
        self._is_closed = self._spare_prose or self._beginning.startswith(self._spared)
        may_open = any(opening.startswith(self._beginning) for opening in self._spared)
        return None if self._is_closed or may_open else finding
