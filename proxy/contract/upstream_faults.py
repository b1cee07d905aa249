"""Which upstream faults may be repeated, and errors that are really the client's."""

import re
from typing import Final

from proxy.contract.attempt import Attempt
from proxy.errors import BadReply, Fault, TimedOut, Unreachable, UpstreamError
from proxy.upstream.lane import UpstreamReply

_BAD_GATEWAY: Final = 502
_UNAVAILABLE: Final = 503
_INTERNAL: Final = 500
_BAD_REQUEST: Final = 400
_OK: Final = 200
_REDIRECTS: Final = range(300, 400)
_NOT_MODIFIED: Final = 304
_STATUSES: Final = range(200, 600)
_LOOKED_AT_BYTES: Final = 4096
_CONTEXT_OVERFLOW: Final = re.compile(
    rb"maximum context length|max_model_len|exceeds? the (?:available |maximum )?context"
    rb"|longer than the maximum model length",
    re.IGNORECASE,
)


def may_repeat(attempt: Attempt) -> bool:
    """Refused connection, 502, 503, 500 while cold, a reply broken off; never a timeout.

    A reply that exceeds a limit would exceed it again.
    """
    error = attempt.error
    if error is not None:
        return not isinstance(error, TimedOut) and error.code != Fault.TOO_LARGE
    if is_context_overflow(attempt):
        return False
    if attempt.status == _INTERNAL:
        return attempt.cold
    return attempt.status in (_BAD_GATEWAY, _UNAVAILABLE)


def was_accepted(attempt: Attempt) -> bool:
    """Whether the call reached an engine: no connection, 502 and 503 mean that it did not.

    The same statuses come from a load balancer whose engine still loads.
    """
    if attempt.error is not None:
        return not isinstance(attempt.error, Unreachable)
    return attempt.status not in (_BAD_GATEWAY, _UNAVAILABLE) or is_context_overflow(attempt)


def refuse_unreadable(reply: UpstreamReply, *, judged: bool) -> None:
    """Refuse what must not be handed on as it is. Raises `BadReply`.

    A redirect would lead the client past the gate. On a `judged` surface a success other than 200,
    or a compressed one, is nothing that a gate can read.
    """
    status = reply.status
    if status in _REDIRECTS and status != _NOT_MODIFIED:
        raise BadReply(
            f"The upstream redirects (status {status}); the lane's url must be its own address."
        )
    if status not in _STATUSES or (judged and status != _OK and status < _BAD_REQUEST):
        raise BadReply(f"The upstream answered with status {status}.")
    if judged and status == _OK and _encoding(reply) not in ("", "identity"):
        raise BadReply("The upstream's reply is compressed, though it was asked not to be.")


def _encoding(reply: UpstreamReply) -> str:
    return next((value for name, value in reply.headers if name == "content-encoding"), "").lower()


def is_context_overflow(attempt: Attempt) -> bool:
    """A prompt too long that the upstream reports as its own fault (a 5xx)."""
    return attempt.status >= _INTERNAL and bool(
        _CONTEXT_OVERFLOW.search(attempt.body, 0, _LOOKED_AT_BYTES)
    )


def client_status(attempt: Attempt) -> int:
    """The status to relay: the upstream's own, or 400 for a context overflow."""
    return _BAD_REQUEST if is_context_overflow(attempt) else attempt.status


def too_large(limit_bytes: int, what: str) -> UpstreamError:
    return BadReply(
        f"The upstream's {what} exceeds the limit of {limit_bytes} bytes.", code=Fault.TOO_LARGE
    )
