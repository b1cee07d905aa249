"""Results on record: what was measured with which recipe on which machine, number by number.

The reader holds a file against its own arithmetic: what is said to follow from other numbers must
follow from them, and a percentage that the source states must agree with the numbers it compares.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Final

from pydantic import Field

from proxy.errors import Problem, RecipeError
from proxy.recipes.evidence.figures import Figure, Operation, Range, Status, applied
from proxy.recipes.evidence.table import Row, read_table
from proxy.yaml_places import KeyPath, Places

COMMON: Final = "common"


class Measure(StrEnum):
    """What every variant is asked for: measured, or said to be not stated."""

    TG32 = "tg32"
    TG128 = "tg128"
    TG256 = "tg256"
    TG512 = "tg512"
    TTFR = "ttfr"
    TOOL_EVAL_SHORT = "tool_eval_short"
    TOOL_EVAL_HARDMODE = "tool_eval_hardmode"
    LENGTH_CONTRACT = "length_contract"
    TEASERS = "teasers"


class Source(Row):
    """Who measured, when, and on which machine of hardware.yaml."""

    title: str
    measured_by: str
    date: str
    machine: str
    machine_quote: str
    limits: tuple[str, ...]
    not_stated: tuple[str, ...]


class Variant(Row):
    """One recipe's numbers. `recipe` is the file's name; only `common` has none.

    `comparable` limits what its numbers may be compared with. `not_stated` holds the measures that
    the source gives no number for, with what it says of them instead.
    """

    recipe: str | None = None
    comparable: str = ""
    figures: Mapping[str, Figure]
    not_stated: Mapping[Measure, str] = Field(default_factory=dict)


class Results(Row):
    """One file of results."""

    source: Source
    variants: Mapping[str, Variant]

    def figure(self, variant: str, name: str) -> Figure | None:
        """The figure `NAME` of a variant, or `VARIANT.NAME` of another one."""
        owner, dot, rest = name.partition(".")
        found = self.variants.get(owner if dot else variant)
        return found.figures.get(rest if dot else name) if found else None


def read_results(path: Path) -> Results:
    """Read one file of results. Raises `RecipeError` with every problem in it."""
    results, places = read_table(path, Results)
    if problems := list(_Checks(results, places).problems()):
        raise RecipeError(problems)
    return results


@dataclass(frozen=True, slots=True)
class _Entry:
    """One figure and where it belongs."""

    variant: str
    name: str
    figure: Figure

    @property
    def path(self) -> KeyPath:
        return "variants", self.variant, "figures", self.name


@dataclass(frozen=True, slots=True)
class _Checks:
    results: Results
    places: Places

    def problems(self) -> Iterator[Problem]:
        for name, variant in self.results.variants.items():
            yield from self._gaps(name, variant)
            for key, figure in variant.figures.items():
                entry = _Entry(name, key, figure)
                yield from self._arithmetic(entry)
                yield from self._held_against_a_variant(entry)

    def _gaps(self, name: str, variant: Variant) -> Iterator[Problem]:
        place = self.places.key(("variants", name))
        if (variant.recipe is None) != (name == COMMON):
            message = f"`{name}`: every variant but `{COMMON}` names its recipe"
            yield Problem(place, message, "write `recipe: FILE.yaml`")
        if variant.recipe is None:
            return
        for measure in Measure:
            if (measure in variant.figures) == (measure in variant.not_stated):
                message = f"`{name}`: `{measure}` is a figure or not stated, one of both"
                yield Problem(place, message, f"add or remove `{measure}`")

    def _held_against_a_variant(self, entry: _Entry) -> Iterator[Problem]:
        against = entry.figure.against
        if against and against not in self.results.variants:
            place = self.places.value((*entry.path, "against"))
            names = ", ".join(self.results.variants)
            yield Problem(place, f"there is no variant `{against}`", f"one of {names}")

    def _arithmetic(self, entry: _Entry) -> Iterator[Problem]:
        for operation, terms in entry.figure.formula.items():
            yield from self._held_against(entry, operation, terms)

    def _held_against(
        self, entry: _Entry, operation: Operation, terms: Sequence[str]
    ) -> Iterator[Problem]:
        found = [self.results.figure(entry.variant, term) for term in terms]
        figures = [figure for figure in found if figure is not None]
        place = self.places.value((*entry.path, "formula"))
        if len(figures) != len(found):
            names = ", ".join(f"`{t}`" for t, f in zip(terms, found, strict=True) if f is None)
            yield Problem(place, f"there is no figure {names}", "write NAME or VARIANT.NAME")
            return
        if message := _objection(entry.figure, operation, figures):
            place = self.places.key(entry.path)
            yield Problem(place, f"`{entry.name}` {message}", "correct the number")


def _objection(figure: Figure, operation: Operation, terms: Sequence[Figure]) -> str:
    """What does not fit between a figure and its formula; empty where all does."""
    try:
        computed = applied(operation, *(term.range for term in terms))
        return _disagreement(figure, computed, about=any(term.about for term in terms))
    except ArithmeticError:
        return "cannot be computed from these numbers"


def _disagreement(figure: Figure, computed: Range, *, about: bool) -> str:
    if figure.status is Status.STATED:
        return "" if _overlap(figure.range, computed) else f"does not fit {_shown(computed)}"
    if about and not figure.about:
        return "follows from an approximate number: add `about: true`"
    pairs = (
        (figure.value, computed.middle),
        (figure.at_least, computed.low),
        (figure.at_most, computed.high),
    )
    return "" if all(_agree(*pair) for pair in pairs) else f"follows as {_shown(computed)}"


def _agree(written: Decimal | None, computed: Decimal | None) -> bool:
    """Both absent, or equal in the digits that are written."""
    if written is None or computed is None:
        return written is computed
    return computed.quantize(written) == written


def _overlap(stated: Range, computed: Range) -> bool:
    low = max(end for end in (stated.low, computed.low, Decimal("-Infinity")) if end is not None)
    high = min(end for end in (stated.high, computed.high, Decimal("Infinity")) if end is not None)
    return low <= high


def _shown(found: Range) -> str:
    ends = (found.middle, found.low, found.high)
    middle, low, high = ("-" if end is None else f"{end:.2f}" for end in ends)
    return f"{middle} ({low} to {high})"
