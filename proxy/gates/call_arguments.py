"""Reads the arguments of one tool call, judges them by the tool's schema, repairs where allowed."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.errors import Fault
from proxy.gates.base import Repair
from proxy.gates.json_prefix import Finding, Limits
from proxy.gates.schema import CompiledSchema
from proxy.gates.schema_violation import Violation
from proxy.gates.strict_reading import Document, read_document
from proxy.wire.splice import items_of, members_of, with_members

_EMPTY = ("", "null")
_BLANKS = " \t\n\r"
_MOST_COERCED = 64


@dataclass(frozen=True, slots=True)
class Sound:
    """Arguments that can be executed; `text` is new where repairs made it, else None."""

    text: str | None = None
    repairs: tuple[Repair, ...] = ()


@dataclass(frozen=True, slots=True)
class Unsound:
    """Why arguments cannot be executed: a predicate of what `pointer` leads to.

    `is_begun`: they are the beginning of a JSON document. `is_empty`: there are none.
    """

    fault: Fault
    predicate: str
    pointer: str = ""
    is_begun: bool = False
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class ArgumentsReader:
    """The limits that arguments keep, and the repairs and coercions that a policy allows."""

    limits: Limits
    repairs: Collection[Repair] = ()

    def read(self, text: str, schema: CompiledSchema | None) -> Sound | Unsound:
        """Judge one call's arguments; without a schema any object will do. Raises `Undecided`."""
        if text.strip(_BLANKS) in _EMPTY:
            return self._read_empty(schema)
        reading = read_document(text, self.limits)
        if isinstance(reading, Finding):
            return _unreadable(reading)
        violation = _violation(reading.value, schema)
        if violation is None:
            return Sound()
        coerced = self._coerce(text, reading, violation, schema)
        if coerced is not None:
            return coerced
        return Unsound(Fault.ARGUMENTS_VIOLATE_SCHEMA, violation.message, violation.pointer)

    def _read_empty(self, schema: CompiledSchema | None) -> Sound | Unsound:
        if Repair.EMPTY_ARGUMENTS in self.repairs and _violation({}, schema) is None:
            return Sound("{}", (Repair.EMPTY_ARGUMENTS,))
        return Unsound(Fault.ARGUMENTS_NOT_JSON, "is empty, not a JSON object", is_empty=True)

    def _coerce(
        self, text: str, document: Document, violation: Violation, schema: CompiledSchema | None
    ) -> Sound | None:
        """Put the text of a string in the string's place, wherever that is what violates.

        All else stays as spelled. None when the schema is not satisfied in the end.
        """
        repairs: list[Repair] = []
        while len(repairs) < _MOST_COERCED:
            path, value = _resolve(document.value, violation.pointer)
            repair = self._coercion(value)
            if repair is None:
                return None
            repairs.append(repair)
            text = _replaced(text.encode(), path, value.encode()).decode()
            reading = read_document(text, self.limits)
            if isinstance(reading, Finding):
                return None
            still = _violation(reading.value, schema)
            if still is None:
                return Sound(text, tuple(repairs))
            document, violation = reading, still
        return None

    def _coercion(self, value: Any) -> Repair | None:
        """What it would be called to take a value out of this string, if it is allowed."""
        reading = read_document(value, self.limits) if isinstance(value, str) else None
        if not isinstance(reading, Document) or isinstance(reading.value, (str, type(None))):
            return None
        is_container = isinstance(reading.value, (dict, list))
        repair = Repair.JSON_STRING if is_container else Repair.NUMBER_STRING
        is_exact = is_container or value == value.strip(_BLANKS)
        return repair if is_exact and repair in self.repairs else None


def _violation(value: Any, schema: CompiledSchema | None) -> Violation | None:
    if not isinstance(value, dict):
        return Violation("", "is not a JSON object", "type")
    return schema.validate(value) if schema is not None else None


def _unreadable(finding: Finding) -> Unsound:
    predicate = f"is not one strict JSON object: {finding.reason} (character {finding.at})"
    is_begun = finding.fault is Fault.UNFINISHED
    return Unsound(Fault.ARGUMENTS_NOT_JSON, predicate, is_begun=is_begun)


def _resolve(document: Any, pointer: str) -> tuple[Sequence[str | int], Any]:
    """The steps of a JSON pointer and the value there; None where a shortened one leads nowhere."""
    path: list[str | int] = []
    value = document
    for segment in pointer.split("/")[1:]:
        name = segment.replace("~1", "/").replace("~0", "~")
        step = int(name) if isinstance(value, list) and name.isdecimal() else name
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return (), None
        path.append(step)
    return path, value


def _replaced(raw: bytes, path: Sequence[str | int], new: bytes) -> bytes:
    if not path:
        return new
    step, *rest = path
    if isinstance(step, str):
        return with_members(raw, {step: _replaced(members_of(raw)[step], rest, new)})
    items = items_of(raw)
    items[step] = _replaced(items[step], rest, new)
    return b"[" + b",".join(items) + b"]"
