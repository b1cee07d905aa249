"""From what pydantic found to problems in plain English, each with its place and a remedy."""

import types
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from proxy.contract.known_words import did_you_mean
from proxy.contract.section import CheckFailed
from proxy.errors import Problem
from proxy.gates.option_error import BadOption
from proxy.yaml_places import KeyPath, Places

_WANTED: Final = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping of keys and values",
    "mapping_type": "a mapping of keys and values",
    "model_type": "a mapping of keys and values",
    "model_attributes_type": "a mapping of keys and values",
    "path_type": "a path",
}
_BOUNDS: Final = {
    "greater_than": ("above", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("below", "lt"),
    "less_than_equal": ("at most", "le"),
}
_LENGTHS: Final = {
    "too_short": ("at least", "min_length"),
    "string_too_short": ("at least", "min_length"),
    "too_long": ("at most", "max_length"),
    "string_too_long": ("at most", "max_length"),
}
_KINDS: Final[Sequence[tuple[type, str]]] = (
    (bool, "true or false"),
    (str, "text"),
    (list, "a list"),
    (dict, "a mapping"),
    (types.NoneType, "nothing"),
)
_SHOWN_CHARACTERS: Final = 60


@dataclass(frozen=True, slots=True)
class Origin:
    """Where validated data stood: the places of its document and its path in there.

    `siblings`: paths to keys that are read elsewhere but may stand beside the model's own.
    """

    places: Places
    prefix: KeyPath = ()
    siblings: Collection[KeyPath] = ()


def problems_of(error: ValidationError, model: type[BaseModel], origin: Origin) -> list[Problem]:
    """One problem for each error of `model`, at the key or value at fault."""
    return [
        _problem_of(details, model, origin)
        for details in error.errors(include_url=False)
        if not _is_echo(details)
    ]


def _is_echo(details: ErrorDetails) -> bool:
    """Pydantic also calls a list too short when enough of its items were wrong."""
    least: int = details.get("ctx", {}).get("min_length", 0)
    return details["type"] == "too_short" and len(details["input"]) >= least


def fields_at(model: type[BaseModel], path: Sequence[str | int]) -> frozenset[str]:
    """The keys that a model has at a path; none where it takes any key or holds a plain value."""
    kind = _bare(_type_at(model, path))
    return frozenset(_keys_of(kind)) if _is_model(kind) else frozenset()


def is_free_mapping(model: type[BaseModel], path: Sequence[str | int]) -> bool:
    """Whether a value here is a mapping of members that no model knows, such as a JSON Schema."""
    kind = _bare(_type_at(model, path))
    return get_origin(kind) is dict and get_args(kind)[1] is Any


def has_member(model: type[BaseModel], path: Sequence[str | int]) -> bool:
    """Whether a model has a key at a path; a mapping has any key."""
    return _type_at(model, path) is not None


def _problem_of(details: ErrorDetails, model: type[BaseModel], origin: Origin) -> Problem:
    loc = tuple(step for step in details["loc"] if step != "[key]")
    path = (*origin.prefix, *loc)
    failed = details.get("ctx", {}).get("error")
    if details["type"] == "extra_forbidden":
        siblings = {str(key[-1]) for key in origin.siblings if key[:-1] == loc[:-1]}
        remedy = did_you_mean(str(loc[-1]), fields_at(model, loc[:-1]) | siblings)
        return Problem(origin.places.key(path), f"unknown key `{_dotted(path)}`", remedy)
    if details["type"] == "missing":
        message = f"the key `{_dotted(path)}` is missing"
        return Problem(origin.places.key(path), message, f"add `{loc[-1]}: ...`")
    if isinstance(failed, CheckFailed | BadOption):
        path = (*path, *failed.at)
        place = origin.places.key(path) if "[key]" in details["loc"] else origin.places.value(path)
        return Problem(place, f"{_name(path)} {failed}", failed.remedy)
    message, remedy = _in_plain_english(details)
    return Problem(origin.places.value(path), f"{_name(path)} {message}", remedy)


def _in_plain_english(details: ErrorDetails) -> tuple[str, str]:
    kind = details["type"]
    context: Mapping[str, Any] = details.get("ctx", {})
    value = details["input"]
    shown = str(value)[:_SHOWN_CHARACTERS]
    if wanted := _WANTED.get(kind):
        return f"must be {wanted}, not {_kind_of(value)}", _type_remedy(value, wanted)
    if bound := _BOUNDS.get(kind):
        words, key = bound
        return f"is {shown}, but must be {words} {context[key]}", "change the number"
    if length := _LENGTHS.get(kind):
        words, key = length
        one, many = ("character", "characters") if isinstance(value, str) else ("entry", "entries")
        unit = one if context[key] == 1 else many
        message = f"must have {words} {context[key]} {unit}, not {len(value)}"
        return message, f"write {words} {context[key]}"
    if kind in ("enum", "literal_error"):
        return f"cannot be `{shown}`", did_you_mean(shown, _choices(str(context["expected"])))
    return f"is wrong: {context.get('error', details['msg'])}", "change the value"


def _type_remedy(value: Any, wanted: str) -> str:
    if wanted == "text" and isinstance(value, bool | int | float):
        return "write it in quotes"
    if wanted.endswith("number") and isinstance(value, str) and _looks_like_number(value):
        return "write it without quotes"
    if wanted == "a list" and isinstance(value, str):
        return f"write [{value[:_SHOWN_CHARACTERS]}]"
    return f"write {wanted}"


def _looks_like_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdecimal()


def _kind_of(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)[:_SHOWN_CHARACTERS]
    return next((words for kind, words in _KINDS if isinstance(value, kind)), type(value).__name__)


def _choices(expected: str) -> list[str]:
    """Pydantic writes choices as `'a', 'b' or 'c'`."""
    return expected.split("'")[1::2]


def _name(path: KeyPath) -> str:
    return f"`{_dotted(path)}`" if path else "the file"


def _dotted(path: KeyPath) -> str:
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in path]
    return "".join(steps).removeprefix(".")


def _type_at(model: type[BaseModel], path: Sequence[str | int]) -> Any:
    return reduce(_member, path, model)


def _member(kind: Any, step: str | int) -> Any:
    """The type of one member of a model, mapping or list; None where there is none."""
    kind = _bare(kind)
    if _is_model(kind):
        return _keys_of(kind).get(str(step))
    if get_origin(kind) is dict:
        return get_args(kind)[1]
    if get_origin(kind) in (list, tuple) and isinstance(step, int):
        return get_args(kind)[0]
    return None


def _keys_of(model: type[BaseModel]) -> Mapping[str, Any]:
    """The type of each key; a field that cannot have its key's name has it as its alias."""
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def _bare(kind: Any) -> Any:
    """A type without `Annotated` and without `| None`."""
    if get_origin(kind) is Annotated:
        return _bare(get_args(kind)[0])
    if get_origin(kind) in (Union, types.UnionType):
        others = [other for other in get_args(kind) if other is not types.NoneType]
        return _bare(others[0]) if len(others) == 1 else None
    return kind


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
