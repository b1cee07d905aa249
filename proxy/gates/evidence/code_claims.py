"""Addresses, versions, identifiers and quotations of an answer, held against a source."""

import re
from collections.abc import Iterator

from proxy.gates.evidence.answer_text import AnswerText
from proxy.gates.evidence.codes import Code
from proxy.gates.evidence.findings import Finding, Kind, Span, Support
from proxy.gates.evidence.nearest import NearestSentences
from proxy.gates.evidence.quotations import is_quoted_from, quotation_form, quotations
from proxy.gates.evidence.source_index import SourceIndex


def code_findings(answer: AnswerText, index: SourceIndex, asked: SourceIndex) -> Iterator[Finding]:
    """A code that was asked about is no claim."""
    for code in answer.codes:
        found = _place_of(code, index)
        if found is None and _place_of(code, asked):
            continue
        support = Support.EXACT if found else Support.MISSING
        yield Finding(code.kind, support, Span(code.start, code.end), code.form, found)


def quotation_findings(
    answer: AnswerText, index: SourceIndex, asked: SourceIndex, nearest: NearestSentences
) -> Iterator[Finding]:
    spans = list(quotations(answer.text))
    if not spans:
        return
    source, question = quotation_form(index.text), quotation_form(asked.text)
    for span in spans:
        words = span.of(answer.text)
        if is_quoted_from(words, question):
            continue
        support = Support.EXACT if is_quoted_from(words, source) else Support.MISSING
        near = next(iter(nearest.spans(words)), None)
        yield Finding(Kind.QUOTATION, support, span, quotation_form(words), near)


def _place_of(code: Code, index: SourceIndex) -> Span | None:
    """Where a source has a code, however it separates its parts.

    What is not there at all is told by a plain search, which is many times faster.
    """
    form = code.form.lower()
    if code.kind is Kind.IDENTIFIER:
        if form not in index.squeezed:
            return None
        parts = re.findall(r"[^\W\d_]+|\d+", code.text.lower())
        joined = r"[\W_]{0,2}".join(map(re.escape, parts))
        pattern = rf"(?<![^\W_]){joined}(?![^\W_])"
    elif form not in index.lower:
        return None
    elif code.kind is Kind.URL:
        pattern = re.escape(form) + r"(?![\w-])"
    else:
        pattern = rf"(?<![\d.]){re.escape(form)}(?!\d)"
    match = re.search(pattern, index.lower)
    return Span(*match.span()) if match else None
