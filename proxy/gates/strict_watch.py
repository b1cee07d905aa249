"""Reads JSON answers while they arrive, and says at once when one cannot become valid any more."""

from collections.abc import Callable
from dataclasses import dataclass

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
            eye = self._eyes[choice] = _Eye(PrefixReader(self._limits))
        before = eye.fed
        eye.fed += len(content)
        finding = eye.reader.feed(content)
        if finding is None or self._is_spared(eye, finding, content[max(0, finding.at - before) :]):
            return None
        return self._explain(choice, finding)

    def _is_spared(self, eye: "_Eye", finding: Finding, junk: str) -> bool:
        if finding.fault is not Fault.LEADING_JUNK:
            return False
        eye.beginning += "" if eye.is_closed else junk
        eye.is_closed = eye.is_closed or self._spare_prose or eye.beginning.startswith(self._spared)
        return eye.is_closed or any(each.startswith(eye.beginning) for each in self._spared)


@dataclass(slots=True)
class _Eye:
    """What was seen of one choice: how much, and its beginning from the first junk on."""

    reader: PrefixReader
    fed: int = 0
    beginning: str = ""
    is_closed: bool = False
