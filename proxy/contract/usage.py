"""Asks the upstream for the token usage of a stream when the client did not."""

import json
from typing import Final

from proxy.telemetry.outcome import Endpoint
from proxy.wire.request import Request
from proxy.wire.splice import with_members

_APPENDED: Final = b',"stream_options":{"include_usage":true}}'
# The surfaces that know `stream_options`.
_SURFACES: Final = (Endpoint.CHAT, Endpoint.COMPLETIONS)


def lacks_usage(request: Request, endpoint: Endpoint) -> bool:
    """Whether the client's stream would come without usage."""
    return request.stream and not request.include_usage and endpoint in _SURFACES


def with_usage(request: Request) -> bytes:
    """The body that asks for usage; every other byte stays. `request` is a stream without it."""
    if not request.has_stream_options:
        return request.body.rstrip()[:-1].rstrip() + _APPENDED
    options = json.loads(request.body).get("stream_options") or {}
    merged = json.dumps(options | {"include_usage": True}).encode()
    return with_members(request.body, {"stream_options": merged})
