"""What a declared metric is. Knows nothing of the library that keeps and renders values."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_PREFIX: Final = "sluicegate_"


class Kind(StrEnum):
    """Types of metrics as Prometheus names them."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Label:
    """A label. `values` is empty where settings, policies or a recipe name them.

    `meaning` is Markdown, since only the documentation shows it.
    """

    name: str
    values: tuple[str, ...] = ()
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Alias:
    """The OpenTelemetry metric that means nearly the same, and what differs."""

    name: str
    difference: str


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric as it is declared, once; collectors, help texts and documentation follow from it.

    `name` has neither prefix nor `_total`. `edges` are the upper bounds of a histogram's buckets,
    in `unit`; `has_objective` adds the one that the settings promise. `query` is PromQL that people
    use it in, without a pipe, since it stands in a table. `page` tells more, below docs/. `prefix`
    differs where a metric has a name that all programs share.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str
    query: str
    labels: tuple[Label, ...] = ()
    edges: tuple[float, ...] = ()
    has_objective: bool = False
    alias: Alias | None = None
    page: str = ""
    prefix: str = _PREFIX

    @property
    def family(self) -> str:
        """The name that its samples begin with."""
        return f"{self.prefix}{self.name}"

    @property
    def full_name(self) -> str:
        """The name as Prometheus lists it."""
        return f"{self.family}_total" if self.kind is Kind.COUNTER else self.family
