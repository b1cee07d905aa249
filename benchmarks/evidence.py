"""How well the evidence gate tells supported answers from unsupported ones, and how fast.

    python -m benchmarks.evidence FILE.jsonl [--json] [--no-times]

A row of the file: `source`, `answer`, `label` (supported or unsupported), `lang`, `origin`, `kind`,
and optionally `question`. "Unsupported" is the positive class: recall is the share of unsupported
answers that are flagged, specificity the share of supported ones that are left alone.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from operator import attrgetter
from pathlib import Path
from time import perf_counter

import msgspec

from proxy.gates.abstention import Abstention
from proxy.gates.evidence.check import EvidenceCheck
from proxy.gates.evidence.findings import Kind
from proxy.gates.evidence.sources import Origin, Source, Sources
from proxy.gates.evidence.verbatim import is_verbatim
from proxy.gates.thin_input import ThinRule
from proxy.ledger.interval import wilson_interval

_SIZES = (2_000, 4_000, 10_000, 30_000, 60_000)
_TIMED_ANSWERS = 40
_WRONG_DETAIL = frozenset(
    {"wrong_number", "wrong_date", "wrong_version", "wrong_unit", "invented_url", "invented_quote"}
)
_Z = 1.959963984540054


class Row(msgspec.Struct, frozen=True):
    """One labelled answer."""

    source: str
    answer: str
    label: str
    lang: str = ""
    origin: str = ""
    kind: str = ""
    question: str | None = None

    @property
    def is_wrong(self) -> bool:
        return self.label == "unsupported"


@dataclass(frozen=True, slots=True)
class Judged:
    """A row and the kinds of findings that flag it."""

    row: Row
    flags: frozenset[Kind]
    overconfident: bool


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its 95 % interval; all None where nothing was counted."""

    hits: int
    trials: int

    @property
    def value(self) -> float | None:
        return self.hits / self.trials if self.trials else None

    @property
    def interval(self) -> tuple[float, float]:
        return wilson_interval(self.hits, self.trials) or (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table of targets. `at_least` False: the value must stay below the target."""

    name: str
    value: float | None
    low: float
    high: float
    target: float
    at_least: bool = True

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        if self.value >= self.target if self.at_least else self.value <= self.target:
            return "met"
        reaches = self.high >= self.target if self.at_least else self.low <= self.target
        return "within the interval" if reaches else "missed"


Flagged = Callable[[Judged], bool]
Entry = dict[str, str | int | list[float] | None]
Parts = dict[str, list[Entry]]
Times = dict[int, tuple[float, float]]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Measure the evidence gate on labelled answers.")
    parser.add_argument("file", type=Path, help="rows as JSON, one a line")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    parser.add_argument("--no-times", action="store_true", help="only what is right and wrong")
    options = parser.parse_args(arguments)
    rows = _read(options.file)
    if not rows:
        print(f"{options.file} has no rows", file=sys.stderr)
        return 2
    judged = list(_judge(rows))
    times = {} if options.no_times else _times(rows)
    figures = list(_figures(judged, rows, times))
    parts = {
        name: list(_parts(judged, part))
        for name, part in (
            ("origin", attrgetter("origin")),
            ("kind", attrgetter("kind")),
            ("language", _language),
        )
    }
    if options.json:
        print(json.dumps(_document(figures, parts, judged, times), indent=2))
    else:
        _print(figures, parts, judged, times)
    return 0


def _read(path: Path) -> list[Row]:
    with path.open("rb") as lines:
        return [msgspec.json.decode(line, type=Row) for line in lines if line.strip()]


def _judge(rows: Iterable[Row]) -> Iterator[Judged]:
    check, abstention, thin = EvidenceCheck(), Abstention(), ThinRule(12, 60)
    for row in rows:
        asked = row.question or ""
        found = check.findings(row.answer, row.source, asked)
        flags = frozenset(finding.kind for finding in found if finding.is_flag)
        # A row without material has its question in the place of a source.
        material = "" if row.source.strip() == asked.strip() else row.source
        sources = Sources((Source(material, Origin.TAG, ""),), asked, asked)
        over = thin.is_overconfident(abstention.read(row.answer), sources)
        yield Judged(row, flags, over is True)


def _typed(one: Judged) -> bool:
    return any(kind.is_typed for kind in one.flags)


def _typed_or_name(one: Judged) -> bool:
    return _typed(one) or Kind.NAME in one.flags


def _any(one: Judged) -> bool:
    return bool(one.flags)


def _language(row: Row) -> str:
    return f"{row.lang} (source in another language)" if _is_across(row) else row.lang


def _is_across(row: Row) -> bool:
    return row.kind.startswith("xling")


def _is_natural_english(row: Row) -> bool:
    return row.lang == "en" and not row.origin.startswith(("xquad", "handmade"))


def _precision(judged: Sequence[Judged], flagged: Flagged) -> Rate:
    hits = [one for one in judged if flagged(one)]
    return Rate(sum(one.row.is_wrong for one in hits), len(hits))


def _recall(judged: Sequence[Judged], flagged: Flagged) -> Rate:
    wrong = [one for one in judged if one.row.is_wrong]
    return Rate(sum(map(flagged, wrong)), len(wrong))


def _specificity(judged: Sequence[Judged], flagged: Flagged) -> Rate:
    right = [one for one in judged if not one.row.is_wrong]
    return Rate(sum(not flagged(one) for one in right), len(right))


def _rate_figure(name: str, rate: Rate, target: float, *, at_least: bool = True) -> Figure:
    return Figure(name, rate.value, *rate.interval, target, at_least)


def _balanced(name: str, judged: Sequence[Judged], target: float) -> Figure:
    """The mean of recall and specificity, with the interval of a mean of two proportions."""
    recall, specificity = _recall(judged, _any), _specificity(judged, _any)
    if recall.value is None or specificity.value is None:
        return Figure(name, None, 0.0, 1.0, target)
    value = (recall.value + specificity.value) / 2
    variance = sum(
        rate.value * (1 - rate.value) / rate.trials / 4
        for rate in (recall, specificity)
        if rate.value is not None
    )
    margin = _Z * math.sqrt(variance)
    return Figure(name, value, max(0.0, value - margin), min(1.0, value + margin), target)


def _figures(judged: Sequence[Judged], rows: Sequence[Row], times: Times) -> Iterator[Figure]:
    """The targets, in the order in which they are set."""
    for name, flagged, targets in (
        ("typed", _typed, (0.95, 0.98, 0.34)),
        ("typed and names", _typed_or_name, (0.94, 0.96, 0.55)),
    ):
        yield _rate_figure(f"{name}: precision", _precision(judged, flagged), targets[0])
        yield _rate_figure(f"{name}: specificity", _specificity(judged, flagged), targets[1])
        yield _rate_figure(f"{name}: recall", _recall(judged, flagged), targets[2])
    details = [
        one
        for one in judged
        if one.row.origin == "handmade" and one.row.kind in _WRONG_DETAIL and one.row.is_wrong
    ]
    yield _rate_figure("wrong detail, hand-made rows: caught", _recall(details, _any), 0.95)
    for name, wanted, target in (
        ("all", lambda _: True, 0.80),
        ("German", lambda row: row.lang == "de", 0.86),
        ("natural English", _is_natural_english, 0.69),
    ):
        some = [one for one in judged if wanted(one.row)]
        yield _balanced(f"any finding, balanced accuracy: {name}", some, target)
    across = [one for one in judged if _is_across(one.row) and not one.row.is_wrong]
    false = Rate(sum(map(_any, across)), len(across))
    name = "source and answer in different languages: false flags"
    yield _rate_figure(name, false, 0.08, at_least=False)
    yield from _thin_figures(judged)
    changed = _changed_digits(rows)
    yield _rate_figure("quotes with one digit changed: accepted", changed, 0.0, at_least=False)
    for size, target in ((4_000, 8.0), (60_000, 50.0)):
        if size in times:
            late = times[size][1]
            yield Figure(
                f"p95, {size:,} source characters, ms", late, late, late, target, at_least=False
            )


def _thin_figures(judged: Sequence[Judged]) -> Iterator[Figure]:
    thin = [one for one in judged if one.row.kind == "thin_input" and one.row.is_wrong]
    caught = Rate(sum(one.overconfident for one in thin), len(thin))
    right = [one for one in judged if not one.row.is_wrong]
    alarms = Rate(sum(one.overconfident for one in right), len(right))
    yield _rate_figure("thin input: caught", caught, 0.95)
    yield _rate_figure("thin input: false alarms", alarms, 0.01, at_least=False)


def _changed_digits(rows: Sequence[Row]) -> Rate:
    """Passages of the sources with one digit changed, held against them as a judge's quotes."""
    accepted = trials = 0
    for row in rows:
        for passage in row.source.split(". "):
            at = next((place for place, sign in enumerate(passage) if sign in "123456789"), -1)
            if at < 0 or not 20 <= len(passage) <= 400 or '"' in passage or "[" in passage:
                continue
            changed = passage[:at] + str(int(passage[at]) % 9 + 1) + passage[at + 1 :]
            if changed in row.source:
                continue
            trials += 1
            accepted += is_verbatim(changed, row.source)
    return Rate(accepted, trials)


def _parts(judged: Sequence[Judged], part: Callable[[Row], str]) -> Iterator[Entry]:
    """For each part: rows, and what typed findings and any findings flag of them."""
    for name in sorted({part(one.row) for one in judged}):
        some = [one for one in judged if part(one.row) == name]
        entry: Entry = {
            "name": name,
            "supported": sum(not one.row.is_wrong for one in some),
            "unsupported": sum(one.row.is_wrong for one in some),
        }
        for told, flagged in (("typed", _typed), ("names", _typed_or_name), ("any", _any)):
            for measure, rate in (
                ("recall", _recall(some, flagged)),
                ("specificity", _specificity(some, flagged)),
            ):
                value = rate.value
                entry[f"{told} {measure}"] = (
                    None if value is None else [round(each, 3) for each in (value, *rate.interval)]
                )
        yield entry


def _times(rows: Sequence[Row]) -> Times:
    """p50 and p95 of one judgement in milliseconds, by characters of source."""
    check = EvidenceCheck()
    found = {}
    for size in _SIZES:
        taken = []
        for row, source in _long_sources(rows, size):
            began = perf_counter()
            check.findings(row.answer, source, row.question or "")
            taken.append((perf_counter() - began) * 1000)
        taken.sort()
        found[size] = (taken[len(taken) // 2], taken[int(len(taken) * 0.95)])
    return found


def _long_sources(rows: Sequence[Row], size: int) -> Iterator[tuple[Row, str]]:
    """Answers before sources of a size: their own, filled up with those of other rows."""
    for row in rows[:: max(1, len(rows) // _TIMED_ANSWERS)]:
        others = cycle(one.source for one in rows if one.lang == row.lang)
        source = row.source
        while len(source) < size:
            source += "\n\n" + next(others)
        yield row, source[:size]


def _by_finding(judged: Sequence[Judged]) -> list[tuple[str, int, int]]:
    """For each kind of finding: rows that it flags, and how many of them are unsupported."""
    counted = []
    for kind in Kind:
        flagged = [one for one in judged if kind in one.flags]
        counted.append((kind.value, len(flagged), sum(one.row.is_wrong for one in flagged)))
    return counted


def _document(
    figures: Sequence[Figure],
    parts: Parts,
    judged: Sequence[Judged],
    times: Times,
) -> dict[str, object]:
    return {
        "rows": len(judged),
        "targets": [{**asdict(figure), "verdict": figure.verdict} for figure in figures],
        "parts": parts,
        "findings": [
            {"kind": kind, "flagged": flagged, "unsupported": wrong}
            for kind, flagged, wrong in _by_finding(judged)
        ],
        "times_ms": {str(size): {"p50": p50, "p95": p95} for size, (p50, p95) in times.items()},
    }


def _print(
    figures: Sequence[Figure],
    parts: Parts,
    judged: Sequence[Judged],
    times: Times,
) -> None:
    print(f"{len(judged)} rows; in brackets 95 % intervals\n")
    _table(
        ("target", "value", "wanted", "verdict"),
        (
            (
                figure.name,
                "-" if figure.value is None else _interval(figure.value, figure.low, figure.high),
                f"{'at least' if figure.at_least else 'at most'} {figure.target:g}",
                figure.verdict,
            )
            for figure in figures
        ),
    )
    for name, entries in parts.items():
        heads = [head for head in entries[0] if head != "name"]
        cells = ((str(entry["name"]), *(_cell(entry[head]) for head in heads)) for entry in entries)
        _table((name, *heads), cells)
    findings = ((kind, str(flagged), str(wrong)) for kind, flagged, wrong in _by_finding(judged))
    _table(("finding", "rows flagged", "of them unsupported"), findings)
    if times:
        _table(
            ("source characters", "p50 ms", "p95 ms"),
            ((f"{size:,}", f"{p50:.1f}", f"{p95:.1f}") for size, (p50, p95) in times.items()),
        )


def _cell(value: str | int | list[float] | None) -> str:
    if isinstance(value, list):
        return _interval(*value)
    return "-" if value is None else str(value)


def _interval(value: float, low: float, high: float) -> str:
    if low == high:
        return f"{value:.3g}"
    return f"{value:.3f} ({low:.2f}-{high:.2f})"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for cells in rows:
        print("| " + " | ".join(cells) + " |")
    print()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
