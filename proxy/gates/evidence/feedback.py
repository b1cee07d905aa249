"""What a model is told of details that its sources do not bear, and what a client is told."""

from collections.abc import Sequence
from typing import Final

from proxy.gates.evidence.answers import PlacedFinding
from proxy.gates.evidence.findings import Finding, Kind, Span, Support

_MOST_TOLD: Final = 8
_MOST_REASONS: Final = 5
_CLAIM_CHARACTERS: Final = 80
_SOURCE_CHARACTERS: Final = 160
_NAMES: Final = {
    Kind.NUMBER: "a number",
    Kind.UNIT: "a unit",
    Kind.DATE: "a date or time",
    Kind.VERSION: "a version",
    Kind.IDENTIFIER: "an identifier",
    Kind.URL: "an address",
    Kind.QUOTATION: "a quotation",
    Kind.NAME: "a name",
    Kind.CAUSAL: "a cause",
    Kind.NEGATION: "a negation",
    Kind.NEW_WORDS: "a statement",
}


def reason_for(flags: Sequence[PlacedFinding]) -> str:
    """For the client: what is wrong, and on which characters; nothing of the reply itself."""
    told = [
        f"{_NAMES[flag.finding.kind]} ({flag.finding.support}) at {flag.place}, characters "
        f"{flag.span.start} to {flag.span.end}"
        for flag in flags[:_MOST_REASONS]
    ]
    more = len(flags) - len(told)
    rest = f"; and {more} more" if more else ""
    return f"The sources do not bear {'; '.join(told)}{rest}."


def correction(flags: Sequence[PlacedFinding], source: str) -> str:
    """For the model: each detail with the nearest source text. The nearest is no proof."""
    lines = [_line(flag.text, flag.finding, source) for flag in flags[:_MOST_TOLD]]
    return "\n".join(
        [
            "These details are not in the sources. Remove or correct each, and add nothing new:",
            *lines,
            "Write the whole answer again.",
        ]
    )


def _line(claim: str, finding: Finding, source: str) -> str:
    what = _NAMES[finding.kind]
    if finding.support is Support.UNIT_MISMATCH:
        what = "the sources have this figure for something else"
    line = f"- {_short(claim, _CLAIM_CHARACTERS)} ({what})"
    if finding.nearest is None:
        return line
    near = _short(_wide(finding.nearest, source), _SOURCE_CHARACTERS)
    return f"{line}; nearest in the sources: {near}"


def _wide(span: Span, source: str) -> str:
    """A range with some of the text around it, from blank to blank."""
    room = max(0, _SOURCE_CHARACTERS - (span.end - span.start)) // 2
    start, end = max(0, span.start - room), min(len(source), span.end + room)
    if start:
        start = min(span.start, source.find(" ", start, span.start) + 1 or span.start)
    if end < len(source):
        end = max(span.end, source.rfind(" ", span.end, end))
    return source[start:end]


def _short(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return f'"{flat}"' if len(flat) <= most else f'"{flat[:most]}..."'
