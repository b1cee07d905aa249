"""A cheap look at the events of a stream that is only relayed: instants, usage, end, errors.

Most events are not parsed: inside a JSON string every quote is escaped, so a quoted member name in
the bytes of an event is that member.
"""

import json
import re
from typing import Final, Never

import msgspec

from proxy.wire.lenient import is_whole

_DONE: Final = b"[DONE]"
# A finish reason that is not null in one of the two usual spellings.
_MAY_FINISH: Final = re.compile(rb'"finish_reason"(?!: ?null)').search
_MOST_TOKENS: Final = 2**53  # beyond it a double, as metrics keep, is not exact
_MOST_DIGITS: Final = len(str(_MOST_TOKENS))


class _Usage(msgspec.Struct, frozen=True):
    prompt_tokens: msgspec.Raw = msgspec.Raw()
    completion_tokens: msgspec.Raw = msgspec.Raw()


class _Delta(msgspec.Struct, frozen=True):
    content: msgspec.Raw = msgspec.Raw()
    reasoning: msgspec.Raw = msgspec.Raw()
    reasoning_content: msgspec.Raw = msgspec.Raw()
    refusal: msgspec.Raw = msgspec.Raw()
    tool_calls: msgspec.Raw = msgspec.Raw()
    text: msgspec.Raw = msgspec.Raw()


class _Choice(msgspec.Struct, frozen=True):
    index: msgspec.Raw = msgspec.Raw()
    delta: _Delta | None = None
    text: msgspec.Raw = msgspec.Raw()
    finish_reason: str | None = None
    token_ids: list[int] | None = None


class _Chunk(msgspec.Struct, frozen=True):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: msgspec.Raw = msgspec.Raw()


class _Body(msgspec.Struct, frozen=True):
    usage: _Usage | None = None
    error: msgspec.Raw = msgspec.Raw()


_CHUNK: Final = msgspec.json.Decoder(_Chunk)
_BODY: Final = msgspec.json.Decoder(_Body)
_BLANK: Final = frozenset({b"", b"null", b'""', b"[]"})


class StreamTap:
    """Watches one stream. Instants are those handed to `take`, None where nothing came.

    `finished` once as many different choices as `choices` says have a finish reason.
    """

    __slots__ = (
        "_choices",
        "_ended",
        "completion_tokens",
        "done",
        "error",
        "finished",
        "first_response",
        "first_token",
        "first_token_ids",
        "last_token",
        "prompt_tokens",
        "usage_only",
    )

    def __init__(self, choices: int = 1) -> None:
        self._choices = choices
        self._ended: set[bytes] = set()
        self.first_response: float | None = None
        self.first_token: float | None = None
        self.last_token: float | None = None
        self.first_token_ids = 0
        self.prompt_tokens: int | None = None
        self.completion_tokens: int | None = None
        self.finished = False
        self.done = False
        self.error = False
        self.usage_only = False

    def take(self, data: bytes, now: float) -> bool:
        """Take the data of one event; whether it was a token's and nothing else.

        `usage_only` tells whether it was the extra usage chunk.
        """
        self.usage_only = False
        if (
            self.first_token is not None
            and b'"usage"' not in data
            and b'"error"' not in data
            and data != _DONE
            and _MAY_FINISH(data) is None
        ):
            self.last_token = now
            return True
        self._parse(data, now)
        return False

    def _parse(self, data: bytes, now: float) -> None:
        if data == _DONE:
            self.done = True
            return
        chunk = _read_chunk(data)
        if chunk is None:
            return
        if _is_error(chunk.error):
            self.error = True
        if chunk.usage is not None:
            self.prompt_tokens = _count_of(chunk.usage.prompt_tokens)
            self.completion_tokens = _count_of(chunk.usage.completion_tokens)
            self.usage_only = not chunk.choices
        if chunk.choices:
            self._take_choices(chunk.choices, now)

    def _take_choices(self, choices: list[_Choice], now: float) -> None:
        if self.first_response is None:
            self.first_response = now
        for position, choice in enumerate(choices):
            if choice.finish_reason is not None:
                self._ended.add(_index_of(choice, position))
                self.finished = len(self._ended) >= self._choices
            if not _bears_token(choice):
                continue
            self.last_token = now
            if self.first_token is None:
                self.first_token = now
                self.first_token_ids = len(choice.token_ids or ())


def _index_of(choice: _Choice, position: int) -> bytes:
    """The index as spelled; the position where it is absent or no index."""
    stated = bytes(choice.index)
    return stated if stated.isdigit() else b"%d" % position


def _count_of(raw: msgspec.Raw) -> int | None:
    """A token count; None for what cannot be one."""
    text = bytes(raw)
    return _bounded(int(text)) if text.isdigit() and len(text) <= _MOST_DIGITS else None


def _bounded(count: int) -> int | None:
    return count if 0 <= count <= _MOST_TOKENS else None


def _read_integer(text: str) -> int | str:
    """Python refuses to convert thousands of digits; an integer that long stays text."""
    return int(text) if len(text) <= _MOST_DIGITS else text


def _read_chunk(data: bytes) -> _Chunk | None:
    """None for what is no chunk; half a surrogate pair, as some servers send, is no matter."""
    try:
        return _CHUNK.decode(data)
    except msgspec.ValidationError:
        return None
    except (msgspec.MsgspecError, RecursionError):
        pass
    try:
        whole = json.dumps(json.loads(data.decode(), parse_int=_read_integer), ensure_ascii=False)
        return _CHUNK.decode(whole.encode("utf-8", "replace"))
    except (ValueError, msgspec.MsgspecError, RecursionError):
        return None


def _bears_token(choice: _Choice) -> bool:
    if bytes(choice.text) not in _BLANK:
        return True
    delta = choice.delta
    return delta is not None and any(
        bytes(member) not in _BLANK
        for member in (
            delta.content,
            delta.reasoning,
            delta.reasoning_content,
            delta.tool_calls,
            delta.refusal,
        )
    )


def _is_error(raw: msgspec.Raw) -> bool:
    """Whether an `error` member says anything; `{}` and false do not."""
    text = bytes(raw)
    if text in _BLANK:
        return False
    try:
        return bool(msgspec.json.decode(text))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return True


class MalformedBodyReply(ValueError):
    """A body that should be one JSON object is not."""


def read_body_head(body: bytes) -> tuple[int | None, int | None, bool]:
    """Prompt tokens, completion tokens and whether there is an error object, of a JSON body.

    Raises `MalformedBodyReply` when the body is not a JSON object.
    """
    try:
        head = _BODY.decode(body)
    except (msgspec.MsgspecError, RecursionError):
        return _read_slowly(body)
    usage = head.usage or _Usage()
    counts = _count_of(usage.prompt_tokens), _count_of(usage.completion_tokens)
    return *counts, _is_error(head.error)


def _read_slowly(body: bytes) -> tuple[int | None, int | None, bool]:
    """Read what the fast reader refuses though it is an object: lone surrogates, odd usage."""
    try:
        document = json.loads(
            body.decode(), parse_int=_read_integer, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError) as error:
        raise MalformedBodyReply(f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise MalformedBodyReply("not a JSON object")
    usage = document.get("usage")
    if not isinstance(usage, dict):
        usage = {}
    prompt, completion = (
        _bounded(count) if is_whole(count := usage.get(name)) else None
        for name in ("prompt_tokens", "completion_tokens")
    )
    return prompt, completion, bool(document.get("error"))


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is not a JSON value")
