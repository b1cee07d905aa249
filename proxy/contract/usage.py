"""Asks the upstream for the token usage of a stream when the client did not."""

from typing import Final

from proxy.errors import InvalidRequest
from proxy.telemetry.outcome import Endpoint
from proxy.wire.request import Request
from proxy.wire.splice import TooMany, members_of, with_members

_APPENDED: Final = b',"stream_options":{"include_usage":true}}'
# The surfaces that know `stream_options`.
_SURFACES: Final = (Endpoint.CHAT, Endpoint.COMPLETIONS)


def lacks_usage(request: Request, endpoint: Endpoint) -> bool:
    """Whether the client's stream would come without usage."""
    return request.stream and not request.include_usage and endpoint in _SURFACES


def with_usage(request: Request) -> bytes:
    """The body that asks for usage; every other byte stays. `request` is a stream without it.

    Raises `InvalidRequest` for a body whose members cannot be changed.
    """
    if not request.has_stream_options:
        return request.body.rstrip()[:-1].rstrip() + _APPENDED
    try:
        options = members_of(request.body)["stream_options"]
        merged = with_members(options, {"include_usage": b"true"})
        return with_members(request.body, {"stream_options": merged})
    except TooMany as error:
        raise InvalidRequest("The body has too many members.") from error
    except ValueError as error:
        raise InvalidRequest(f"The body cannot be read: {error}.") from error
