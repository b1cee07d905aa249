"""What the gate `length` knows of a request and of an answer, before anything is counted."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from typing_extensions import override

from proxy.gates.base import Gate, Result, Settles, Verdict, Watch
from proxy.gates.json_promise import Format, read_promise
from proxy.gates.length_findings import finding_on, verdict_on
from proxy.gates.length_options import NAME, LengthTarget
from proxy.gates.length_tokens import TokenQuestion
from proxy.gates.questions import Answer, TokenCounts, Unanswered
from proxy.gates.text_path import parse_path
from proxy.gates.text_targets import WHOLE, is_judged
from proxy.wire.reply import Reply
from proxy.wire.request import Request

_PROMISES_KEPT: Final = 64
_FORMATS: Final = frozenset(Format)


class TargetedGate(Gate, Settles):
    """A gate with targets. Fields are for promised JSON, the whole text for all other replies."""

    def __init__(self, targets: Sequence[LengthTarget]) -> None:
        self._targets = tuple(targets)
        self._read_promise = lru_cache(maxsize=_PROMISES_KEPT)(read_promise)

    @property
    @override
    def name(self) -> str:
        return NAME

    @override
    def applies(self, request: Request) -> bool:
        is_json = self._is_json(request)
        return any((target.of != WHOLE) is is_json for target in self._targets)

    @override
    @abstractmethod
    def judge(self, reply: Reply, request: Request) -> Verdict: ...

    @override
    def settle(self, verdict: Verdict, answer: Answer) -> Verdict:
        question = verdict.question
        if not isinstance(question, TokenQuestion) or not isinstance(answer, TokenCounts):
            reason = answer.reason if isinstance(answer, Unanswered) else "Nothing was asked."
            return Verdict(NAME, Result.ERROR, reason=reason)
        counted = zip(question.asked, answer.counts, strict=True)
        findings = [
            (one.choice, finding)
            for one, count in counted
            if (finding := finding_on(one.target, one.found, count, blank=False))
        ]
        return verdict_on([finding for choice, finding in findings if choice == findings[0][0]])

    @override
    def watch(self, request: Request) -> Watch | None:
        return None

    def _is_json(self, request: Request) -> bool:
        promised = request.response_format, request.structured_outputs
        return self._read_promise(*promised, _FORMATS) is not None


class FieldsElsewhere(TargetedGate):
    """What the serving process has of a gate whose targets are all fields of JSON.

    It passes over replies that certainly have none of them, and leaves the others to a process
    with the tables that counting takes.
    """

    def __init__(self, targets: Sequence[LengthTarget]) -> None:
        super().__init__(targets)
        self._paths = tuple(parse_path(target.of) for target in targets)
        self._skipped = Verdict(NAME, Result.SKIP)

    @override
    def judge(self, reply: Reply, request: Request) -> Verdict:
        if reply.error is not None or not self.applies(request):
            return self._skipped
        judged = [choice.content or "" for choice in reply.choices if is_judged(choice)]
        if any(path.may_be_in(content) for content in judged for path in self._paths):
            return left("Its fields are for another process to count.")
        return self._skipped


def left(reason: str) -> Verdict:
    """For the gate in the judging process, which takes its time."""
    return Verdict(NAME, Result.ERROR, reason=reason, gave_up=True)
