"""A client's request as a value: its bytes, and the few members that decide its way.

Reading is lazy on purpose: the body is scanned once for a dozen members, everything else is passed
over, so unknown fields and vendor extras cost nothing and survive byte for byte.
"""

import json
from dataclasses import dataclass

import msgspec

from proxy.wire.splice import TooMany, members_of

_BOM = b"\xef\xbb\xbf"
_ABSENT = msgspec.Raw(b"")
_LONGEST_LIMIT = 18  # digits of a token limit that is meant


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
    tool_choice: msgspec.Raw = _ABSENT
    max_tokens: msgspec.Raw = _ABSENT
    max_completion_tokens: msgspec.Raw = _ABSENT


_DECODER = msgspec.json.Decoder(_Head, strict=False)
_PLAIN = ("model", "stream", "n", "seed", "temperature", "stream_options")
_RAW = tuple(name for name in _Head.__struct_fields__ if name not in _PLAIN)


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
    tool_choice: bytes = b""
    max_tokens: bytes = b""
    max_completion_tokens: bytes = b""

    @property
    def token_limit(self) -> int | None:
        """The most tokens that the client allows; `max_completion_tokens` wins, as in vLLM."""
        limit = (self.max_completion_tokens or self.max_tokens).strip(b'"')
        return int(limit) if limit.isdigit() and len(limit) <= _LONGEST_LIMIT else None


def read_request(body: bytes) -> Request:
    """Read the members that decide a request's way.

    A byte order mark is dropped, also from the `body` that is kept. Numbers and booleans written
    as strings are read as vLLM reads them. Raises `MalformedBody` for anything but one JSON object
    in UTF-8 with these members in their types.
    """
    body = body.removeprefix(_BOM)
    if not body.isascii():
        _check_utf8(body)
    try:
        head = _DECODER.decode(body)
    except msgspec.ValidationError as error:
        raise _wrong_type(error) from error
    except msgspec.DecodeError:
        head = _read_slowly(body)
    except RecursionError as error:
        raise MalformedBody("The body is nested too deeply.") from error
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
        tool_choice=_raw(head.tool_choice),
        max_tokens=_raw(head.max_tokens),
        max_completion_tokens=_raw(head.max_completion_tokens),
    )


def _raw(member: msgspec.Raw) -> bytes:
    text = bytes(member)
    return b"" if text == b"null" else text


def _check_utf8(body: bytes) -> None:
    """Refuse bytes that the fast reader would pass over inside members it does not read."""
    try:
        body.decode()
    except UnicodeDecodeError as error:
        message = f"The body is not UTF-8: {error.reason} at byte {error.start}."
        raise MalformedBody(message) from error


def _wrong_type(error: msgspec.ValidationError) -> MalformedBody:
    message, _, place = str(error).partition(" - at `$.")
    if not place:
        return MalformedBody("The body must be a JSON object.")
    return MalformedBody(f"{message}.", place.rstrip("`"))


def _read_slowly(body: bytes) -> _Head:
    r"""Read what the fast reader refuses though Python clients send it: lone surrogates.

    Those are legal escapes in a body (`"\ud83d"`) that no strict decoder turns into text.
    """
    if not body.strip():
        raise MalformedBody("The body is empty; send a JSON object.")
    try:
        raws = members_of(body)
        plain = {name: json.loads(raws[name]) for name in _PLAIN if name in raws}
    except json.JSONDecodeError as error:
        message = f"The body is not JSON: {error.msg} at line {error.lineno} column {error.colno}."
        raise MalformedBody(message) from error
    except TooMany as error:
        raise MalformedBody(f"The body has {error}.") from error
    except ValueError as error:
        raise MalformedBody(f"The body is not JSON: {error}.") from error
    text = json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")
    try:
        head = msgspec.convert(json.loads(text), _Head, strict=False)
    except msgspec.ValidationError as error:
        raise _wrong_type(error) from error
    kept = {name: msgspec.Raw(raws[name]) for name in _RAW if name in raws}
    return msgspec.structs.replace(head, **kept)
