"""A text without what only looks different: widths, dashes, blanks, invisible signs, entities.

Everything is searched in the plain text; places are told in the text as it was.
"""

import html
import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

_ENTITY: Final = r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});"
_ENTITIES: Final = re.compile(_ENTITY)
_COMBINED: Final = r"[^\W\d_][\u0300-\u036f]+"
# Signs that would become a digit beside a number, or a quotation's end.
_KEPT: Final = frozenset({"<super>", "<sub>", "<fraction>", "<circle>"})
_BY_CATEGORY: Final = {"Cf": "", "Pd": "-", "Zs": " ", "Cs": "\ufffd"}
_SIGNS: Final = {
    **{chr(code): "" for code in range(0xFE00, 0xFE10)},  # how the sign before is drawn
    "\u2019": "'",
    "\u02bc": "'",
    "\u2032": "'",
    "\u2212": "-",
    "\u2026": "\u2026",
    "\u2044": "/",
    "\u2028": "\n",
    "\u2029": "\n",
}


@dataclass(frozen=True, slots=True)
class PlainText:
    """A plain text that knows where it came from.

    `_replaced`: start and end of each replacement in it, and those of what was replaced.
    """

    text: str
    _replaced: tuple[tuple[int, int, int, int], ...] = ()

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Where a range of the plain text stood in the text as it was."""
        begin = self._around(start)[0]
        return begin, max(begin, self._around(end - 1)[1]) if end > start else begin

    def _around(self, at: int) -> tuple[int, int]:
        """The range in the text as it was that became the sign at a place."""
        place = bisect_right(self._replaced, (at, len(self.text) + 1)) - 1
        if place < 0:
            return at, at + 1
        _, stop, own_start, own_stop = self._replaced[place]
        if at < stop:
            return own_start, own_stop
        return own_stop + at - stop, own_stop + at - stop + 1


def plain_text(text: str) -> PlainText:
    """Linear in the length of the text, whatever it holds."""
    if text.isascii() and not ("&" in text and _ENTITIES.search(text)):
        return PlainText(text)
    table = {sign: _plain(sign) for sign in set(text) if not sign.isascii()}
    for sign, plain in table.items():
        if len(plain) == 1 and plain != sign:
            text = text.replace(sign, plain)
    odd = "".join(sign for sign, plain in table.items() if len(plain) != 1)
    if not odd and "&" not in text and unicodedata.is_normalized("NFC", text):
        return PlainText(text)
    parts = [_ENTITY, _COMBINED] + ([f"[{re.escape(odd)}]"] if odd else [])
    pieces: list[str] = []
    replaced: list[tuple[int, int, int, int]] = []
    done = length = 0
    for match in re.finditer("|".join(parts), text):
        new = _replaced(match[0], table)
        piece = text[done : match.start()]
        pieces += (piece, new)
        length += len(piece)
        replaced.append((length, length + len(new), *match.span()))
        length += len(new)
        done = match.end()
    pieces.append(text[done:])
    return PlainText("".join(pieces), tuple(replaced))


def _replaced(found: str, table: dict[str, str]) -> str:
    if found.startswith("&"):
        found = html.unescape(found)
        return "".join(sign if sign.isascii() else _plain(sign) for sign in found)
    if len(found) > 1:
        return unicodedata.normalize("NFC", found)
    return table[found]


def _plain(sign: str) -> str:
    if sign in _SIGNS:
        return _SIGNS[sign]
    category = unicodedata.category(sign)
    if category in _BY_CATEGORY:
        return _BY_CATEGORY[category]
    if category == "Nd":
        return str(unicodedata.decimal(sign))
    if unicodedata.decomposition(sign).split(" ")[0] in _KEPT:
        return sign
    return unicodedata.normalize("NFKC", sign)
