"""What happened lately, in one line: differences of the proxy's own counters."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

_PREFIX: Final = "sluicegate_"
# Counter, the label that tells its series apart, and those that are no news.
_READ: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "requests_total": ("outcome", frozenset()),
    "attempts_total": ("step", frozenset({"first"})),
    "repairs_total": ("repair", frozenset()),
    "engine_starts_total": ("first_answer", frozenset()),
}
_WORDS: Final[Mapping[str, str]] = {
    "requests_total": "requests",
    "attempts_total": "retries",
    "repairs_total": "repairs",
    "engine_starts_total": "engine starts",
}

Counts = Mapping[str, "Counter[str]"]


def read_counts(page: str) -> Counts:
    """Counters of the metrics page by name and label value. Raises `ValueError`."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in _READ}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            name = sample.name.removeprefix(_PREFIX)
            if name not in _READ:
                continue
            label, unread = _READ[name]
            if sample.labels[label] not in unread:
                counts[name][sample.labels[label]] += int(sample.value)
    return counts


def difference(now: Counts, before: Counts) -> str:
    """What was counted between two readings, in words."""
    parts = []
    for name, counts in now.items():
        new = counts - before.get(name, Counter())
        if new:
            told = ", ".join(f"{count} {value}" for value, count in new.most_common())
            parts.append(f"{sum(new.values())} {_WORDS[name]}: {told}")
    return "; ".join(parts) or "nothing"
