"""The hints about one answer: names, causes, negations and words that its source does not have."""

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from proxy.gates.evidence.findings import Finding, Kind, Span, Support
from proxy.gates.evidence.hints import (
    Hint,
    causal_hints,
    negation_hint,
    new_answer_hint,
    new_word_hints,
)
from proxy.gates.evidence.names import KnownNames, new_names
from proxy.gates.evidence.nearest import NearestSentences
from proxy.gates.evidence.source_index import SourceIndex
from proxy.gates.evidence.vocabulary import Vocabulary


class HintClaims:
    """Holds the words of one answer against one source. `text` is the answer without its marks."""

    def __init__(
        self,
        text: str,
        language: str,
        index: SourceIndex,
        asked: SourceIndex,
        nearest: NearestSentences,
    ) -> None:
        self._text = text
        self._language = language
        self._index = index
        self._asked = asked
        self._nearest = nearest

    @cached_property
    def _known(self) -> list[Vocabulary]:
        return [self._index.vocabulary, Vocabulary([self._asked.text], self._language)]

    def findings(
        self, spans: Sequence[Span], about: Collection[Span], kinds: frozenset[Kind]
    ) -> Iterator[Finding]:
        """Hints of these kinds. Sentences `about` the source itself have words of their own."""
        if Kind.NAME in kinds:
            yield from self._names(spans, is_about=bool(about))
        if Kind.CAUSAL in kinds:
            yield from self._causes(spans)
        if Kind.NEGATION in kinds:
            yield from self._denials(spans)
        if Kind.NEW_WORDS in kinds:
            yield from self._new_words([span for span in spans if span not in about])
            if not about and (whole := new_answer_hint(self._text, self._language, self._known)):
                yield self._missing(Kind.NEW_WORDS, whole)

    def _names(self, spans: Sequence[Span], *, is_about: bool) -> Iterator[Finding]:
        """Names in sentences; an answer of a few words is one too, as "Construction" for "Who?"."""
        names = KnownNames(self._known, (self._index.text, self._asked.text))
        count = 0
        for span in spans:
            for name in new_names(self._text, span, self._language, names):
                count += 1
                yield self._missing(Kind.NAME, Hint(name, (name.of(self._text),)))
        if not count and not is_about:
            whole = new_answer_hint(self._text, self._language, self._known)
            if whole is not None and any(word[0].isupper() for word in whole.words):
                yield self._missing(Kind.NAME, whole)

    def _causes(self, spans: Sequence[Span]) -> Iterator[Finding]:
        for span in spans:
            for hint in causal_hints(self._text, span, self._language, self._known):
                yield self._missing(Kind.CAUSAL, hint)

    def _denials(self, spans: Sequence[Span]) -> Iterator[Finding]:
        for span in spans:
            hint = negation_hint(self._text, span, self._language, self._index, self._nearest)
            if hint is not None:
                yield self._missing(Kind.NEGATION, hint)

    def _new_words(self, spans: Sequence[Span]) -> Iterator[Finding]:
        for span in spans:
            for hint in new_word_hints(self._text, span, self._language, self._known):
                yield self._missing(Kind.NEW_WORDS, hint)

    def _missing(self, kind: Kind, hint: Hint) -> Finding:
        near = self._nearest.spans(hint.span.of(self._text))
        nearest = near[0] if near else None
        return Finding(kind, Support.MISSING, hint.span, " ".join(hint.words), nearest)
