"""The shipped dashboards and rules, and what is in them: panels, queries, metric names."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from typing_extensions import override

GRAFANA: Final = Path(__file__).parents[2] / "grafana"
DASHBOARDS: Final = tuple(sorted((GRAFANA / "dashboards").glob("*.json")))
RULES: Final = tuple(
    path
    for path in sorted((GRAFANA / "prometheus" / "rules").glob("*.yaml"))
    if not path.name.endswith(".test.yaml")
)
Json = dict[str, Any]

# What Grafana puts in the place of its variables and macros.
_CHOSEN: Final = {
    "$job": ".+",
    "$instance": ".+",
    "$engine_job": ".+",
    "$engine": ".+",
    "$host_job": ".+",
    "$host": ".+",
    "$lane": ".+",
    "$slo": "0.2",
    "$__range": "10m",
    "$__range_s": "600",
    "$__rate_interval": "1m",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One query of one panel, with its variables filled in."""

    dashboard: str
    panel: str
    kind: str
    legend: str
    expression: str

    @override
    def __str__(self) -> str:
        return f"{self.dashboard} / {self.panel} / {self.legend}"


def loaded(path: Path) -> Json:
    document: Json = json.loads(path.read_text(encoding="utf-8"))
    return document


def panels(dashboard: Json) -> Iterator[Json]:
    """All panels that draw something, those of collapsed rows included."""
    for panel in dashboard["panels"]:
        if panel["type"] == "row":
            yield from panel["panels"]
        else:
            yield panel


def filled(expression: str, chosen: Mapping[str, str] | None = None) -> str:
    """The query as Grafana would send it; `chosen` overrides what variables stand for."""
    values = {**_CHOSEN, **(chosen or {})}
    for name in sorted(values, key=len, reverse=True):
        expression = expression.replace(name, values[name])
    return expression


def asked(chosen: Mapping[str, str] | None = None) -> list[Asked]:
    """Every query of every panel of all dashboards."""
    return [
        Asked(
            dashboard["title"],
            panel["title"],
            panel["type"],
            target["legendFormat"],
            filled(target["expr"], chosen),
        )
        for dashboard in map(loaded, DASHBOARDS)
        for panel in panels(dashboard)
        for target in panel.get("targets", [])
    ]


def choices(besides: Collection[str]) -> list[str]:
    """For each variable a query that has a result where Grafana can list values of it."""
    found = [
        re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
        for dashboard in map(loaded, DASHBOARDS)
        for variable in dashboard["templating"]["list"]
        if variable["type"] == "query" and variable["name"] not in besides
    ]
    return [f"count by ({one[2]}) ({filled(one[1])})" for one in found if one]


def annotations() -> list[str]:
    """The queries that mark what happened."""
    return [
        filled(annotation["target"]["expr"])
        for dashboard in map(loaded, DASHBOARDS)
        for annotation in dashboard["annotations"]["list"]
    ]


def rules() -> list[Json]:
    """Every recording rule and every alert."""
    return [
        rule
        for path in RULES
        for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]
        for rule in group["rules"]
    ]


def pinned(name: str) -> set[str]:
    """The metric names of a list under grafana/metrics."""
    lines = (GRAFANA / "metrics" / name).read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}
