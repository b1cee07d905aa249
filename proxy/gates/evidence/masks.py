"""What in an answer is no claim: fenced code, list numbers, citation marks. Offsets stay."""

import re
from typing import Final

from proxy.gates.evidence.months import MONTH

_FENCE: Final = re.compile(
    r"^[ \t>]*(?P<mark>```+|~~~+)[^\n]*\n.*?(?:^[ \t>]*(?P=mark)[`~]*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
# A day or an ordinal may begin a line too: "3. Oktober", "19. Jahrhundert".
_LIST_NUMBER: Final = re.compile(
    r"^[ \t>#*-]*(?:\d{1,3}(?:\.\d{1,3}){0,3}[.)]|\(\d{1,3}\)"
    r"|\d{1,2}(?:\.\d{1,2})+(?=[ \t]+[A-ZÄÖÜ]))"
    rf"(?=[ \t*])(?![ \t]+(?:(?:{MONTH}|Quartal|Auflage|Platz|Mal)\b|Jahr[htz]|Halbj))",
    re.MULTILINE | re.IGNORECASE,
)
_CITATION: Final = re.compile(
    r"\[\^?\d{1,3}(?:[ ]?[,;-][ ]?\^?\d{1,3})*\](?!\()"
    r"|【[^】\n]{1,40}】"
    r"|[\u00b9\u00b2\u00b3\u2070-\u2079]+(?<![A-Za-z][\u00b2\u00b3])"
    r"|\((?:Quelle|Source|Ref\.?|Abb\.?|Fig\.?|Tab\.?)[ ]\d{1,3}\)",
    re.IGNORECASE,
)


# "Schritt 2:" numbers the answer's own parts; "24/7" is a saying.
_OWN_PART: Final = re.compile(
    r"^[ \t>#*_-]*(?:Schritt|Punkt|Teil|Abschnitt|Option|Variante|Beispiel|Grund|Frage|Tipp|Step"
    r"|Part|Section|Example|Reason|Question|Tip) (\d{1,2})(?=[ \t]?[:.)*_-]|[ \t]*$)",
    re.MULTILINE | re.IGNORECASE,
)
_SAYING: Final = re.compile(r"(?<![\w/])24/7(?![\w/])")


def without_marks(text: str) -> str:
    """The same text, as long as before, with blanks where no claim is."""
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(_blank, text)
    text = _SAYING.sub(_blank, _OWN_PART.sub(_blank, _LIST_NUMBER.sub(_blank, text)))
    return _CITATION.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    return "".join("\n" if sign == "\n" else " " for sign in match[0])
