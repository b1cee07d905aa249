"""Where and how a document breaks a schema, in few words that do not repeat the document."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from jsonschema.exceptions import ValidationError, best_match

LONGEST_POINTER = 200
_MOST_QUOTED = 80
_ERRORS_COMPARED = 64


@dataclass(frozen=True, slots=True)
class Violation:
    """`pointer` leads to the culprit; `message` is a predicate: "is a string, not an integer"."""

    pointer: str
    message: str
    keyword: str


def most_telling(errors: Iterable[ValidationError]) -> ValidationError | None:
    """The outermost of the first errors; for a union, the deepest of the branch that came closest.

    Always the same one for the same schema and document.
    """
    best: ValidationError | None = best_match(islice(errors, _ERRORS_COMPARED), key=_relevance)
    return best


def _relevance(error: ValidationError) -> tuple[int, bool, bool]:
    is_union = error.validator in ("anyOf", "oneOf")
    return (-len(error.path), not is_union, error.validator == "type")


def describe(error: ValidationError) -> Violation:
    keyword = error.validator if isinstance(error.validator, str) else "false"
    return Violation(json_pointer(error.absolute_path), _predicate(keyword, error), keyword)


def json_pointer(path: Iterable[str | int]) -> str:
    return shorten("".join(f"/{escape(str(step))}" for step in path), LONGEST_POINTER)


def escape(name: str) -> str:
    """One segment of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def shorten(text: str, longest: int = _MOST_QUOTED) -> str:
    """At most so many characters, each of which can be written as UTF-8."""
    short = text if len(text) <= longest else text[: longest - 1] + "…"
    return short.encode("utf-8", "replace").decode()


def _predicate(keyword: str, error: ValidationError) -> str:
    value: Any = error.validator_value
    instance: Any = error.instance
    match keyword:
        case "type":
            types = value if isinstance(value, list) else [value]
            predicate = f"is {_kind(instance)}, not {shorten(' or '.join(map(str, types)))}"
        case "required":
            predicate = f"lacks {_quoted(name for name in value if name not in instance)}"
        case "additionalProperties" | "unevaluatedProperties":
            predicate = f"has members that the schema does not allow: {shorten(error.message)}"
        case "unevaluatedItems":
            predicate = f"has items that the schema does not allow: {shorten(error.message)}"
        case "enum":
            predicate = f"is none of {_quoted(value)}"
        case "false":
            predicate = "has a part that the schema does not allow"
        case _ if isinstance(value, (str, int, float)):
            predicate = f"does not satisfy {keyword} {_quoted([value])}"
        case _:
            predicate = f"does not satisfy {keyword}"
    return predicate


def _quoted(values: Iterable[Any]) -> str:
    return shorten(", ".join(json.dumps(value, ensure_ascii=False) for value in values))


def _kind(instance: Any) -> str:
    match instance:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
    return "an object"
