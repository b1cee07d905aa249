"""The answer of `recipe fit`, as lines for people or as one JSON document."""

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from proxy.recipes.evidence.fit import Answer, Fit
from proxy.recipes.evidence.fit_finding import Finding, Kind
from proxy.recipes.evidence.hardware import Hardware, Machine
from proxy.recipes.evidence.subject import Subject
from proxy.recipes.show.printable import printable

_ANSWERS: Final = {
    Answer.MEASURED: "this recipe was measured on this kind of machine",
    Answer.TRANSFER: "no result is known to be of this recipe on this kind of machine",
    Answer.UNKNOWN: "nothing is on record for this recipe",
    Answer.CONFLICT: "as it stands it does not fit this machine",
}
LABEL_COLUMNS: Final = 12


def fit_lines(found: Fit, hardware: Hardware, *, as_json: bool) -> Iterator[str]:
    """The lines of the answer."""
    if as_json:
        yield json.dumps(_document(found, hardware), indent=2)
        return
    yield _line("recipe", f"{found.recipe.name} ({found.recipe.file})")
    yield from _machine_lines(found.subject, _row(found, hardware))
    yield _line("answer", f"{found.answer}: {_ANSWERS[found.answer]}{_but(found)}")
    for source, group in itertools.groupby(found.findings, key=lambda finding: finding.source):
        yield ""
        yield from (_line(finding.kind, finding.text) for finding in group)
        if source:
            yield _line("", f"source: {source}")


def _but(found: Fit) -> str:
    """What a measured answer leaves open: switches that only somebody's choice stands for."""
    is_assumed = any(finding.kind is Kind.ASSUMED for finding in found.findings)
    is_open = found.answer is Answer.MEASURED and is_assumed
    return ", but for what is `assumed` of it below" if is_open else ""


def _line(label: str, text: str) -> str:
    return f"{label:{LABEL_COLUMNS}}{printable(text)}"


def _machine_lines(subject: Subject, row: Machine | None) -> Iterator[str]:
    yield _line("machine", f"{subject.name}: {', '.join(_described(subject))}")
    if row is None:
        if subject.gpus:
            yield _line("", "no machine of the table: nothing is known of the recipes on it")
        return
    speed = row.bandwidth_gb_per_second
    bandwidth = f", memory bandwidth {speed:g} GB/s" if speed else ""
    name = f", {row.name}" if subject.is_here else ""
    yield _line("", f"in the table: {subject.row}{name}; {row.status}{bandwidth}")
    for source in row.sources:
        yield _line("", f"{source.says}: {source.address}")


def _described(subject: Subject) -> Sequence[str]:
    """What is known of it, with units."""
    if subject.trouble:
        return (subject.trouble,)
    count = f"{subject.gpus} GPUs" if (subject.gpus or 0) > 1 else ""
    capability = subject.capability and f"compute capability {subject.capability}"
    shared = " shared with the CPU" if subject.shares_memory else ""
    memory = "" if subject.memory_gb is None else f"{subject.memory_gb:.1f} GB{shared}"
    known = tuple(filter(None, (count, capability, memory, *subject.details)))
    return known or ("nothing is known of it",)


def _row(found: Fit, hardware: Hardware) -> Machine | None:
    key = found.subject.row
    return None if key is None else hardware.machines[key]


def _document(found: Fit, hardware: Hardware) -> dict[str, Any]:
    subject, row, match = found.subject, _row(found, hardware), found.match
    return {
        "recipe": {
            "name": found.recipe.name,
            "file": str(found.recipe.file),
            "hash": found.recipe.hash,
        },
        "machine": {
            "name": subject.name,
            "row": subject.row,
            "status": row.status if row else None,
            "compute_capability": subject.capability,
            "memory_gb": subject.memory_gb,
            "shares_memory": subject.shares_memory,
            "bandwidth_gb_per_second": row.bandwidth_gb_per_second if row else None,
            "gpus": subject.gpus,
            "looked_at": subject.is_here,
            "trouble": subject.trouble,
        },
        "answer": found.answer,
        "record": match
        and {
            "recipe": match.record.recipe.file.name,
            "verdict": match.comparison.verdict,
            "differs_in": list(match.comparison.units),
        },
        "findings": [_plain(finding) for finding in found.findings],
    }


def _plain(finding: Finding) -> dict[str, str]:
    return {"kind": finding.kind, "text": finding.text, "source": finding.source}
