"""Findings as lines for people and as JSON, and the exit status that follows from them."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from proxy.recipes.check.check import UNREADABLE
from proxy.recipes.check.finding import Finding, Severity
from proxy.recipes.show.printable import printable


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """One file and what was found in it."""

    file: Path
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class HeldAgainst:
    """The vLLM whose flags were known. `told_by` is a place, or that it is the pinned list."""

    version: str
    told_by: str


def report_lines(checked: Sequence[CheckedFile], against: HeldAgainst) -> Iterator[str]:
    """File after file, a line each finding and one for its source; counts at the end."""
    for each in checked:
        for finding in each.findings:
            remedy = f" ({finding.remedy})" if finding.remedy else ""
            kind = f"{finding.severity}[{finding.code}]"
            yield printable(f"{finding.place}: {kind}: {finding.message}{remedy}")
            if finding.source:
                yield f"    see {finding.source}"
        if each.findings:
            yield ""
    counts = ", ".join(_counted(severity, count) for severity, count in _counts(checked).items())
    files = _plural(len(checked), "file")
    yield f"{files}: {counts}; flags held against vLLM {against.version} ({against.told_by})"


def report_json(checked: Sequence[CheckedFile], against: HeldAgainst) -> str:
    """One JSON document; lines and columns count from 1, 0 means unknown."""
    return json.dumps(
        {
            "vllm": {"version": against.version, "told_by": against.told_by},
            "counts": {str(severity): count for severity, count in _counts(checked).items()},
            "files": [
                {"file": str(each.file), "findings": [_as_json(one) for one in each.findings]}
                for each in checked
            ],
        },
        indent=2,
    )


def exit_status(checked: Sequence[CheckedFile], *, strict: bool) -> int:
    """2: a file cannot be read at all; 1: errors, with `strict` also warnings; 0: neither."""
    findings = [finding for each in checked for finding in each.findings]
    if any(finding.code == UNREADABLE for finding in findings):
        return 2
    failing = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    return int(any(finding.severity in failing for finding in findings))


def _as_json(finding: Finding) -> dict[str, str | int]:
    return {
        "severity": str(finding.severity),
        "code": finding.code,
        "file": finding.place.file,
        "line": finding.place.line,
        "column": finding.place.column,
        "message": finding.message,
        "remedy": finding.remedy,
        "source": finding.source,
    }


def _counts(checked: Sequence[CheckedFile]) -> dict[Severity, int]:
    counter = Counter(finding.severity for each in checked for finding in each.findings)
    return {severity: counter[severity] for severity in Severity}


def _counted(severity: Severity, count: int) -> str:
    return _plural(count, str(severity))


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
