"""Reads what litellm raised: a refusal by the provider, or an error of the way to it.

litellm wraps one error in another, and gives a status of its own to faults that never had one; the
chain of causes tells. Errors are known by their class names, so that litellm need not be imported.
Its messages hold the request, addresses and key fragments: none is handed on.
"""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from proxy.errors import BadReply, TimedOut, Unreachable, UpstreamError
from proxy.upstream.lane import Headers

_NOT_CONNECTED: Final = frozenset(
    {"ConnectError", "ConnectTimeout", "ClientConnectorError", "ConnectionTimeoutError"}
)
_TIMED_OUT: Final = frozenset({"TimeoutException", "APITimeoutError", "TimeoutError"})
_BROKEN_OFF: Final = frozenset({"TransportError", "RequestError", "APIConnectionError"})
_HAS_STATUS_LINE: Final = "HTTPStatusError"
_UNSUPPORTED: Final = "UnsupportedParamsError"
_CODES: Final = {
    "ContextWindowExceededError": "context_length_exceeded",
    "ContentPolicyViolationError": "content_filter",
    _UNSUPPORTED: "unsupported_parameter",
}
_TYPES: Final = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}
_CLIENT_ERROR: Final = 400
_SERVER_ERROR: Final = 500
_NO_STATUS: Final = 600
_CODE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_SECONDS: Final = re.compile(r"\d{1,6}")


@dataclass(frozen=True, slots=True)
class Refusal:
    """The provider's own answer that it will not: a status, and our words for it."""

    status: int
    headers: Headers
    body: bytes


def read_failure(
    error: Exception, lane: str = "", sent: Collection[str] = ()
) -> Refusal | UpstreamError:
    """What an exception of litellm means. `sent`: names of the request's members."""
    chain = list(_causes(error))
    names = {kind.__name__ for one in chain for kind in type(one).__mro__}
    if names & _NOT_CONNECTED:
        return Unreachable(
            f"The provider of lane `{lane}` cannot be reached.", retry_after_seconds=2
        )
    if names & _TIMED_OUT:
        return TimedOut(f"The provider of lane `{lane}` did not answer in time.")
    if names & _BROKEN_OFF:
        return BadReply(f"The provider of lane `{lane}` broke off or did not speak HTTP.")
    status = _status_of(chain)
    if status is None or (status >= _SERVER_ERROR and _HAS_STATUS_LINE not in names):
        return BadReply(f"The reply of lane `{lane}` could not be read as a completion.")
    return Refusal(status, _headers(chain), _body(chain, status, lane, sent))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what led to it, the outermost first."""
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield following
        wrapped = getattr(following, "original_exception", None)
        cause = following.__cause__ or following.__context__
        following = wrapped if isinstance(wrapped, BaseException) else cause


def _status_of(chain: list[BaseException]) -> int | None:
    status = getattr(chain[0], "status_code", None)
    if isinstance(status, int) and _CLIENT_ERROR <= status < _NO_STATUS:
        return status
    return None


def _headers(chain: list[BaseException]) -> Headers:
    headers: list[tuple[str, str]] = [("content-type", "application/json")]
    for one in chain:
        found = getattr(getattr(one, "response", None), "headers", None) or {}
        seconds = found.get("retry-after")
        if isinstance(seconds, str) and _SECONDS.fullmatch(seconds):
            return [*headers, ("retry-after", seconds)]
    return headers


def _body(chain: list[BaseException], status: int, lane: str, sent: Collection[str]) -> bytes:
    kind = type(chain[0]).__name__
    message = f"The provider of lane `{lane}` refused the request (status {status})."
    param = None
    if kind == _UNSUPPORTED:
        text = str(chain[0])
        unsupported = sorted(name for name in sent if f"'{name}'" in text or f"`{name}`" in text)
        listed = ", ".join(f"`{name}`" for name in unsupported) or "one of its parameters"
        message = f"The provider of lane `{lane}` does not support {listed}."
        param = unsupported[0] if unsupported else None
    default = "upstream_error" if status >= _SERVER_ERROR else "invalid_request_error"
    error = {
        "message": message,
        "type": _TYPES.get(status, default),
        "param": param,
        "code": _CODES.get(kind) or _code_of(chain) or default,
    }
    return json.dumps({"error": error}).encode()


def _code_of(chain: list[BaseException]) -> str | None:
    """The provider's own code, where it is a plain word."""
    codes = (getattr(one, "code", None) for one in chain)
    return next((code for code in codes if isinstance(code, str) and _CODE.fullmatch(code)), None)
