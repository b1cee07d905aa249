"""Does a recipe fit a machine? What is evidence, what is documented, and what is only transfer.

Pure: the recipe, the machine and what is on record are handed in.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from proxy.recipes.compare.comparability import Verdict
from proxy.recipes.evidence.evidence import Evidence, Match, Record
from proxy.recipes.evidence.figure_words import figure_words, name_words
from proxy.recipes.evidence.figures import Figure, Status
from proxy.recipes.evidence.fit_finding import Finding, Kind
from proxy.recipes.evidence.fit_machine import machine_findings
from proxy.recipes.evidence.provenance import Knowledge
from proxy.recipes.evidence.results import Source
from proxy.recipes.evidence.subject import Subject
from proxy.recipes.recipe import Recipe

_PERCENT: Final = "percent"
_NEAR: Final = frozenset({Verdict.IDENTICAL, Verdict.ONE_SWITCH})
_KINDS: Final = {
    Status.STATED: Kind.EVIDENCE,
    Status.DERIVED: Kind.DERIVED,
    Status.BOUNDED: Kind.BOUNDED,
}


class Answer(StrEnum):
    """The one thing to know: whether the recipe was measured on such a machine."""

    MEASURED = "measured"
    TRANSFER = "transfer"
    UNKNOWN = "unknown"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True)
class Fit:
    """The answer and what it rests on, conflicts first. `match` is the nearest on record."""

    recipe: Recipe
    subject: Subject
    answer: Answer
    match: Match | None
    findings: tuple[Finding, ...]


def fit(recipe: Recipe, subject: Subject, evidence: Evidence) -> Fit:
    """Hold a recipe against a machine."""
    match = evidence.nearest(recipe)
    found = (
        *_measured(match, subject),
        *_assumed(match),
        *machine_findings(recipe, subject, evidence.hardware),
    )
    findings = tuple(sorted(found, key=_is_no_conflict))
    return Fit(recipe, subject, _answer(findings, match), match, findings)


def _is_no_conflict(finding: Finding) -> bool:
    return finding.kind is not Kind.CONFLICT


def _answer(findings: tuple[Finding, ...], match: Match | None) -> Answer:
    kinds = {finding.kind for finding in findings}
    if Kind.CONFLICT in kinds:
        return Answer.CONFLICT
    if Kind.EVIDENCE in kinds:
        return Answer.MEASURED
    return Answer.UNKNOWN if match is None else Answer.TRANSFER


def _measured(match: Match | None, subject: Subject) -> Iterator[Finding]:
    if match is None:
        yield Finding(Kind.UNKNOWN, "no result is on record for this model")
        return
    kind = _kind_of(match, subject)
    source = match.record.source
    is_same_machine = subject.row == source.machine
    yield Finding(kind, _standing(match, subject), _title(source))
    if not is_same_machine:
        yield from (
            Finding(kind, f'says the source: "{limit}"', _title(source)) for limit in source.limits
        )
    if match.comparison.verdict in _NEAR:
        yield from _figures(match.record, kind, is_same_machine=is_same_machine)
    if match.is_exact:
        yield from _gaps(match.record)


def _figures(record: Record, kind: Kind, *, is_same_machine: bool) -> Iterator[Finding]:
    """The numbers; of another machine only how they compare with each other."""
    source = _title(record.source)
    for name, figure in record.variant.figures.items():
        if is_same_machine or figure.unit == _PERCENT:
            text = f"{name_words(name)}: {figure_words(figure)}"
            yield Finding(_kind_of_figure(figure, kind), text, source)
    if record.variant.comparable:
        text = f"comparable with the other recipes {record.variant.comparable}"
        yield Finding(kind, text, source)


def _kind_of_figure(figure: Figure, kind: Kind) -> Kind:
    """Only a number that was measured is evidence; what follows from others says so."""
    return _KINDS[figure.status] if kind is Kind.EVIDENCE else kind


def _gaps(record: Record) -> Iterator[Finding]:
    source = _title(record.source)
    if gaps := record.variant.not_stated:
        told = (f"{name_words(name)}{f' ({said})' if said else ''}" for name, said in gaps.items())
        yield Finding(Kind.UNKNOWN, f"not stated: {', '.join(told)}", source)
    if gaps_of_all := record.source.not_stated:
        text = f"not stated of any recipe: {'; '.join(gaps_of_all)}"
        yield Finding(Kind.UNKNOWN, text, source)


def _kind_of(match: Match, subject: Subject) -> Kind:
    """Evidence only for the measured recipe itself, on the kind of machine it was measured on."""
    is_same_machine = subject.row == match.record.source.machine
    is_itself = match.is_exact and match.record.is_known
    return Kind.EVIDENCE if is_itself and is_same_machine else Kind.TRANSFER


def _standing(match: Match, subject: Subject) -> str:
    record = match.record
    name, machine = record.recipe.file.name, record.source.machine
    if subject.row == machine:
        where = f"on this kind of machine ({machine})"
    else:
        where = f"on another machine ({machine}): only the direction may carry over, no number"
    if not match.is_exact:
        switches = ", ".join(match.comparison.units)
        return f"the nearest on record is {name}, measured {where}; yours differs in {switches}"
    if record.is_known:
        return f"this recipe is {name}, measured {where}"
    return f"this recipe is {name}, which only stands for what was measured {where}"


def _assumed(match: Match | None) -> Iterator[Finding]:
    origin = match.record.origin if match and match.is_exact else None
    if match is None or origin is None:
        return
    source = _title(match.record.source)
    if origin.assumed:
        text = f"these switches are not the source's: {', '.join(origin.assumed)}"
        yield Finding(Kind.ASSUMED, text, source)
    if origin.kept.status is Knowledge.ASSUMED:
        yield Finding(Kind.ASSUMED, f"of all other switches: {origin.kept.reason}", source)


def _title(source: Source) -> str:
    return f"{source.title} ({source.measured_by}, {source.date})"
