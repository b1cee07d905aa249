"""A client's request as a value: its bytes, and the few members that decide its way.

Reading is lazy on purpose: the body is scanned once for a dozen members, everything else is passed
over, so unknown fields and vendor extras cost nothing and survive byte for byte.
"""

import json
from dataclasses import dataclass
from typing import Any, Never

import msgspec

_ABSENT = msgspec.Raw(b"")


class MalformedBody(ValueError):
    """The body is not a JSON object of the expected types.

    `param` names the member at fault (empty when the document itself is broken).
    """

    def __init__(self, message: str, param: str = "") -> None:
        super().__init__(message)
        self.param = param


class _StreamOptions(msgspec.Struct, frozen=True):
    include_usage: bool | None = None


class _Head(msgspec.Struct, frozen=True):
    model: str | None = None
    stream: bool | None = None
    n: int | None = None
    seed: int | None = None
    temperature: float | None = None
    stream_options: _StreamOptions | None = None
    response_format: msgspec.Raw = _ABSENT
    structured_outputs: msgspec.Raw = _ABSENT
    chat_template_kwargs: msgspec.Raw = _ABSENT
    reasoning_effort: msgspec.Raw = _ABSENT
    messages: msgspec.Raw = _ABSENT
    tools: msgspec.Raw = _ABSENT


_DECODER = msgspec.json.Decoder(_Head)


@dataclass(frozen=True, slots=True)
class Request:
    """One client request. `bytes` members are raw JSON, empty when absent or null.

    `include_usage` is None when the client said nothing about stream usage.
    """

    body: bytes
    model: str = ""
    stream: bool = False
    n: int = 1
    seed: int | None = None
    temperature: float | None = None
    include_usage: bool | None = None
    has_stream_options: bool = False
    response_format: bytes = b""
    structured_outputs: bytes = b""
    chat_template_kwargs: bytes = b""
    reasoning_effort: bytes = b""
    messages: bytes = b""
    tools: bytes = b""


def read_request(body: bytes) -> Request:
    """Read the members that decide a request's way.

    Raises `MalformedBody` for anything but one JSON object with these members in their types.
    """
    try:
        head = _DECODER.decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        head = _read_slowly(body, error)
    options = head.stream_options
    return Request(
        body=body,
        model=head.model or "",
        stream=bool(head.stream),
        n=1 if head.n is None else head.n,
        seed=head.seed,
        temperature=head.temperature,
        include_usage=options.include_usage if options else None,
        has_stream_options=options is not None,
        response_format=_raw(head.response_format),
        structured_outputs=_raw(head.structured_outputs),
        chat_template_kwargs=_raw(head.chat_template_kwargs),
        reasoning_effort=_raw(head.reasoning_effort),
        messages=_raw(head.messages),
        tools=_raw(head.tools),
    )


def _raw(member: msgspec.Raw) -> bytes:
    text = bytes(member)
    return b"" if text == b"null" else text


def _read_slowly(body: bytes, first_error: Exception) -> _Head:
    """Read what the fast reader refuses though Python clients send it: lone surrogates.

    Those are legal escapes in a body (`"\\ud83d"`) that no strict decoder turns into text.
    """
    if isinstance(first_error, msgspec.ValidationError):
        message, _, place = str(first_error).partition(" - at `$.")
        raise MalformedBody(message, place.rstrip("`")) from first_error
    if isinstance(first_error, RecursionError):
        raise MalformedBody("The body is nested too deeply.") from first_error
    if not body.strip():
        raise MalformedBody("The body is empty; send a JSON object.") from first_error
    try:
        document = json.loads(body.decode(), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise MalformedBody(f"The body is not UTF-8: {error.reason} at byte {error.start}.") from None
    except json.JSONDecodeError as error:
        message = f"The body is not JSON: {error.msg} at line {error.lineno} column {error.colno}."
        raise MalformedBody(message) from None
    except (ValueError, RecursionError) as error:
        raise MalformedBody(f"The body is not JSON: {error}.") from None
    if not isinstance(document, dict):
        raise MalformedBody("The body must be a JSON object.")
    return _head_of(document)


def _head_of(document: dict[str, Any]) -> _Head:
    raw_names = {field.name for field in msgspec.structs.fields(_Head) if field.type is msgspec.Raw}
    values: dict[str, Any] = {}
    for name in _Head.__struct_fields__:
        if name in document and name in raw_names:
            values[name] = msgspec.Raw(json.dumps(document[name]).encode())
        elif name in document:
            values[name] = document[name]
    plain = {name: value for name, value in values.items() if name not in raw_names}
    if isinstance(plain.get("model"), str):
        plain["model"] = plain["model"].encode("utf-8", "replace").decode()
    try:
        head = msgspec.convert(plain, _Head)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$.")
        raise MalformedBody(message, place.rstrip("`")) from error
    return msgspec.structs.replace(
        head, **{name: value for name, value in values.items() if name in raw_names}
    )


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is not a JSON value")
