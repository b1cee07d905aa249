"""The language in which a request wants its reply: the one it names, else the one it is written in.

Sources inside the request may be in any language, so blocks in tags and code do not count.
"""

import re
from typing import Final

from proxy.gates.code_mask import CODE, CodeMask
from proxy.gates.language import NAMES, LanguageReader
from proxy.gates.request_texts import texts_of
from proxy.wire.request import Request

_SPELLINGS: Final = {
    "de": r"(?:hoch)?deutsch(?:e|er Sprache)?|german|allemand|tedesco",
    "en": r"englisch(?:e|er Sprache)?|english|anglais|inglese",
    "fr": r"französisch(?:e|er Sprache)?|french|français|francese",
    "it": r"italienisch(?:e|er Sprache)?|italian|italien|italiano",
    "": r"(?:span|chines|japan|russ|türk|poln|portugies|niederländ|ukrain|arab|korean)isch(?:e)?"
    r"|spanish|chinese|japanese|russian|turkish|polish|portuguese|dutch|ukrainian|arabic|korean",
}
_ASKED_FOR: Final = re.compile(
    r"\b(?:auf|in|ins|into|en)\s+(?:\w+(?:em|es)\s+|simple\s+|plain\s+|correct\s+)?(?:"
    + "|".join(f"(?P<l{code}>{spelling})" for code, spelling in _SPELLINGS.items())
    + r")\b",
    re.IGNORECASE,
)
# A language that is mentioned without "in" may be the wanted one all the same.
_MENTIONED: Final = re.compile(
    rf"\b(?:{'|'.join(_SPELLINGS.values())}|deutsch\w{{0,3}}|englisch\w{{0,3}}|übersetz\w*"
    r"|translat\w+|tradu\w+)\b",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"<(/?)([A-Za-z][\w.-]{0,63})(?:\s[^<>]*)?>")
_INSTRUCTING: Final = frozenset({"system", "developer"})


def asked_language(request: Request, reader: LanguageReader) -> str | None:
    """An ISO 639 code, or `OTHER_SCRIPT`; None where it cannot be told, so nothing can be wrong."""
    texts = list(texts_of(request))
    users = [_own_words(message.text) for message in texts if message.role == "user"]
    orders = [_own_words(message.text) for message in texts if message.role in _INSTRUCTING]
    last = users[-1] if users else ""
    asked = "\n".join([*orders, last])
    named = {str(found.lastgroup)[1:] for found in _ASKED_FOR.finditer(asked)}
    if named:
        return named.pop() or None if len(named) == 1 else None
    if _MENTIONED.search(asked):
        return None
    return reader.of(last) or reader.of("\n".join([*orders, *users]))


def name_of(language: str) -> str:
    return NAMES.get(language, f"the language {language}")


def _own_words(text: str) -> str:
    """The text without code and without blocks in tags."""
    mask = CodeMask()
    masked = (mask.feed(text) + mask.finish()).replace(CODE, " ")
    tags = list(_TAG.finditer(masked))
    closed = {tag[2]: tag.start() for tag in tags if tag[1]}
    words: list[str] = []
    inside, end = "", 0
    for tag in tags:
        if inside:
            if tag[1] and tag[2] == inside:
                inside, end = "", tag.end()
        elif not tag[1] and closed.get(tag[2], -1) > tag.start():
            words.append(masked[end : tag.start()])
            inside = tag[2]
    return " ".join([*words, masked[end:]])
