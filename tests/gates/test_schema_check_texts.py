from collections.abc import Collection
from typing import Any

import pytest

from proxy.gates.schema_check import Declined, Steps
from proxy.gates.schema_check_texts import TEXT_KEYWORDS, length_checks, text_checks
from proxy.gates.schema_formats import TextFormat
from proxy.gates.schema_patterns import compile_pattern
from proxy.gates.schema_run import OutOfSteps

PATTERNS = {"^a": compile_pattern("^a"), "(?=a)": None}


def _fit(
    schema: dict[str, Any],
    *texts: str,
    formats: Collection[TextFormat] = (TextFormat.DATE,),
    steps: int = 99,
) -> bool:
    checks = text_checks(schema, schema.keys() & TEXT_KEYWORDS, PATTERNS, formats)
    return all(fits(list(texts), Steps(steps)) for fits in checks)


@pytest.mark.parametrize(
    ("schema", "fitting", "other"),
    [
        ({"minLength": 2}, "ab", "a"),
        ({"maxLength": 2.0}, "😀😀", "abc"),
        ({"pattern": "^a"}, "ab", "b"),
        ({"format": "date"}, "2026-01-31", "today"),
        ({"minLength": 1, "pattern": "^a", "maxLength": 2}, "a", "abc"),
    ],
)
def test_texts_are_held_to_their_keywords(schema: dict[str, Any], fitting: str, other: str) -> None:
    assert _fit(schema, fitting, fitting)
    assert not _fit(schema, fitting, other)


@pytest.mark.parametrize("text_format", ["email", "no-such-format", ["date"]])
def test_format_that_is_not_asserted_is_an_annotation(text_format: object) -> None:
    assert _fit({"format": text_format}, "no date")


@pytest.mark.parametrize("pattern", ["(?=a)", "^b", 5, []])
def test_pattern_that_is_not_compiled_is_declined(pattern: object) -> None:
    with pytest.raises(Declined):
        _fit({"pattern": pattern}, "a")


@pytest.mark.parametrize("value", ["2", True, None])
def test_length_that_is_no_number_is_declined(value: object) -> None:
    with pytest.raises(Declined):
        _fit({"minLength": value}, "a")


def test_lengths_are_those_of_arrays_and_objects_too() -> None:
    schema = {"minItems": 1, "maxItems": 2}
    least, most = length_checks(schema, schema.keys(), "Items")

    assert least([[1], [1, 2, 3]], Steps(9))
    assert not most([[1], [1, 2, 3]], Steps(9))


@pytest.mark.parametrize("schema", [{"pattern": "^a"}, {"format": "date"}], ids=str)
def test_looking_at_long_texts_is_paid_for(schema: dict[str, Any]) -> None:
    with pytest.raises(OutOfSteps):
        _fit(schema, "a" * 10_000, steps=9)
