"""The neutral metric names of cases, read from the proxy's own metrics page."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from tests.cases.finding import Finding, NotChecked, Wrong
from tests.cases.run import Seen

_LABEL: Final = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_DEFAULT_TOLERANCE_MS: Final = 150


def grown(seen: Seen, name: str, **labels: str) -> float:
    """By how much a metric grew during the case, summed over the labels that are not named."""
    return sum(
        value - seen.before.get(sample, 0.0)
        for sample, value in seen.after.items()
        if _is(sample, name, labels)
    )


def check_metrics(wanted: Mapping[str, Any], seen: Seen) -> Iterable[Finding]:
    for name, value in wanted.items():
        if name in _PARTS_OF_OTHERS:
            continue
        count = _COUNTS.get(name)
        check = _CHECKS.get(name)
        if count is not None:
            found = count(seen)
            if found != value:
                yield Wrong(f"metrics.{name}: wanted {value}, found {found:g}")
        elif check is not None:
            yield from check(value, wanted, seen)
        else:
            yield NotChecked(f"metrics.{name}: no such metric")


def _is(sample: str, name: str, labels: Mapping[str, str]) -> bool:
    bare, _, rest = sample.partition("{")
    found = dict(_LABEL.findall(rest))
    return bare == f"sluicegate_{name}" and labels.items() <= found.items()


def _first_response_samples(seen: Seen) -> float:
    """All three first-response histograms: an error is a sample of none of them."""
    names = ("time_to_first_response_seconds", "upstream_time_to_first_response_seconds")
    counts = [grown(seen, f"{name}_count") for name in names]
    return max(*counts, grown(seen, "time_to_first_token_seconds_count"))


_COUNTS: Final[Mapping[str, Callable[[Seen], float]]] = {
    "cold_retry": lambda seen: grown(seen, "attempts_total", step="cold"),
    "client_requests": lambda seen: grown(seen, "requests_total"),
    "upstream_attempts": lambda seen: grown(seen, "attempts_total"),
    "gate_failed": lambda seen: grown(seen, "requests_total", outcome="rejected"),
    "client_cancelled": lambda seen: grown(seen, "requests_total", outcome="client_gone"),
    "upstream_error": lambda seen: grown(seen, "requests_total", outcome="upstream_failed"),
    "stream_truncated": lambda seen: grown(seen, "faults_total", fault="stream_unfinished"),
    "prompt_tokens": lambda seen: grown(seen, "prompt_tokens_total"),
    "completion_tokens": lambda seen: grown(seen, "output_tokens_total"),
    "failed_attempt_tokens": lambda seen: grown(seen, "failed_attempt_tokens_total"),
    "ttfr_samples": _first_response_samples,
    "tok_s_samples": lambda seen: grown(seen, "output_tokens_per_second_count"),
    "probe_valid": lambda seen: grown(seen, "probes_total", result="valid"),
    "probe_invalid": lambda seen: grown(seen, "probes_total", result="invalid"),
    "probe_failed": lambda seen: grown(seen, "probes_total", result="failed"),
    "probe_tokens": lambda seen: grown(seen, "probe_tokens_total"),
    "readiness_waits": lambda seen: grown(seen, "ready_waits_total"),
    "open_upstream_connections_after": lambda seen: seen.open_connections,
}


def _ttfr_about(value: float, wanted: Mapping[str, Any], seen: Seen) -> Iterable[Finding]:
    """Cases mean the first token that is not empty. Ours of that definition is TTFT.

    Our TTFR counts an opening role chunk, by definition: the design's glossary stands.
    """
    tolerance = wanted.get("tolerance_ms", _DEFAULT_TOLERANCE_MS)
    found = seen.first.record.get("ttft_seconds")
    if found is None or abs(found * 1000 - value) > tolerance:
        yield Wrong(f"metrics.ttfr_ms_about: wanted {value} ± {tolerance} ms TTFT, found {found} s")


def _ttfr_at_event(value: int, wanted: Mapping[str, Any], seen: Seen) -> Iterable[Finding]:
    """TTFT, as above: it is not before that event was sent, so no earlier event counted."""
    index = value - wanted.get("event_count_from", 1)
    record = seen.first.record
    found = record.get("ttft_seconds")
    if found is None:
        yield Wrong("metrics.ttfr_at_event: there is no TTFT")
    elif record["received_at"] + found < seen.calls[-1].sent_at[index]:
        yield Wrong(f"metrics.ttfr_at_event: TTFT lies before event {value} was sent")


def _model_label(value: str, _: Mapping[str, Any], seen: Seen) -> Iterable[Finding]:
    """Our metrics have no model label at all; so no label may hold what a client sent."""
    sent = {str(exchange.request.get("model")) for exchange in seen.exchanges} - {value}
    for sample in seen.after:
        if sent & {text for _, text in _LABEL.findall(sample)}:
            yield Wrong(f"metrics.model_label: a client's word is a label: {sample}")


def _new_series(value: int, _: Mapping[str, Any], seen: Seen) -> Iterable[Finding]:
    new = [sample for sample in seen.after if sample not in seen.before]
    if len(new) > value:
        yield Wrong(f"metrics.new_series_max: wanted {value}, found {len(new)}: {new[:3]}")


_Check = Callable[[Any, Mapping[str, Any], Seen], Iterable[Finding]]
_CHECKS: Final[Mapping[str, _Check]] = {
    "ttfr_ms_about": _ttfr_about,
    "ttfr_at_event": _ttfr_at_event,
    "model_label": _model_label,
    "new_series_max": _new_series,
}
_PARTS_OF_OTHERS: Final = ("tolerance_ms", "event_count_from")
