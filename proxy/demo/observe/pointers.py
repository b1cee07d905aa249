"""Where to look, told once: links into Prometheus, and how a real Grafana is pointed at it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

_TTFR: Final = 'sluicegate_upstream_time_to_first_response_seconds_bucket{stream="true"}'
_ACCEPTED: Final = "sum(rate(vllm:spec_decode_num_accepted_tokens_total[1m]))"
_DRAFTED: Final = "sum(rate(vllm:spec_decode_num_draft_tokens_total[1m]))"
QUESTIONS: Final = (
    ("outcomes", "sum by (outcome) (rate(sluicegate_requests_total[1m])) > 0"),
    ("TTFR p95", f"histogram_quantile(0.95, sum by (le) (rate({_TTFR}[1m])))"),
    ("accepted", f"{_ACCEPTED} / {_DRAFTED}"),
    ("cold", "sum by (first_answer) (sluicegate_engine_starts_total) > 0"),
)


def link(prometheus_url: str, query: str) -> str:
    """A page of Prometheus that draws a query over the last quarter of an hour."""
    asked = urlencode({"g0.expr": query, "g0.tab": "0", "g0.range_input": "15m"})
    return f"{prometheus_url}/graph?{asked}"


def prometheus_lines(prometheus_url: str) -> Iterator[tuple[str, str]]:
    """Labels and texts: its address, and a page for each question."""
    yield "address", prometheus_url
    for name, query in QUESTIONS:
        yield name, link(prometheus_url, query)


def grafana_lines(prometheus_url: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Labels and texts: what a Grafana of the reader's own needs."""
    yield "import", f"{folder / 'dashboards'}/*.json, each by Dashboards > New > Import"
    yield "source", f"a data source of type Prometheus, URL {prometheus_url}, interval 5s"
    yield "provision", f"or copy {folder / 'provisioning'} to /etc/grafana/provisioning"
    yield "", "and the dashboards to /var/lib/grafana/dashboards/sluicegate"
