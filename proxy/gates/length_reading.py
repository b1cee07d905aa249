"""Holds the texts of one choice against the limits of a policy, so far as no model is needed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from proxy.gates.length_findings import LengthFinding, finding_on
from proxy.gates.length_options import LengthTarget, Markup
from proxy.gates.length_tokens import Asked
from proxy.gates.text_html import strip_html
from proxy.gates.text_markdown import MarkdownText
from proxy.gates.text_targets import WHOLE_NAME, Content, FoundText, TextTarget
from proxy.gates.text_units import TextMeter, Unit, is_blank, whole
from proxy.wire.reply import Choice


@dataclass(frozen=True, slots=True)
class LengthReading:
    """What came of one choice. `texts`: how many were held against a limit."""

    choice: Choice
    texts: int
    findings: tuple[LengthFinding, ...]
    asked: tuple[Asked, ...]


class LengthReader:
    """Finds, strips and counts. The texts in `asked` are stripped too."""

    def __init__(self, targets: Sequence[LengthTarget], meter: TextMeter, markup: Markup) -> None:
        self._limits = [(target, TextTarget(target.of)) for target in targets]
        whole_text = [target for target, where in self._limits if where.is_whole]
        self._of_text = [target for target in whole_text if target.unit is not Unit.TOKENS]
        self._maxima = [target.model_copy(update={"min": None}) for target in self._of_text]
        self._meter = meter
        self._strip = _stripper(markup)

    def read(self, choice: Choice, *, is_json: bool) -> LengthReading:
        findings: list[LengthFinding] = []
        asked: list[Asked] = []
        texts = 0
        for target, found in self._seen_texts(Content(choice, is_json=is_json)):
            texts += 1
            is_for_model = target.unit is Unit.TOKENS and not is_blank(found.text)
            if is_for_model:
                asked.append(Asked(choice.index, target, found))
            elif finding := self._finding(target, found):
                findings.append(finding)
        return LengthReading(choice, texts, tuple(findings), tuple(asked))

    def holds(self, text: str, *, minimum: bool) -> bool:
        """Whether a whole text would keep its limits, those of tokens aside; or the maxima only."""
        found = FoundText("", WHOLE_NAME, self._seen(text))
        targets = self._of_text if minimum else self._maxima
        return not any(self._finding(target, found) for target in targets)

    def _seen_texts(self, content: Content) -> Iterator[tuple[LengthTarget, FoundText]]:
        """Each limit with each text that it is for, stripped once for all of them."""
        seen: dict[FoundText, FoundText] = {}
        for target, where in self._limits:
            for found in where.find(content):
                if found not in seen:
                    seen[found] = replace(found, text=self._seen(found.text))
                yield target, seen[found]

    def _finding(self, target: LengthTarget, found: FoundText) -> LengthFinding | None:
        blank = is_blank(found.text)
        count = 0 if blank else self._meter.count(found.text, target.unit)
        return finding_on(target, found, count, blank=blank)

    def _seen(self, text: str) -> str:
        return self._strip(whole(text))


def _stripper(markup: Markup) -> Callable[[str], str]:
    if markup == "markdown":
        return MarkdownText().strip
    return strip_html if markup == "html" else str
