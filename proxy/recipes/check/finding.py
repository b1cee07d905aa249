"""What a check found in a recipe: how grave, where, what, and what to do about it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from proxy.errors import Place, Problem


class Severity(StrEnum):
    """How grave a finding is.

    An error: the recipe does not start, or does not do what it says. A note is knowledge that
    asks for nothing.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


_GRAVEST_FIRST: Final = tuple(Severity)


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. `code` is stable; `source` is the address of the evidence, or empty."""

    severity: Severity
    code: str
    place: Place
    message: str
    remedy: str
    source: str = ""


def of_problem(problem: Problem, code: str) -> Finding:
    """A problem of reading, which is always an error."""
    return Finding(Severity.ERROR, code, problem.place, problem.message, problem.remedy)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sorted by place, the gravest first where several stand in one; each only once."""
    return tuple(sorted(dict.fromkeys(findings), key=_rank))


def _rank(finding: Finding) -> tuple[str, int, int, int, str, str]:
    place = finding.place
    grave = _GRAVEST_FIRST.index(finding.severity)
    return place.file, place.line, place.column, grave, finding.code, finding.message
