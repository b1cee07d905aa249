"""The judge of hints: what it is asked, and what of its answer counts.

A model's word clears nothing by itself. It must quote the sentence that bears the claim, and the
quotation is checked here; whatever cannot be checked leaves the hint as it was.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from proxy.gates.base import Result, Verdict
from proxy.gates.evidence.findings import Span
from proxy.gates.evidence.judge_material import claim_at, sentences_for
from proxy.gates.evidence.judge_options import JudgeOptions
from proxy.gates.evidence.quoted_numbers import has_numbers_of
from proxy.gates.evidence.source_index import SourceIndex
from proxy.gates.evidence.verbatim import is_verbatim
from proxy.gates.questions import (
    Answer,
    Claim,
    JudgeClaims,
    Judgement,
    Judgements,
    Opinion,
)

# All claims must be borne, so more of them are for a person.
MOST_CLAIMS: Final = 20

# The text of a choice and where its hints lie in it.
Hints: TypeAlias = tuple[str, Sequence[Span]]
NO_HINTS: Final[Hints] = ("", ())


@dataclass(frozen=True, slots=True)
class HintQuestion(JudgeClaims):
    """`hints`: how many findings the claims stand for; several may lie in one claim."""

    hints: int = 0


@dataclass(frozen=True, slots=True)
class EvidenceJudge:
    """Asks about hints where a policy names a lane for it."""

    options: JudgeOptions

    def ask(self, verdict: Verdict, hints: Sequence[Hints], source: SourceIndex) -> Verdict:
        """The verdict with its question; without one where there are too many claims."""
        found = [claim_at(text, span, source.language) for text, spans in hints for span in spans]
        claims = tuple(dict.fromkeys(found))
        if len(claims) > MOST_CLAIMS:
            return verdict
        question = HintQuestion(
            self.options.lane,
            self.options.time_limit_seconds,
            sentences_for(claims, source),
            claims,
            len(found),
        )
        return replace(verdict, question=question)


def settled(verdict: Verdict, answer: Answer) -> Verdict:
    """A pass where all claims are borne by what was quoted, else the fail as it was."""
    question = verdict.question
    verdict = replace(verdict, question=None)
    if not isinstance(question, HintQuestion):
        return replace(verdict, result=Result.ERROR, reason="Nothing was asked.")
    if not isinstance(answer, Judgements):
        told = getattr(answer, "reason", "") or "Its answer is of another kind."
        return replace(verdict, reason=f"{verdict.reason} The judge was of no help: {told}")
    opinions = opinions_of(question, answer.judgements)
    borne = opinions.count(Opinion.SUPPORTED)
    if borne < len(question.claims):
        told = f"The judge `{question.lane}` proved {borne} of {len(question.claims)} claims"
        return replace(verdict, reason=f"{verdict.reason} {told}.")
    return Verdict(verdict.gate, Result.PASS, unchecked=verdict.unchecked, cleared=question.hints)


def opinions_of(question: JudgeClaims, judgements: Sequence[Judgement]) -> list[Opinion]:
    """What counts of each judgement. Of a claim without a judgement nothing is known."""
    given = [*judgements, *([Judgement(Opinion.UNKNOWN)] * len(question.claims))]
    return [
        _checked(judgement, claim, question.sentences)
        for claim, judgement in zip(question.claims, given, strict=False)
    ]


def _checked(judgement: Judgement, claim: Claim, sentences: Sequence[str]) -> Opinion:
    if judgement.opinion is not Opinion.SUPPORTED:
        return judgement.opinion
    if not 1 <= judgement.sentence <= len(sentences):
        return Opinion.UNKNOWN
    quote = judgement.quote
    is_proven = is_verbatim(quote, sentences[judgement.sentence - 1]) and has_numbers_of(
        quote, claim.text
    )
    return Opinion.SUPPORTED if is_proven else Opinion.UNKNOWN
