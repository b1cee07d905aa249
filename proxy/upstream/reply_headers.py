"""Which headers of an upstream's reply go on to the client."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from proxy.upstream.lane import Headers

# RFC 9110 section 7.6.1, and what the two ends of the relay settle for themselves.
_NOT_FORWARDED: Final = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "content-length",
        "date",
        "server",
    }
)
# Another proxy's behind the lane would be taken for ours, and which sites may call is ours to say.
_OURS_TO_SAY: Final = ("x-sluicegate-", "access-control-")
# HTTP clients let them in, the HTTP server does not let them out.
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


def end_to_end(headers: Iterable[tuple[str, str]], connection: Sequence[str] = ()) -> Headers:
    """The end-to-end headers, names in lower case. `connection`: the values of that header."""
    dropped = _NOT_FORWARDED
    if connection:
        named = (token.strip().lower() for value in connection for token in value.split(","))
        dropped = dropped.union(named)
    return [
        (lower, _CONTROL.sub(" ", value))
        for name, value in headers
        if (lower := name.lower()) not in dropped and not lower.startswith(_OURS_TO_SAY)
    ]
