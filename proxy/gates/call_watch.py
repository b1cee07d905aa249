"""Reads content while it arrives, and says at once when a tool call is written in it."""

from collections.abc import Callable, Collection

from typing_extensions import override

from proxy.gates.base import TextWatch, Verdict
from proxy.gates.call_markup import CallScanner
from proxy.gates.call_text import BareBeginning


class CallWatch(TextWatch):
    """The eyes on all choices of one stream; `explain` makes the verdict for a choice.

    `may_be_bare`: a text that begins as a call without mark-up is suspect until it is over.
    """

    def __init__(
        self, names: Collection[str], *, may_be_bare: bool, explain: Callable[[int], Verdict]
    ) -> None:
        self._names = names
        self._may_be_bare = may_be_bare
        self._explain = explain
        self._eyes: dict[int, _Eye] = {}

    @override
    def feed(self, choice: int, content: str) -> Verdict | None:
        eye = self._eyes.get(choice)
        if eye is None:
            eye = self._eyes[choice] = _Eye(self._names, may_be_bare=self._may_be_bare)
        return self._explain(choice) if eye.feed(content) else None

    @override
    def suspects(self, choice: int) -> bool:
        eye = self._eyes.get(choice)
        return eye is not None and eye.suspects


class _Eye:
    def __init__(self, names: Collection[str], *, may_be_bare: bool) -> None:
        self._scanner = CallScanner(names)
        self._beginning = BareBeginning() if may_be_bare else None

    @property
    def suspects(self) -> bool:
        bare = self._beginning is not None and self._beginning.suspects
        return bare or self._scanner.suspects

    def feed(self, content: str) -> bool:
        if self._beginning is not None:
            self._beginning.feed(content)
        return self._scanner.feed(content) is not None
