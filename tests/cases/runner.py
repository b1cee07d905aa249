"""Plays a case file: `python -m tests.cases.runner FILE.jsonl [--only ID,...] [-v]`."""

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from proxy.gates.registry import gate_kinds
from tests.cases.case import Case, Unreadable, read_file
from tests.cases.checks import check
from tests.cases.finding import Finding, NotChecked, Wrong
from tests.cases.mapping import Skip, set_up
from tests.cases.run import run_case


class Result(StrEnum):
    """How a case came out."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Report:
    """How a case came out: `details` say why, `not_checked` what stayed open.

    `notes` tell how its policy was mapped where that is not plain.
    """

    id: str
    result: Result
    details: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


async def report_on(case: Case | Unreadable, kinds: Collection[str]) -> Report:
    """Play a case and its variants; all must hold."""
    if isinstance(case, Unreadable):
        return Report(case.id, Result.FAILED, (case.problem,))
    findings: list[Finding] = []
    notes: list[str] = []
    try:
        for one in (case, *case.variants):
            setup = set_up(one.policy, kinds)
            notes += setup.notes
            findings += _named(one, case, check(await run_case(one, setup)))
    except Skip as skip:
        return Report(case.id, Result.SKIPPED, (str(skip),))
    except Exception as error:  # noqa: BLE001 - one broken case must not end the run
        findings.append(Wrong(f"could not be played: {type(error).__name__}: {error}"))
    wrong = tuple(one.text for one in findings if isinstance(one, Wrong))
    not_checked = tuple(one.text for one in findings if isinstance(one, NotChecked))
    result = Result.FAILED if wrong else Result.PASSED
    return Report(case.id, result, wrong, not_checked, tuple(notes))


def _named(one: Case, case: Case, findings: list[Finding]) -> Iterator[Finding]:
    """Findings on a variant say which."""
    for finding in findings:
        yield finding if one is case else type(finding)(f"{one.id}: {finding.text}")


def lines(report: Report, case: Case | Unreadable, *, verbose: bool) -> Iterator[str]:
    """One line for a report, and with `verbose` further ones below it."""
    reason = f"  {'; '.join(report.details)}" if report.details else ""
    yield f"{report.id}  {report.result}{reason}"
    if not verbose:
        return
    if isinstance(case, Case) and "outcome" in case.expect:
        yield f"    outcome: {case.expect['outcome']}"
    yield from (f"    note: {note}" for note in report.notes)
    yield from (f"    not checked: {text}" for text in report.not_checked)


async def play(
    cases: Iterable[Case | Unreadable], only: Collection[str], *, verbose: bool
) -> Counter[Result]:
    """Play cases one after another, and write a line for each."""
    counts: Counter[Result] = Counter()
    kinds = gate_kinds()
    for case in cases:
        if only and case.id not in only:
            continue
        report = await report_on(case, kinds)
        counts[report.result] += 1
        sys.stdout.writelines(f"{line}\n" for line in lines(report, case, verbose=verbose))
        sys.stdout.flush()
    return counts


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cases.runner")
    parser.add_argument(
        "files",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="one case a line, see tests/cases/README.md",
    )
    parser.add_argument("--only", default="", help="ids, with commas between them")
    parser.add_argument("-v", "--verbose", action="store_true", help="also what is not checked")
    given = parser.parse_args(arguments)
    only = {name for name in given.only.split(",") if name}
    cases = [case for file in given.files for case in read_file(file)]
    counts = asyncio.run(play(cases, only, verbose=given.verbose))
    sys.stdout.write(", ".join(f"{counts[result]} {result}" for result in Result) + "\n")
    return 1 if counts[Result.FAILED] else 0


if __name__ == "__main__":
    raise SystemExit(main())
