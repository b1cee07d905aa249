"""Reads texts while they arrive, and says at once when a forbidden wording is in one for good."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from typing_extensions import override

from proxy.gates.base import Verdict, Watch
from proxy.gates.code_mask import CodeMask
from proxy.gates.wordings import AnyWording

# A search begins anew at the start of the text: searching after every tenth more keeps the sum
# linear, and what is longer than this is left to the judgement of the whole.
_LEAST_MORE: Final = 64
_SHARE_MORE: Final = 10
_WATCHED_CHARACTERS: Final = 32_768


class PatternWatch(Watch):
    """The eyes on all choices of one stream; `explain` has the last word on a match."""

    def __init__(
        self, forbidden: AnyWording, explain: Callable[[int, str], Verdict | None]
    ) -> None:
        self._forbidden = forbidden
        self._explain = explain
        self._eyes: dict[int, _Eye] = {}

    @override
    def feed(self, choice: int, content: str) -> Verdict | None:
        eye = self._eyes.setdefault(choice, _Eye())
        if not eye.takes(content) or not self._forbidden.has_matched("".join(eye.masked)):
            return None
        return self._explain(choice, "".join(eye.pieces))


@dataclass(slots=True)
class _Eye:
    """One text so far, with and without its code, and at which length a search is due."""

    mask: CodeMask = field(default_factory=CodeMask)
    pieces: list[str] = field(default_factory=list)
    masked: list[str] = field(default_factory=list)
    length: int = 0
    due: int = _LEAST_MORE
    may_be_json: bool | None = None

    def takes(self, content: str) -> bool:
        """Add a piece; whether to search now. What may become a JSON answer is not watched."""
        if self.may_be_json is None and content.strip():
            self.may_be_json = content.lstrip()[0] in "{["
        if self.length > _WATCHED_CHARACTERS or self.may_be_json:
            return False
        self.length += len(content)
        self.pieces.append(content)
        self.masked.append(self.mask.feed(content))
        if self.length < self.due:
            return False
        self.due = self.length + max(_LEAST_MORE, self.length // _SHARE_MORE)
        return True
