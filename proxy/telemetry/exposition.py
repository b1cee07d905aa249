"""The metrics page: in which of two forms, and its text.

Rendering holds the interpreter for milliseconds, in whichever thread. So it is done in one that
lets go of it after each family: the event loop waits for one of them, not for all.
"""

import time
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

import prometheus_client
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector
from typing_extensions import override

_OPEN_METRICS: Final = "application/openmetrics-text"
# Of OpenMetrics: what Prometheus has asked for since 2.5; we answer the later one.
_VERSIONS: Final = {"", "0.0.1", "1.0.0"}
_TEXTS: Final = {"text/plain", "text/*", "*/*"}
_MOST_RANGES: Final = 32
# Long enough that a thread that waits for the interpreter gets it.
_BREATH_SECONDS: Final = 0.00005


class Form(StrEnum):
    """The two texts by their content type; only OpenMetrics has exemplars."""

    TEXT = "text/plain; version=0.0.4; charset=utf-8"
    OPEN_METRICS = f"{_OPEN_METRICS}; version=1.0.0; charset=utf-8"


def wanted_form(accept: str) -> Form:
    """What an Accept header prefers (RFC 9110, 12.5.1); Prometheus text where it says nothing.

    Nobody is turned away: who accepts neither gets text, as from Prometheus's own libraries.
    """
    wished, text = 0.0, 0.0
    for media_range in accept.split(",", _MOST_RANGES)[:_MOST_RANGES]:
        kind, *parameters = (part.strip().lower() for part in media_range.split(";"))
        given = dict(parameter.split("=", 1) for parameter in parameters if "=" in parameter)
        if kind == _OPEN_METRICS and given.get("version", "") in _VERSIONS:
            wished = max(wished, _quality(given))
        elif kind in _TEXTS:
            text = max(text, _quality(given))
    return Form.OPEN_METRICS if wished and wished >= text else Form.TEXT


def render(registry: CollectorRegistry, form: Form) -> bytes:
    """The page. Takes milliseconds: call it in a thread."""
    unhurried = _Unhurried(registry)
    if form is Form.OPEN_METRICS:
        page: bytes = openmetrics.generate_latest(unhurried)  # type: ignore[no-untyped-call]
        return page
    return prometheus_client.generate_latest(unhurried)


class _Unhurried(Collector):
    """A registry's families, with a pause after each in which other threads run."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    @override
    def collect(self) -> Iterator[Metric]:
        for family in self._registry.collect():
            yield family
            time.sleep(_BREATH_SECONDS)


def _quality(parameters: dict[str, str]) -> float:
    """Between 0 and 1; what is no number is not wanted."""
    try:
        return min(1.0, max(0.0, float(parameters.get("q", "1"))))
    except ValueError:
        return 0.0
