"""The results on record of two recipes, side by side."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from proxy.ledger.columns import table
from proxy.recipes.compare.comparability import Choice
from proxy.recipes.compare.item import item_lines
from proxy.recipes.evidence.evidence import Evidence, Record
from proxy.recipes.evidence.figure_words import figure_words, name_words
from proxy.recipes.evidence.figures import Figure, Status
from proxy.recipes.evidence.provenance import FILE as PROVENANCE
from proxy.recipes.evidence.provenance import Knowledge
from proxy.recipes.evidence.results import Measure
from proxy.recipes.recipe import Recipe

_MEASURES: Final = frozenset[str](Measure)
_NO_NUMBER: Final = "no number"
_HEADINGS: Final = ("on record", "A", "B")


def record_of(evidence: Evidence, recipe: Recipe) -> Record | None:
    """The record of a recipe that is the same in all that counts."""
    match = evidence.nearest(recipe)
    return match.record if match and match.is_exact else None


def choices_of(record: Record | None) -> Mapping[str, Choice]:
    """What the engine of a recipe on record chose by itself."""
    if record is None or record.origin is None:
        return {}
    return {
        switch: Choice(choice.value, choice.status is Knowledge.INFERRED)
        for switch, choice in record.origin.chosen.items()
    }


def result_lines(a: Record | None, b: Record | None) -> Iterator[str]:
    """A table of what was measured with either, then what else its source says, and who that is.

    Nothing where nothing was measured.
    """
    records = {letter: record for letter, record in (("A", a), ("B", b)) if record}
    if not records:
        return
    rows = [
        (measure.value, _shown(a, measure), _shown(b, measure))
        for measure in Measure
        if any(measure in record.variant.figures for record in records.values())
    ]
    yield from table(_HEADINGS, rows)
    for sentence in (*_statements("A", a, b), *_statements("B", b, a)):
        yield from item_lines(sentence)
    yield from dict.fromkeys(map(_source, records.values()))
    for letter, record in records.items():
        if not record.is_known:
            yield f"{letter} is not told whole by its source: see {PROVENANCE} for what is assumed."
    for letter in sorted({"A", "B"} - records.keys()):
        yield f"Nothing is on record for {letter}."


def results_document(record: Record | None) -> Mapping[str, Any] | None:
    """The same for JSON, for one recipe."""
    if record is None:
        return None
    figures = record.variant.figures.items()
    return {
        "source": record.source.title,
        "measured_by": record.source.measured_by,
        "machine": record.source.machine,
        "recipe_is_known": record.is_known,
        "figures": {name: {"shown": each.shown, "status": each.status} for name, each in figures},
        "not_stated": {name: said for name, said in record.variant.not_stated.items() if said},
        "comparable": record.variant.comparable,
    }


def _statements(letter: str, record: Record | None, other: Record | None) -> Iterator[str]:
    """What the source says of one recipe beside its own numbers: against the other, or in words."""
    if record is None:
        return
    variant = record.variant
    for name, figure in variant.figures.items():
        if other and figure.against == other.name:
            yield f"{letter}, {name_words(name)}: {figure_words(figure)}"
        elif name in _MEASURES and figure.note:
            yield f"{letter}, {name_words(name)}: {figure.note}"
    for measure, said in variant.not_stated.items():
        if said:
            yield f"{letter}, {name_words(measure)}: no number, but {said}"
    if variant.comparable:
        yield f"{letter} is comparable with the others {variant.comparable}"


def _shown(record: Record | None, measure: Measure) -> str:
    figure = record.variant.figures.get(measure) if record else None
    return _NO_NUMBER if figure is None else _with_status(figure)


def _with_status(figure: Figure) -> str:
    """A stated number speaks for itself."""
    return figure.shown if figure.status is Status.STATED else f"{figure.shown} ({figure.status})"


def _source(record: Record) -> str:
    source = record.source
    return f"Measured by {source.measured_by}, {source.date}, {source.machine}: {source.title}"
