"""The settings of a lane's probe as a model: what it asks, how often, and what a failure means."""

import json
from pathlib import Path
from typing import Annotated, Any, Final, Self, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from proxy.contract.probe_options import (
    DEFAULT_PROMPT,
    DEFAULT_SCHEMA,
    OnFail,
    ProbeOptions,
    Question,
)
from proxy.contract.section import CheckFailed, Section
from proxy.gates.schema import compile_schema
from proxy.gates.schema_references import InvalidSchema
from proxy.yaml_places import KeyPath

# Beside `valid`, so that a few invalid answers do not fail the probe.
_SPARE_ATTEMPTS: Final = 4
_OWN_MEMBERS: Final = {
    "messages": "set `prompt`",
    "response_format": "set `schema`",
    "max_tokens": "set `max_tokens` of the probe",
    "max_completion_tokens": "set `max_tokens` of the probe",
    "stream": "remove it; the probe reads whole replies",
    "stream_options": "remove it; the probe reads whole replies",
    "n": "remove it; `valid` says how many answers are wanted",
}


def _read_file(value: Any) -> Any:
    """A text names a JSON file; what it holds takes its place."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(Path(value).read_bytes())
    except OSError as error:
        message = f"names the file {value}, which cannot be read: {error.strerror}"
        raise CheckFailed(message, "check the path, or write the schema here") from error
    except json.JSONDecodeError as error:
        message = f"is no JSON: {value}:{error.lineno}:{error.colno}: {error.msg}"
        raise CheckFailed(message, "correct the file") from error
    except (ValueError, RecursionError) as error:
        message = f"names the file {value}, which is no JSON in UTF-8"
        raise CheckFailed(message, "correct the file") from error


def _check_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Hold the schema against what the gate asks of any, by the gate's own check."""
    try:
        compile_schema(_json(schema).encode())
    except InvalidSchema as error:
        where = f" at {error.pointer}" if error.pointer else ""
        message = f"cannot be used as a JSON Schema: {error.message}{where}"
        raise CheckFailed(message, "correct the schema", _path_of(error.pointer)) from error
    return schema


def _path_of(pointer: str) -> KeyPath:
    """The steps of a JSON pointer; digits may be an index or a name, and count as an index."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    return tuple(int(step) if step.isdecimal() else step for step in steps)


def _check_members(members: dict[str, Any]) -> dict[str, Any]:
    for name, remedy in _OWN_MEMBERS.items():
        if name in members:
            raise CheckFailed("is the probe's own to say", remedy, (name,))
    _json(members)
    return members


def _json(document: dict[str, Any]) -> str:
    try:
        return json.dumps(document, allow_nan=False)
    except ValueError as error:
        message = "holds a number that JSON has no word for"
        raise CheckFailed(message, "write a finite number") from error


_Schema: TypeAlias = Annotated[
    dict[str, Any], BeforeValidator(_read_file), AfterValidator(_check_schema)
]
_Members: TypeAlias = Annotated[dict[str, Any], AfterValidator(_check_members)]
_Seconds: TypeAlias = Annotated[float, Field(gt=0)]


class ProbeSettings(Section):
    """A probe of every new engine start. `attempts` None: four more than `valid`.

    `schema` is a JSON Schema, or the name of a JSON file that holds one.
    """

    valid: Annotated[int, Field(ge=1)] = 1
    on_fail: Annotated[OnFail, Field(strict=False)] = OnFail.OPEN
    attempts: Annotated[int, Field(ge=1)] | None = None
    timeout_seconds: _Seconds = 60
    again_seconds: _Seconds = 30
    prompt: Annotated[str, Field(min_length=1)] = DEFAULT_PROMPT
    json_schema: _Schema = Field(alias="schema", default_factory=lambda: dict(DEFAULT_SCHEMA))
    max_tokens: Annotated[int, Field(ge=1)] = 2048
    request: _Members = Field(default_factory=dict)

    @model_validator(mode="after")
    def _can_pass(self) -> Self:
        if self.attempts is not None and self.attempts < self.valid:
            message = f"is {self.attempts}, fewer than the {self.valid} answers of `valid`"
            raise CheckFailed(message, f"write at least {self.valid}", ("attempts",))
        return self

    def value(self) -> ProbeOptions:
        return ProbeOptions(
            valid=self.valid,
            on_fail=self.on_fail,
            attempts=self.attempts or self.valid + _SPARE_ATTEMPTS,
            timeout_seconds=self.timeout_seconds,
            again_seconds=self.again_seconds,
            question=Question(self.prompt, self.json_schema, self.max_tokens, self.request),
        )
