"""Checks of texts: lengths, patterns, asserted formats; and of all that has a length."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from proxy.gates.schema_check import VALUES_PER_STEP, Declined, Fits, Steps
from proxy.gates.schema_check_scalars import number
from proxy.gates.schema_formats import TextFormat, conforms
from proxy.gates.schema_patterns import Pattern

TEXT_KEYWORDS: Final = frozenset(("format", "maxLength", "minLength", "pattern"))


def length_checks(schema: Mapping[str, Any], used: Collection[str], of: str) -> Iterator[Fits]:
    """`minLength` and `maxLength`, and the like of `Items` and `Properties`."""
    if f"min{of}" in used:
        yield _at_least(number(schema[f"min{of}"]))
    if f"max{of}" in used:
        yield _at_most(number(schema[f"max{of}"]))


def _at_least(least: float) -> Fits:
    return lambda values, _: min(map(len, values)) >= least


def _at_most(most: float) -> Fits:
    return lambda values, _: max(map(len, values)) <= most


def text_checks(
    schema: Mapping[str, Any],
    used: Collection[str],
    patterns: Mapping[str, Pattern | None],
    formats: Collection[TextFormat],
) -> Iterator[Fits]:
    """`pattern`, and `format` where it is asserted; else that one is an annotation."""
    yield from length_checks(schema, used, "Length")
    if "pattern" in used:
        yield _matching(checked_pattern(schema["pattern"], patterns))
    if "format" in used and schema["format"] in tuple(formats):
        yield _of_format(TextFormat(schema["format"]))


def checked_pattern(pattern: Any, patterns: Mapping[str, Pattern | None]) -> Pattern:
    compiled = patterns.get(pattern) if isinstance(pattern, str) else None
    if compiled is None:
        raise Declined("a pattern that cannot be checked")
    return compiled


def _matching(pattern: Pattern) -> Fits:
    def fits(texts: list[Any], steps: Steps) -> bool:
        distinct = set(texts)
        steps.spend_on_texts(distinct)
        return all(map(pattern.search, distinct))

    return fits


def _of_format(text_format: TextFormat) -> Fits:
    def fits(texts: list[Any], steps: Steps) -> bool:
        steps.spend(len(texts) * VALUES_PER_STEP)
        steps.spend_on_texts(texts)
        return all(conforms(text, text_format) for text in texts)

    return fits
