"""Blanks out the code of a Markdown text as it arrives, so that quoted mark-up is not read as real.

Code is a fenced block, closed or not, and what stands between equal runs of backticks on one line.
"""

import re

CODE = "\x00"
_RUN = re.compile(r"`+|~+|\n|[^`~\n]+")
_HELD = re.compile(r"(?:`+|~+)\Z")
_BEFORE_FENCE = re.compile(r"[ \t>*+-]*(?:\d{1,9}[.)][ \t]+)?")
_SHORTEST_FENCE = 3
_LINE_KEPT = 64


class CodeMask:
    """The state of one text. The masked text is the same however the pieces are cut."""

    def __init__(self) -> None:
        self._held = ""  # a run of backticks or tildes that may go on
        self._line = ""  # the beginning of the line in hand
        self._fence = ""
        self._opening = False  # on the line that opens the fence
        self._closing = False  # on a line that so far closes it
        self._inline = ""

    def feed(self, piece: str) -> str:
        """Take the next piece; return what can be told by now, each character of code as `CODE`."""
        text = self._held + piece
        held = _HELD.search(text)
        self._held = held[0] if held else ""
        return self._masked(text[: len(text) - len(self._held)])

    def finish(self) -> str:
        text, self._held = self._held, ""
        return self._masked(text)

    def _masked(self, text: str) -> str:
        return "".join(self._mask(run) for run in _RUN.findall(text))

    def _mask(self, run: str) -> str:
        if run == "\n":
            self._end_line()
            return run
        is_code = self._marks(run) if run[0] in "`~" else self._text(run)
        self._line = (self._line + run)[:_LINE_KEPT]
        return CODE * len(run) if is_code else run

    def _end_line(self) -> None:
        if self._closing:
            self._fence = ""
        self._line = self._inline = ""
        self._opening = self._closing = False

    def _text(self, run: str) -> bool:
        if self._closing and run.strip():
            self._closing = False
        return bool(self._fence or self._inline)

    def _marks(self, run: str) -> bool:
        begins_line = _BEFORE_FENCE.fullmatch(self._line) is not None
        if self._fence:
            if self._opening and run[0] == "`" == self._fence[0]:
                self._fence = ""  # code on one line after all
            elif begins_line and run.startswith(self._fence):
                self._closing = True
            return True
        if begins_line and not self._inline and len(run) >= _SHORTEST_FENCE:
            self._fence = run
            self._opening = True
            return True
        if run[0] == "~":
            return bool(self._inline)
        if not self._inline:
            self._inline = run
        elif self._inline == run:
            self._inline = ""
        return True


def without_code(text: str) -> str:
    """The text with each character of code as `CODE`."""
    if "`" not in text and "~" not in text:
        return text
    mask = CodeMask()
    return mask.feed(text) + mask.finish()
