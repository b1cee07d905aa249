"""Passages between quotation marks, and whether a source has them word for word."""

import re
from collections.abc import Iterator
from typing import Final

from proxy.gates.evidence.findings import Span

_PAIRS: Final = re.compile(
    r"„([^„“”\n]{1,2000})[“”]|“([^“”\n]{1,2000})”|«([^«»\n]{1,2000})»|»([^«»\n]{1,2000})«"
    r"|\u2039([^\u2039\u203a\n]{1,2000})\u203a|(?<![\w\d])\"(?=\S|\s\w)([^\"\n]{1,2000})\"(?!\w)"
)
# "[...]", "[sie]": what the one who quotes has put there. Figures are never left to them.
_GAP: Final = re.compile(r"\[[^\]\d]{0,60}\]|\(\s?(?:…|\.\.\.)\s?\)|…|\.\.\.")
_MARKS: Final = re.compile(r"\[\^?\d{1,3}\]|[\"'„“”«»\u2039\u203a\u201a\u2018`*_#\u00ad]")
_BLANKS: Final = re.compile(r"\s+")
_BEFORE_SIGN: Final = re.compile(r" (?=[.,;:!?])")
_FEWEST_WORDS: Final = 3


def quotations(text: str) -> Iterator[Span]:
    """Where quoted passages of at least three words stand, without their marks.

    Shorter ones are titles, terms and irony far more often.
    """
    for match in _PAIRS.finditer(text):
        group = match.lastindex or 0
        if len(match[group].split()) >= _FEWEST_WORDS:
            yield Span(*match.span(group))


def quotation_form(text: str) -> str:
    """A text as quotations are compared: no marks, one kind of blank and case, ß as ss."""
    bare = _MARKS.sub("", text).casefold()
    return _BEFORE_SIGN.sub("", _BLANKS.sub(" ", bare)).strip()


def is_quoted_from(quotation: str, source_form: str) -> bool:
    """Whether all of a quotation stands in the source, in order around each gap ("[...]")."""
    at = 0
    for part in _GAP.split(quotation):
        form = quotation_form(part).strip(" .,;:!?-")
        if not form:
            continue
        at = _find_whole(source_form, form, at)
        if at < 0:
            return False
    return True


def _find_whole(source: str, form: str, at: int) -> int:
    """The end of the first place that does not begin or end inside a word; -1 for none."""
    while (at := source.find(form, at)) >= 0:
        end = at + len(form)
        before, after = source[at - 1 : at], source[end : end + 1]
        if not (before.isalnum() and form[0].isalnum()) and not (
            after.isalnum() and form[-1].isalnum()
        ):
            return end
        at += 1
    return -1
