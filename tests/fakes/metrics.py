"""Collectors in a registry of their own, records to count, and what the page says of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from proxy.errors import Fault
from proxy.telemetry.collectors import Collectors
from proxy.telemetry.exposition import Form, render
from proxy.telemetry.labels import GATE, REPAIR
from proxy.telemetry.outcome import AttemptResult, AttemptStep, Endpoint, Outcome
from proxy.telemetry.record import AttemptRecord, RequestRecord, VerdictRecord

VERDICT = VerdictRecord("strict_json", "fail", enforced=True, seconds=0.001, fault=Fault.NOT_JSON)
ATTEMPT = AttemptRecord(
    number=1,
    step=AttemptStep.FIRST,
    result=AttemptResult.INVALID,
    status=200,
    cold=True,
    seconds=1.0,
    faults=(Fault.NOT_JSON,),
    ttfr_seconds=0.13,
    verdicts=(VERDICT,),
)


def request_record(**more: Any) -> RequestRecord:
    """A streamed chat request that passed and called no upstream."""
    basics: Mapping[str, Any] = {
        "id": "r",
        "received_at": 100.0,
        "endpoint": Endpoint.CHAT,
        "outcome": Outcome.PASSED,
        "status": 200,
        "stream": True,
    }
    return RequestRecord(**{**basics, **more})


def samples_of(registry: CollectorRegistry) -> dict[str, float]:
    """All samples by their spelling, without the prefix."""
    lines = render(registry, Form.TEXT).decode().splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name.removeprefix("sluicegate_"): float(value) for name, value in pairs}


@dataclass(frozen=True, slots=True)
class Told:
    """What an exemplar tells: whose sample, its value, and when, in Unix seconds."""

    labels: dict[str, str]
    value: float
    at: float


def exemplars_in(page: str) -> dict[str, Told]:
    """Exemplars of an OpenMetrics page by name and label values, as a real parser reads them."""
    return {
        " ".join((sample.name.removeprefix("sluicegate_"), *sample.labels.values())): Told(
            sample.exemplar.labels, sample.exemplar.value, float(sample.exemplar.timestamp or 0)
        )
        for family in text_string_to_metric_families(page)  # type: ignore[no-untyped-call]
        for sample in family.samples
        if sample.exemplar is not None
    }


@dataclass
class Bench:
    """Collectors for one gate and one repair, with an objective of 0.33 s."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)

    @property
    def collectors(self) -> Collectors:
        values = {GATE: ("strict_json",), REPAIR: ("unwrap_fence",)}
        return Collectors(self.registry, values, 0.33)

    def samples(self) -> dict[str, float]:
        return samples_of(self.registry)

    def exemplars(self) -> dict[str, Told]:
        return exemplars_in(render(self.registry, Form.OPEN_METRICS).decode())
