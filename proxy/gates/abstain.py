"""The gate `abstain`: no confident answer to thin sources, and no abstention where they suffice."""

from typing import Final

from typing_extensions import override

from proxy.errors import Fault
from proxy.gates.abstain_options import NAME, NEEDLESS, OVERCONFIDENT, AbstainOptions
from proxy.gates.abstention import Abstention
from proxy.gates.base import Result, Verdict, sum_up
from proxy.gates.evidence.sourced import SourcedGate
from proxy.gates.evidence.sources import Sources, sources_of
from proxy.gates.reply_texts import texts_of_choice
from proxy.gates.thin_input import ThinRule, is_needless
from proxy.wire.reply import Choice, Reply
from proxy.wire.request import Request

_ONLY_FROM_SOURCES: Final = (
    "The sources are too thin for this answer. Answer only from them, add nothing of your own, and "
    "say what they do not tell."
)
_ANSWER_IT: Final = "The sources do tell what was asked. Answer from them instead of abstaining."


class AbstainGate(SourcedGate):
    """Judges each choice against the sources of its request."""

    def __init__(self, options: AbstainOptions) -> None:
        """Raises `ValueError` where it has no sources to look at."""
        super().__init__(NAME, options.sources)
        self._rule = ThinRule(options.thin.always_below, options.thin.below)
        own = (phrase for phrases in options.phrases.values() for phrase in phrases)
        self._abstention = Abstention(tuple(own))
        self._rule.load()

    @override
    def judge(self, reply: Reply, request: Request) -> Verdict:
        sources = sources_of(request, self._sources)
        if reply.error is not None or not sources.found or not reply.choices:
            return Verdict(NAME, Result.SKIP)
        return sum_up(NAME, [self._judge_choice(choice, sources) for choice in reply.choices])

    def _judge_choice(self, choice: Choice, sources: Sources) -> Verdict:
        text = "\n".join(each.text for each in texts_of_choice(choice))
        is_filtered = choice.finish_reason == "content_filter"
        if choice.refusal or choice.tool_calls or is_filtered or not text.strip():
            return Verdict(NAME, Result.SKIP)
        place = f"choices[{choice.index}].message.content"
        answer = self._abstention.read(text)
        is_overconfident = self._rule.is_overconfident(answer, sources)
        if is_overconfident:
            reason = f"{place} says more than the request's thin sources bear."
            return _fail(Fault.OVERCONFIDENT, reason, place, _ONLY_FROM_SOURCES, OVERCONFIDENT)
        if is_overconfident is None and is_needless(answer, text, sources):
            reason = f"{place} abstains though the sources have what was asked."
            return _fail(Fault.NEEDLESS_ABSTENTION, reason, place, _ANSWER_IT, NEEDLESS)
        return Verdict(NAME, Result.PASS)


def _fail(fault: Fault, reason: str, place: str, feedback: str, ladder: str) -> Verdict:
    return Verdict(NAME, Result.FAIL, fault, reason, place, feedback, ladder=ladder)
