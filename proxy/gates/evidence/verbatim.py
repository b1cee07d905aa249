"""Whether a quotation stands in a sentence letter by letter; only typography may differ.

Never by likeness: a quotation with one digit changed is more than 95 % alike.
"""

import re
from typing import Final

from proxy.gates.evidence.plain_text import plain_text
from proxy.gates.evidence.quantity import SCALES

_GAP: Final = re.compile(r"[\[(]\s*(?:\u2026|\.{3,})\s*[\])]|\u2026|\.{3,}")
_MARKS: Final = re.compile(
    "[\"'`\u00b4\u2018-\u201f\u2032-\u2037\u2039\u203a\u00ab\u00bb\u300c-\u300f\u301d-\u301f]"
)
# "1'250" is 1250, but 5'7 is not 57.
_GROUP: Final = re.compile(r"\d{3}(?!\d)")
_DASHES: Final = re.compile(r"-{2,}")
_BLANKS: Final = re.compile(r"\s+")
_WORD: Final = re.compile(r"\S*\w\S*")
# What makes one number of two digits beside it.
_BINDING: Final = ".,:/' "
_BEHIND: Final = re.compile(r" ?([^\W\d_]+|[%‰])")
_SHARES: Final = frozenset("%‰")
_FEWEST_WORDS: Final = 3
_FEWEST_IN_PART: Final = 2


def verbatim_form(text: str) -> str:
    """NFKC but for small figures, no quotation marks, one kind of dash and blank, ß as ss."""
    plain = plain_text(text).text
    bare = _MARKS.sub(lambda mark: _kept(plain, mark.start()), plain).replace("ß", "ss")
    return _BLANKS.sub(" ", _DASHES.sub("-", bare)).strip()


def is_verbatim(quote: str, sentence: str) -> bool:
    """Whether a quotation stands in a sentence, its parts around each gap ("[…]") in order.

    It must have at least three words, each part at least two, or be the whole sentence: a single
    word stands almost anywhere. No part may begin or end inside a word or a number.
    """
    form = verbatim_form(sentence)
    whole = verbatim_form(quote)
    if whole == form:
        return bool(form)
    parts = [part.strip() for part in _GAP.split(whole)]
    parts = [part for part in parts if part]
    counts = [len(_WORD.findall(part)) for part in parts]
    if sum(counts) < _FEWEST_WORDS or min(counts) < _FEWEST_IN_PART:
        return False
    at = 0
    for part in parts:
        at = _end_of(part, form, at)
        if at < 0:
            return False
    return True


def _kept(text: str, at: int) -> str:
    """What becomes of a quotation mark: between two digits it may be more than that."""
    is_inside = text[at - 1 : at].isdigit() and text[at + 1 : at + 2].isdigit()
    return "'" if is_inside and not _GROUP.match(text, at + 1) else ""


def _end_of(part: str, form: str, at: int) -> int:
    """The end of the first place of a part from `at` on that cuts nothing; -1 for none."""
    while (at := form.find(part, at)) >= 0:
        end = at + len(part)
        if not (_cuts(form, at) or _cuts(form, end)):
            return end
        at += 1
    return -1


def _cuts(form: str, at: int) -> bool:
    """Whether a place lies inside a word or a number, or between a number and its sign."""
    before, after = form[max(0, at - 1) : at], form[at : at + 1]
    if before.isalnum():
        is_one = after.isalnum() or _binds(after, before, form[at + 1 : at + 2])
        return is_one or (before.isdigit() and _has_scale(form, at))
    if before == "-" and after.isdigit():
        return True
    return _binds(before, form[max(0, at - 2) : max(0, at - 1)], after)


def _has_scale(form: str, at: int) -> bool:
    """Whether "Millionen" or "%" follows, without which a number is another one."""
    behind = _BEHIND.match(form, at)
    return behind is not None and (behind[1] in _SHARES or behind[1].lower() in SCALES)


def _binds(sign: str, before: str, after: str) -> bool:
    """Whether a sign makes one number, or one word, of what stands on both sides of it."""
    if sign == "-":
        return before.isalnum() and after.isalnum()
    return sign != "" and sign in _BINDING and before.isdigit() and after.isdigit()
