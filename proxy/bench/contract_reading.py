"""What one answer to a case is worth: which faults it has, and what its source does not bear."""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from unicodedata import normalize

from proxy.bench.contract_cases import NOTE, ContractCase
from proxy.errors import Fault
from proxy.gates.abstention import Abstention
from proxy.gates.base import Gate
from proxy.gates.evidence.check import EvidenceCheck
from proxy.gates.evidence.sources import Origin, Source, Sources
from proxy.gates.registry import gate_kinds
from proxy.gates.thin_input import ThinRule, is_needless
from proxy.wire.reply import Choice, Reply
from proxy.wire.request import Request

# The rule of the gate `abstain` as it is without any options.
_ALWAYS_BELOW: Final = 12
_BELOW: Final = 60
LENGTH: Final = "length"
_PLAIN: Final = Request(b"")
_BETWEEN_DIGITS: Final = re.compile(r"(?<=\d)['\u2019\u00a0\u202f ](?=\d)")


class Miss(StrEnum):
    """What makes an answer unusable beside the fault classes of gates."""

    NO_ANSWER = "no_answer"
    KEPT_BACK = "kept_back"
    MISSING_FACT = "missing_fact"


@dataclass(frozen=True, slots=True)
class Reading:
    """One answer, judged. `typed` and `hints`: the kind of each evidence finding."""

    faults: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    abstains: bool = False

    @property
    def is_usable(self) -> bool:
        return not self.faults

    @property
    def is_borne(self) -> bool:
        """Usable, and nothing that can be compared contradicts the source."""
        return self.is_usable and not self.typed


class AnswerReader:
    """Judges answers, by the same rules before and after a gate.

    `fallback_texts`: what a policy sends in a reply's stead; whoever gets it has no text.
    """

    def __init__(self, fallback_texts: Collection[str] = ()) -> None:
        self._fallback_texts = frozenset(fallback_texts)
        self._length_kind = gate_kinds()[LENGTH]
        self._lengths: dict[tuple[str, int, int], Gate] = {}
        self._check = EvidenceCheck()
        self._abstention = Abstention()
        self._thin = ThinRule(_ALWAYS_BELOW, _BELOW)

    def read(self, case: ContractCase, choice: Choice) -> Reading:
        """Judge one answer. What is no JSON of the ordered form is judged no further."""
        content = choice.content or ""
        if content and content in self._fallback_texts:
            faults = () if case.is_thin else (str(Fault.NEEDLESS_ABSTENTION),)
            return Reading(faults, abstains=True)
        document = _document(content)
        broken = Fault.TRUNCATED if choice.finish_reason == "length" else Fault.NOT_JSON
        if document is None:
            return Reading((str(broken),))
        text, note = document.get(case.field, 0), document.get(NOTE)
        if not isinstance(text, str | None) or not isinstance(note, str | None):
            return Reading((str(Fault.SCHEMA_VIOLATION),))
        return self._read(case, (text or "").strip(), (note or "").strip())

    def _read(self, case: ContractCase, text: str, note: str) -> Reading:
        full = f"{text}\n{note}".strip()
        answer = self._abstention.read(full)
        sources = Sources((Source(case.source, Origin.TAG, ""),), case.asked, case.order)
        if case.is_thin:
            is_overconfident = bool(self._thin.is_overconfident(answer, sources))
            abstains = not text or answer.abstains
            faults = [] if abstains and not is_overconfident else [str(Fault.OVERCONFIDENT)]
        else:
            abstains = not text or is_needless(answer, full, sources)
            faults = (
                [str(Fault.NEEDLESS_ABSTENTION)] if abstains else list(self._misses(case, text))
            )
        flags = [
            finding.kind
            for finding in self._check.findings(text, case.source, case.asked)
            if finding.is_flag
        ]
        typed = tuple(str(kind) for kind in flags if kind.is_typed)
        hints = tuple(str(kind) for kind in flags if not kind.is_typed)
        return Reading(tuple(faults), typed, hints, abstains=abstains)

    def _length(self, case: ContractCase) -> Gate:
        """The gate that holds a plain text to the case's limits, mark-up aside."""
        limits = case.unit, case.least, case.most
        if limits not in self._lengths:
            target = {"of": "text", "unit": case.unit, "min": case.least, "max": case.most}
            options = {"strip": "markdown", "targets": [target]}
            kind = self._length_kind
            self._lengths[limits] = kind.build(kind.options.model_validate(options))
        return self._lengths[limits]

    def _misses(self, case: ContractCase, text: str) -> Iterator[str]:
        fault = self._length(case).judge(Reply((Choice(0, text),)), _PLAIN).fault
        if fault is not None:
            yield str(fault)
        plain = _comparable(text)
        if not all(any(_comparable(way) in plain for way in ways) for ways in case.must_hold):
            yield str(Miss.MISSING_FACT)


def _document(content: str) -> dict[str, Any] | None:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _comparable(text: str) -> str:
    """Without regard to capitals, kinds of blanks and the marks between thousands."""
    flat = " ".join(normalize("NFKC", text).casefold().split())
    return _BETWEEN_DIGITS.sub("", flat)
