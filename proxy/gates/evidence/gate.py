"""The gate `evidence`: an answer says only what the request's own sources say."""

from collections.abc import Sequence
from typing import Final

from typing_extensions import override

from proxy.gates.base import Result, Settles, Verdict, sum_up
from proxy.gates.evidence.answers import JoinedTexts, PlacedFinding, json_numbers, written_texts
from proxy.gates.evidence.check import EvidenceCheck
from proxy.gates.evidence.feedback import correction, reason_for
from proxy.gates.evidence.findings import VALUES, Finding, Kind
from proxy.gates.evidence.judge import NO_HINTS, EvidenceJudge, Hints, settled
from proxy.gates.evidence.onnx_model import onnx_review
from proxy.gates.evidence.options import NAME, SOFT_LADDER, TYPED_LADDER, EvidenceOptions
from proxy.gates.evidence.source_index import SourceIndex
from proxy.gates.evidence.sourced import SourcedGate
from proxy.gates.evidence.sources import sources_of
from proxy.gates.questions import Answer
from proxy.wire.reply import Choice, Reply
from proxy.wire.request import Request

MOST_CHARACTERS: Final = 400_000
_TOO_MANY: Final = ("evidence claims",)


class EvidenceGate(SourcedGate, Settles):
    """Judges each choice against the sources of its request."""

    def __init__(self, options: EvidenceOptions) -> None:
        super().__init__(NAME, options.sources)
        self._judge = EvidenceJudge(options.judge) if options.judge else None
        self._model = onnx_review(options.model) if options.model else None
        kinds = frozenset[Kind]({*options.typed.check, *options.soft.check})
        self._check = EvidenceCheck(kinds, options.languages, options.rounding)
        self._of_numbers = EvidenceCheck(kinds & VALUES, (), options.rounding)

    @override
    def judge(self, reply: Reply, request: Request) -> Verdict:
        sources = sources_of(request, self._sources)
        if reply.error is not None or not sources.found or not reply.choices:
            return Verdict(NAME, Result.SKIP)
        if sum(len(choice.content or "") for choice in reply.choices) > MOST_CHARACTERS:
            return Verdict(NAME, Result.SKIP, unchecked=("a reply too long to be compared",))
        source, asked = SourceIndex(sources.text), SourceIndex(sources.asked)
        judged = [self._judge_choice(choice, source, asked) for choice in reply.choices]
        verdicts = [verdict for verdict, _ in judged]
        verdict = sum_up(NAME, sorted(verdicts, key=lambda one: one.ladder == SOFT_LADDER))
        if self._judge is None or verdict.ladder != SOFT_LADDER:
            return verdict
        return self._judge.ask(verdict, [hints for _, hints in judged], source)

    @override
    def settle(self, verdict: Verdict, answer: Answer) -> Verdict:
        return settled(verdict, answer)

    def _judge_choice(
        self, choice: Choice, source: SourceIndex, asked: SourceIndex
    ) -> tuple[Verdict, Hints]:
        """The verdict on a choice, and where its hints lie."""
        is_filtered = choice.finish_reason == "content_filter"
        if choice.refusal or is_filtered or not (choice.content or "").strip():
            return Verdict(NAME, Result.SKIP), NO_HINTS
        written = written_texts(choice)
        found, is_complete = self._findings(choice, written, source, asked)
        flags = [one for one in found if one.finding.is_flag]
        unchecked = () if is_complete else _TOO_MANY
        typed = [one for one in flags if one.finding.kind.is_typed]
        if not flags:
            return Verdict(NAME, Result.PASS, unchecked=unchecked), NO_HINTS
        deciding = typed or flags
        first = deciding[0]
        verdict = Verdict(
            NAME,
            Result.FAIL,
            first.finding.kind.fault,
            reason_for(deciding),
            first.place,
            correction(deciding, source.source),
            unchecked=unchecked,
            ladder=TYPED_LADDER if typed else SOFT_LADDER,
        )
        return verdict, (written.text, [one.finding.span for one in flags])

    def _findings(
        self, choice: Choice, written: JoinedTexts, source: SourceIndex, asked: SourceIndex
    ) -> tuple[list[PlacedFinding], bool]:
        """What is found in a choice, and whether nothing was left out."""
        numbers = json_numbers(choice)
        report = self._check.report(written.text, source, asked)
        of_numbers = self._of_numbers.report(numbers.text, source, asked)
        findings: Sequence[Finding] = report.findings
        if self._model is not None:
            findings = self._model.reviewed(findings, written.text, source)
        found = [written.placed(one) for one in findings]
        found += [numbers.placed(one) for one in of_numbers.findings]
        return found, report.is_complete and of_numbers.is_complete
