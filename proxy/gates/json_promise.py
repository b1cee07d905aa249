"""What kind of JSON a request asks for, read from its `response_format` or `structured_outputs`."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from proxy.errors import InvalidRequest
from proxy.gates.schema import CompiledSchema, SchemaBounds, compile_schema
from proxy.gates.schema_formats import TextFormat
from proxy.gates.schema_references import InvalidSchema

_BOUNDS = SchemaBounds()
_ROOM_AROUND_SCHEMA_BYTES = 65_536


class Format(StrEnum):
    """The ways in which a request can ask for JSON."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    STRUCTURED_OUTPUTS = "structured_outputs"


@dataclass(frozen=True, slots=True)
class JsonPromise:
    """Without a schema any document will do, or any object.

    Reading a promise is cheap; compiling its schema may not be. `param` is where the schema stood.
    """

    schema: bytes | None = None
    param: str = ""
    must_be_object: bool = False


def compile_promise(
    promise: JsonPromise, bounds: SchemaBounds = _BOUNDS, check_formats: Collection[TextFormat] = ()
) -> CompiledSchema | None:
    """The schema of a promise, if it has one. Raises `InvalidRequest` where it is none.

    `check_formats`: which `format` names of the schema are asserted; others are annotations.
    """
    if promise.schema is None:
        return None
    try:
        return compile_schema(promise.schema, bounds, check_formats)
    except InvalidSchema as error:
        where = f" at {error.pointer}" if error.pointer else ""
        message = f"The JSON Schema cannot be used: {error.message}{where}."
        raise InvalidRequest(message, param=promise.param) from error


def read_promise(
    response_format: bytes, structured_outputs: bytes, formats: Collection[Format]
) -> JsonPromise | None:
    """None where the request does not ask for JSON in one of these formats.

    `response_format` wins, as it does in vLLM. Raises `InvalidRequest` with the member at fault.
    """
    promise = _from_response_format(response_format, formats) if response_format else None
    if promise is None and structured_outputs and Format.STRUCTURED_OUTPUTS in formats:
        promise = _from_structured_outputs(structured_outputs)
    return promise


def _from_response_format(raw: bytes, formats: Collection[Format]) -> JsonPromise | None:
    wanted = _object(_document(raw, "response_format"), "response_format")
    kind = wanted.get("type")
    if not isinstance(kind, str):
        raise InvalidRequest("`type` must be a string.", param="response_format.type")
    if kind == Format.JSON_OBJECT and Format.JSON_OBJECT in formats:
        return JsonPromise(must_be_object=True)
    if kind != Format.JSON_SCHEMA or Format.JSON_SCHEMA not in formats:
        return None
    param = "response_format.json_schema"
    json_schema = _object(wanted.get("json_schema"), param)
    if json_schema.get("schema") is None:
        return JsonPromise()
    return _with_schema(json.dumps(json_schema["schema"]), f"{param}.schema")


def _from_structured_outputs(raw: bytes) -> JsonPromise | None:
    wanted = _object(_document(raw, "structured_outputs"), "structured_outputs")
    schema = wanted.get("json")
    if schema is None:
        return JsonPromise(must_be_object=True) if wanted.get("json_object") is True else None
    if not isinstance(schema, (dict, str)):
        message = "`json` must be a JSON Schema, as an object or as a string."
        raise InvalidRequest(message, param="structured_outputs.json")
    text = schema if isinstance(schema, str) else json.dumps(schema)
    return _with_schema(text, "structured_outputs.json")


def _with_schema(text: str, param: str) -> JsonPromise:
    return JsonPromise(text.encode("utf-8", "replace"), param)


def _document(raw: bytes, param: str) -> Any:
    if len(raw) > _BOUNDS.max_bytes + _ROOM_AROUND_SCHEMA_BYTES:
        raise InvalidRequest(f"`{param}` is too large.", param=param)
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"`{param}` is not readable JSON.", param=param) from error


def _object(value: Any, param: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidRequest(f"`{param}` must be an object.", param=param)
    return value
