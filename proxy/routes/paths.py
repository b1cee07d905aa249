"""The allow-list of relayed paths.

What is not here is not relayed: no `/sleep`, no loading of LoRAs, no `/collective_rpc`.
"""

import re
from dataclasses import dataclass
from typing import Final

from proxy.errors import Forbidden, NotFound, WrongMethod
from proxy.telemetry.outcome import Endpoint


@dataclass(frozen=True, slots=True)
class Path:
    """One relayed path. `generates`: it costs the engine and is admitted and parsed."""

    endpoint: Endpoint
    methods: tuple[str, ...] = ("POST",)
    generates: bool = False

    @property
    def judged(self) -> bool:
        """Whether a gate of this version covers the surface; look-ups need none."""
        return self.endpoint is Endpoint.CHAT or self.methods == ("GET",)


_LOOK_UP: Final = Path(Endpoint.OTHER, ("GET",))
_OTHER: Final = Path(Endpoint.OTHER)

PATHS: Final = {
    "/v1/chat/completions": Path(Endpoint.CHAT, generates=True),
    "/v1/completions": Path(Endpoint.COMPLETIONS, generates=True),
    "/v1/responses": Path(Endpoint.RESPONSES, generates=True),
    "/v1/messages": Path(Endpoint.MESSAGES, generates=True),
    "/v1/messages/count_tokens": _OTHER,
    "/v1/models": _LOOK_UP,
    "/v1/embeddings": _OTHER,
    "/v1/rerank": _OTHER,
    "/v1/score": _OTHER,
    "/v1/audio/transcriptions": _OTHER,
    "/v1/audio/translations": _OTHER,
    "/tokenize": _OTHER,
    "/detokenize": _OTHER,
    "/version": _LOOK_UP,
}
_PATTERNS: Final = (
    # Model ids contain slashes; a segment never begins with a dot.
    (re.compile(r"/v1/models(?:/[A-Za-z0-9_:@+-][A-Za-z0-9._:@+-]*){1,4}"), _LOOK_UP),
    (re.compile(r"/v1/responses/[A-Za-z0-9_-]{1,128}"), Path(Endpoint.OTHER, ("GET",))),
    (re.compile(r"/v1/responses/[A-Za-z0-9_-]{1,128}/cancel"), _OTHER),
)


def find_path(path: str, method: str, *, refuse_unjudged: bool) -> Path:
    """The relayed path of a request.

    Raises `NotFound`, `WrongMethod`, or `Forbidden` where the settings refuse unjudged surfaces.
    """
    found = PATHS.get(path) or next(
        (known for pattern, known in _PATTERNS if pattern.fullmatch(path)), None
    )
    if found is None:
        raise NotFound(_not_found(path))
    if method not in found.methods:
        raise WrongMethod(f"{path} takes {' or '.join(found.methods)}, not {method[:16]}.")
    if refuse_unjudged and not found.judged:
        raise Forbidden(
            f"No gate covers {path}, and the setting `unjudged: refuse` closes such paths.",
            code="unjudged_path",
        )
    return found


def _not_found(path: str) -> str:
    if f"/v1{path}" in PATHS:
        return f"There is no {path} here; did you mean /v1{path}? base_url must end in /v1."
    if path.rstrip("/") in PATHS:
        return f"There is no {path} here; did you mean {path.rstrip('/')}?"
    if path.startswith("/v1/v1/"):
        return "The path begins with /v1 twice; base_url must end in one /v1."
    return "This path is not relayed."
