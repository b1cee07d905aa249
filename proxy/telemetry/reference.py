"""The tables of docs/metrics.md, made from the catalogue.

python -m proxy.telemetry.reference docs/metrics.md     writes them anew into the page
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from proxy.telemetry.catalogue import CATALOGUE
from proxy.telemetry.metric import Label, Metric

_COMMAND: Final = "python -m proxy.telemetry.reference docs/metrics.md"


class NoSuchSection(Exception):
    """The page lacks the marks of a table."""


def with_tables(page: str) -> str:
    """The page with its tables as the code has them. Raises `NoSuchSection`."""
    for name, table in _tables().items():
        opening, closing = f"<!-- {name}: written by `{_COMMAND}` -->", f"<!-- end of {name} -->"
        before, found_opening, rest = page.partition(opening)
        _, found_closing, after = rest.partition(closing)
        if not found_opening or not found_closing:
            raise NoSuchSection(f"the page needs the lines {opening} and {closing}")
        page = f"{before}{opening}\n\n{table}\n\n{closing}{after}"
    return page


def _tables() -> dict[str, str]:
    return {"metrics": _metrics(), "labels": _labels(), "buckets": _buckets(), "names": _names()}


def _metrics() -> str:
    heads = ("metric", "type", "labels", "unit", "meaning", "typical query")
    return _table(
        heads,
        (
            (
                _code(metric.full_name),
                metric.kind,
                ", ".join(_code(label.name) for label in metric.labels),
                metric.unit,
                f"{metric.meaning} ([more]({metric.page}))" if metric.page else metric.meaning,
                _code(metric.query),
            )
            for metric in CATALOGUE
        ),
    )


def _labels() -> str:
    """Labels that mean the same in the same metrics share a row."""
    users: dict[Label, list[str]] = {}
    for metric in CATALOGUE:
        for label in metric.labels:
            users.setdefault(label, []).append(_code(metric.name))
    alike: dict[tuple[str, str, str], list[str]] = {}
    for label, metrics in users.items():
        row = (", ".join(metrics), ", ".join(map(_code, label.values)), label.meaning)
        alike.setdefault(row, []).append(_code(label.name))
    return _table(
        ("label", "of", "values", "meaning"),
        ((", ".join(names), *row) for row, names in alike.items()),
    )


def _buckets() -> str:
    """Histograms with the same edges share a row."""
    users: dict[tuple[float, ...], list[Metric]] = {}
    for metric in CATALOGUE:
        if metric.edges:
            users.setdefault(metric.edges, []).append(metric)
    return _table(
        ("histogram", "upper bounds"),
        (
            (
                ", ".join(_code(metric.name) for metric in metrics),
                ", ".join(f"{edge:g}" for edge in edges)
                + (", and `slo.ttfr_seconds`" if metrics[0].has_objective else ""),
            )
            for edges, metrics in users.items()
        ),
    )


def _names() -> str:
    return _table(
        ("name here", "OpenTelemetry", "what differs"),
        (
            (_code(metric.full_name), _code(metric.alias.name), metric.alias.difference)
            for metric in CATALOGUE
            if metric.alias is not None
        ),
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(
        "|" + "".join(f" {cell} |" if cell else " |" for cell in cells) for cells in lines
    )


def _code(text: str) -> str:
    return f"`{text}`"


def main(arguments: Sequence[str]) -> None:
    page = Path(arguments[0])
    page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
