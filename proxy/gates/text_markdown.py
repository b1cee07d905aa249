"""What a reader sees of Markdown: no marks of emphasis, headings or lists, no links' addresses."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from proxy.gates.text_html import strip_html

if TYPE_CHECKING:
    from markdown_it.token import Token

_CODE: Final = frozenset({"fence", "code_block"})
_BREAKS: Final = frozenset({"softbreak", "hardbreak"})
_CELLS: Final = frozenset({"th_open", "td_open"})


class MarkdownText:
    """Reads CommonMark with tables and strikethrough; code counts as text, images do not."""

    def __init__(self) -> None:
        from markdown_it import MarkdownIt  # noqa: PLC0415 - only for policies that strip it

        self._reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])

    def strip(self, text: str) -> str:
        """All that a reader sees: its paragraphs, list items and table rows as blocks of text."""
        return "\n\n".join(block for block in self._blocks(text) if block)

    def _blocks(self, text: str) -> Iterator[str]:
        row: list[str] = []
        in_row = False
        for token in self._reader.parse(text):
            if token.type == "tr_open":
                in_row = True
            elif token.type == "tr_close":
                yield " ".join(filter(None, row))
                row, in_row = [], False
            elif (seen := _seen(token)) is not None:
                if in_row:
                    row.append(seen)
                else:
                    yield seen


def _seen(block: "Token") -> str | None:
    """The text of a block that has one."""
    if block.type == "inline":
        return "".join(_inline(block.children or ())).strip()
    if block.type in _CODE:
        return block.content.strip("\n")
    return strip_html(block.content).strip() if block.type == "html_block" else None


def _inline(tokens: "Sequence[Token]") -> Iterable[str]:
    for token in tokens:
        if token.type in _BREAKS:
            yield "\n"
        elif token.type == "html_inline":
            yield strip_html(token.content)
        elif token.type != "image":
            yield token.content
