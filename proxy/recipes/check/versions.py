"""Holds a recipe against what is known of vLLM's versions."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from proxy.errors import Place
from proxy.recipes.check.finding import Finding, Severity
from proxy.recipes.check.knowledge import ADVISORIES, FACTS, Concern, Fact
from proxy.recipes.check.speculation import FLAG, is_mtp
from proxy.recipes.check.subject import Subject
from proxy.recipes.compare.base_model import base_model
from proxy.recipes.recipe import Flag

_API_KEY_VARIABLE: Final = "VLLM_API_KEY"
# Models that mix attention with Mamba or Gated DeltaNet layers (`IsHybrid` in vLLM 0.32.0), told
# by the beginning of their names.
_HYBRID: Final = re.compile(
    r"qwen3\.[5-9]|qwen3-next|qwen3-coder-next|nvidia-nemotron-(3|h|nano)|nemotron-(3|h|nano)"
    r"|granite-4.*-h-|falcon-h1|jamba|lfm2|zamba2|olmo-hybrid|ling-[23]\.5|ring-[23]\.5"
)
# MTP heads that are no single layer run several times.
_OWN_LAYERS: Final = ("step-3", "step3", "inkling")


def check_knowledge(subject: Subject) -> Iterator[Finding]:
    """One finding a fact; advisories are one finding together where the version is not known."""
    concerned = _Concerned(subject)
    for fact in FACTS:
        place = concerned.place(fact.concern)
        if place is not None:
            yield from _of_fact(subject, fact, place)
    advisories = [(fact, concerned.place(fact.concern)) for fact in ADVISORIES]
    yield from _of_advisories(subject, [(fact, at) for fact, at in advisories if at is not None])


@dataclass(frozen=True, slots=True)
class _Concerned:
    """Where in a recipe stands what a fact is about; None where the fact does not concern it."""

    subject: Subject

    def place(self, concern: Concern) -> Place | None:
        match concern:
            case Concern.ANY:
                found: Place | None = self._of_build()
            case Concern.API_KEY:
                found = self._of_api_key()
            case Concern.REMOTE_CODE:
                found = self._of_flag("--trust-remote-code")
            case Concern.QWEN3_CODER:
                found = self._of_flag("--tool-call-parser", "qwen3_coder")
            case Concern.QWEN3_XML_WITHOUT_REASONING:
                found = self._of_tool_parser_alone()
            case Concern.QUANTIZED_CACHE_WITH_FLASH_ATTENTION:
                found = self._of_cache() if self._uses_flash_attention() else None
            case _:
                found = self._of_speculation(concern)
        return found

    def _of_tool_parser_alone(self) -> Place | None:
        has_reasoning = self.subject.flag("--reasoning-parser") is not None
        return None if has_reasoning else self._of_flag("--tool-call-parser", "qwen3_xml")

    def _of_speculation(self, concern: Concern) -> Place | None:
        flag, speculation = self.subject.flag(FLAG), self.subject.recipe.engine.speculation
        if flag is None or speculation is None:
            return None
        engine = self.subject.recipe.engine
        mtp = is_mtp(speculation)
        concerns = {
            Concern.SPECULATION: True,
            Concern.SPECULATION_AND_REASONING: engine.reasoning_parser is not None,
            Concern.SEVERAL_MTP_TOKENS: mtp and (speculation.tokens or 1) > 1 and self._one_layer(),
            Concern.MTP_AND_PREFIX_CACHE_ON_HYBRID: mtp
            and engine.prefix_caching is not False
            and _HYBRID.match(self._model()) is not None,
            Concern.MTP_AND_PIPELINE: mtp and (engine.pipeline_parallel or 1) > 1,
            Concern.QUANTIZED_CACHE_WITH_DFLASH: speculation.method == "dflash"
            and self._of_cache() is not None,
        }
        return self.subject.value_place(flag) if concerns[concern] else None

    def _model(self) -> str:
        return base_model(self.subject.recipe.model).name

    def _one_layer(self) -> bool:
        return not self._model().startswith(_OWN_LAYERS)

    def _of_build(self) -> Place:
        """Where the recipe says what it runs; else where it begins."""
        document = self.subject.document
        keys = ("runtime_version", "container")
        named = next((key for key in keys if key in document.data), None)
        return document.places.value((named,)) if named else document.places.root

    def _of_api_key(self) -> Place | None:
        if _API_KEY_VARIABLE in self.subject.recipe.environment:
            return self.subject.document.places.value(("env", _API_KEY_VARIABLE))
        return self._of_flag("--api-key")

    def _of_flag(self, name: str, value: str | None = None) -> Place | None:
        flag = self.subject.flag(name)
        if flag is None or flag.negated or value not in {None, flag.value}:
            return None
        return self.subject.value_place(flag)

    def _of_cache(self) -> Place | None:
        flag: Flag | None = self.subject.flag("--kv-cache-dtype")
        is_fp8 = flag is not None and (flag.value or "").startswith("fp8")
        return self.subject.value_place(flag) if flag and is_fp8 else None

    def _uses_flash_attention(self) -> bool:
        return (self.subject.recipe.engine.attention_backend or "").lower() == "flash_attn"


def _of_fact(subject: Subject, fact: Fact, place: Place) -> Iterator[Finding]:
    known = Finding(Severity.NOTE, fact.code, place, fact.message, fact.remedy, fact.source)
    release, day = subject.build.release, subject.build.day
    if not fact.is_of_versions:
        yield known
    elif release is None:
        is_older = day is not None and fact.merged is not None and day < fact.merged
        if is_older and fact.merged is not None:
            told = f"the name of the image is of {day}, and the fix was merged on {fact.merged}: "
            yield replace(known, severity=Severity.WARNING, message=told + fact.message)
        else:
            yield known
    elif fact.fixed is not None and release < fact.fixed:
        yield replace(known, severity=Severity.WARNING, message=_told(subject) + fact.message)
    elif fact.seen is not None:
        is_seen = release <= fact.seen
        severity = Severity.WARNING if is_seen else Severity.NOTE
        reported = f" (reported for releases up to {fact.seen})"
        yield replace(known, severity=severity, message=_told(subject) + fact.message + reported)


def _told(subject: Subject) -> str:
    return f"{subject.build.told_by} says vLLM {subject.build.release}: "


def _of_advisories(subject: Subject, concerned: Sequence[tuple[Fact, Place]]) -> Iterator[Finding]:
    release = subject.build.release
    for fact, place in concerned:
        is_affected = (
            release is not None
            and (fact.since is None or release >= fact.since)
            and (fact.fixed is not None and release < fact.fixed)
        )
        if is_affected:
            message = _told(subject) + fact.message
            yield Finding(Severity.WARNING, fact.code, place, message, fact.remedy, fact.source)
    if release is None and concerned:
        yield _unknown_release(concerned)


def _unknown_release(concerned: Sequence[tuple[Fact, Place]]) -> Finding:
    """The newest of them is first in the list, and stands for all."""
    newest, place = concerned[0]
    names = ", ".join(fact.message.partition(":")[0] for fact, _ in concerned)
    return Finding(
        Severity.NOTE,
        "known-vulnerability",
        place,
        f"the recipe does not say which vLLM it runs; before {newest.fixed} these concern it: "
        f"{names}",
        f"see that the image has vLLM {newest.fixed} or newer",
        newest.source,
    )
