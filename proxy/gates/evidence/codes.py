"""What is written exactly or wrongly: addresses, versions, identifiers, long digit strings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from proxy.gates.evidence.findings import Kind


@dataclass(frozen=True, slots=True)
class Code:
    """`form`: the same for all ways of writing it; letters in lower case, no separators."""

    kind: Kind
    start: int
    end: int
    text: str

    @property
    def form(self) -> str:
        if self.kind is Kind.URL:
            return url_form(self.text)
        text = self.text.lower()
        if self.kind is Kind.VERSION:
            return text.lstrip("v").strip(".")
        return re.sub(r"[\W_]+", "", text)


_URL: Final = (
    r"(?P<url>\bhttps?://[^\s<>\"'`{}|\\^\[\]()]+(?:\([^\s()]*\)[^\s<>\"'()]*)?"
    r"|\bwww\.[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}(?:/[^\s<>\"'`()\[\]]*)?"
    r"|(?<![\w@.-])(?:[a-z0-9][a-z0-9-]{0,62}\.){1,8}(?:com|org|net|io|dev|ch|de|at|eu|uk|gov|edu|info|ai|app)"
    r"\b(?:/[^\s<>\"'`()\[\]]*)?)"
)
_MAIL: Final = r"(?P<mail>(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})"
_VERSION: Final = (
    r"(?P<version>(?<![\w.])[vV]\d+(?:\.\d+)*(?:[-+.]?(?:rc|alpha|beta|dev|post|a|b)[.-]?\d+)?(?![\w])"
    r"|(?<![\w.,])\d{1,4}(?:\.\d{1,4}){2,4}(?:[-+.]?(?:rc|alpha|beta|dev|post|a|b)[.-]?\d*)?(?!\w|,\d)"
    r"|(?<=[Vv]ersion )\d+(?:\.\d+)*(?:[-.]?(?:rc|alpha|beta)\d*)?(?!\w))"
)
_LONG: Final = (
    r"(?P<long>(?<![\w.,])(?:\+|00)\d{1,3}(?:[ ()/-]{1,2}\d{2,5}){2,6}(?!\w)"
    r"|(?<![\w.,-])\d{2,5}(?:-\d{1,7}){2,5}(?![\w-])|(?<![\w.,])\d{16,}(?!\w))"
)
# "LX 317", "open_session()", and words of letters and digits or with underscores. Looking ahead is
# bounded, so that a text of nothing but dashes takes no longer than any other.
_NAME: Final = (
    r"(?P<name>(?<![\w.])(?:[A-Z]{2,4} \d{2,5}(?!\w|[.,-]\d)|\w{1,64}\(\)"
    r"|(?=[\w.-]{0,60}?[\d_])[A-Za-z]\w{0,63}(?:[._-]\w{1,64}){0,8}))"
)
_CODE: Final = re.compile(f"{_URL}|{_MAIL}|{_VERSION}|{_LONG}|{_NAME}")
_IDENTIFIER: Final = re.compile(
    r"(?=.*[\d_(])(?:[A-Za-z]+-?\d|\w+ \d|\w+\(|\w*_\w|[\w.-]*\d)[\w.() -]*"
)
# "pre-2019", "mid-1990s", "Mitte-2020": a word before a number.
_NO_CODE: Final = re.compile(r"Q[1-4]\Z|[A-Za-z][a-z]{2,}-\d+(?:s|er)?\Z|.*_\Z", re.ASCII)
# Short forms that say no more than the words they stand for.
_COMMON: Final = frozenset(
    {"co2", "h2o", "o2", "o3", "h2", "n2", "ch4", "no2", "so2", "b2b", "b2c", "mp3", "mp4", "a4"}
)
_TRAILING: Final = ".,;:!?'\"*_"


def codes(text: str) -> Iterator[Code]:
    """All codes in their order."""
    for match in _CODE.finditer(text):
        group = match.lastgroup or ""
        found = match[0].rstrip(_TRAILING)
        end = match.start() + len(found)
        if group == "url":
            yield Code(Kind.URL, match.start(), end, found)
        elif group == "version":
            if not re.fullmatch(r"\d{1,2}\.\d{1,2}\.(?:\d{4}|\d{2})", found):
                yield Code(Kind.VERSION, match.start(), end, found)
        elif group in ("mail", "long"):
            if group == "mail" or not _is_date_like(found):
                yield Code(Kind.IDENTIFIER, match.start(), end, found)
        elif _is_identifier(found):
            yield Code(Kind.IDENTIFIER, match.start(), end, found)


def _is_identifier(text: str) -> bool:
    is_code = _IDENTIFIER.fullmatch(text) is not None and _NO_CODE.match(text) is None
    return is_code and text.lower() not in _COMMON


def url_form(url: str) -> str:
    """An address without its scheme, `www.`, case of the host, and a slash at the end."""
    bare = re.sub(r"^(?:https?://)?(?:www\.)?", "", url, flags=re.IGNORECASE)
    host, slash, path = bare.partition("/")
    return (host.lower() + slash + path).rstrip("/#?")


def _is_date_like(text: str) -> bool:
    return re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}-\d{1,2}-\d{4}", text) is not None
