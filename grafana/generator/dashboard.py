"""A whole dashboard: variables, links to the others, marks for what happened, and its rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from grafana.generator.layout import Row, placed
from grafana.generator.panels import SOURCE, Json

TAG: Final = "sluicegate"
_SCHEMA_VERSION: Final = 41
_NUMERICAL: Final = 3
_ALPHABETICAL: Final = 1
_ON_TIME_RANGE: Final = 2
_HIDDEN: Final = 2
# An exporter that does not exist must not leave its panels without a valid matcher.
_ALL: Final = ".+"


@dataclass(frozen=True, slots=True)
class Dashboard:
    """What one dashboard is; `uid` never changes, since links and bookmarks name it."""

    uid: str
    title: str
    description: str
    variables: Sequence[Json]
    rows: Sequence[Row]

    def json(self) -> Json:
        """Grafana's classic model, which Grafana 10.4 to 13 load."""
        return {
            "uid": self.uid,
            "title": self.title,
            "description": self.description,
            "tags": [TAG],
            "schemaVersion": _SCHEMA_VERSION,
            "version": 1,
            "editable": False,
            "graphTooltip": 1,
            "refresh": "30s",
            "time": {"from": "now-3h", "to": "now"},
            "timezone": "browser",
            "links": [_links()],
            "annotations": {"list": _annotations()},
            "templating": {"list": [_source_variable(), *self.variables]},
            "panels": placed(self.rows),
        }


def choice(name: str, label: str, values: str, *, hidden: bool = False) -> Json:
    """A variable with the values of a label, all of them at first. `values`: as Grafana queries."""
    return _variable(name, label, values) | {
        "multi": True,
        "includeAll": True,
        "allValue": _ALL,
        "current": {"text": ["All"], "value": ["$__all"]},
        "sort": _ALPHABETICAL,
        "hide": _HIDDEN if hidden else 0,
    }


def edge(name: str, label: str, values: str, first: str) -> Json:
    """A variable that can only be an edge of a histogram's buckets."""
    return _variable(name, label, values) | {
        "multi": False,
        "includeAll": False,
        "regex": "/^[0-9.]+$/",
        "current": {"text": first, "value": first},
        "sort": _NUMERICAL,
        "hide": 0,
    }


def proxies() -> list[Json]:
    return [
        choice("job", "proxies", "label_values(sluicegate_build_info, job)"),
        choice("instance", "proxy", 'label_values(sluicegate_build_info{job=~"$job"}, instance)'),
    ]


def engines() -> list[Json]:
    metric = "vllm:num_requests_running"
    return [
        choice("engine_job", "engines", f"label_values({metric}, job)"),
        choice("engine", "engine", f'label_values({metric}{{job=~"$engine_job"}}, instance)'),
    ]


def _variable(name: str, label: str, values: str) -> Json:
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": SOURCE,
        "query": {"qryType": 1, "query": values, "refId": name},
        "refresh": _ON_TIME_RANGE,
        "options": [],
    }


def _source_variable() -> Json:
    return {
        "name": "datasource",
        "label": "data source",
        "type": "datasource",
        "query": "prometheus",
        "hide": 0,
        "includeAll": False,
        "multi": False,
        "options": [],
        "refresh": 1,
        "regex": "",
    }


def _links() -> Json:
    return {
        "type": "dashboards",
        "title": "Sluicegate",
        "tags": [TAG],
        "asDropdown": False,
        "icon": "external link",
        "includeVars": True,
        "keepTime": True,
        "targetBlank": False,
        "tooltip": "The other dashboards, with the same time and the same variables",
    }


def _annotations() -> list[Json]:
    """Starts of engines and proxies at their own instants, whatever the step of the range.

    Policies are read when a proxy starts: those in force belong to its start.
    """
    ours = 'job=~"$job",instance=~"$instance"'
    proxy_started = f"process_start_time_seconds{{{ours}}} * 1000"
    with_policies = f"* on (job, instance) group_right () sluicegate_policy_info{{{ours}}}"
    mine = 'job=~"$engine_job",instance=~"$engine"'
    started = f"process_start_time_seconds{{{mine}}} * 1000"
    of_an_engine = f"on (job, instance) vllm:num_requests_running{{{mine}}}"
    return [
        _annotation(
            "engine starts",
            "orange",
            f"{started} and {of_an_engine}",
            "engine started: {{instance}}",
        ),
        _annotation(
            "policies",
            "blue",
            f"{proxy_started} {with_policies}",
            "proxy started: {{instance}}, policy in force: {{policy}}@{{hash}}",
        ),
    ]


def _annotation(name: str, colour: str, expression: str, title: str) -> Json:
    """A mark where the value says, in milliseconds since 1970."""
    return {
        "name": name,
        "datasource": SOURCE,
        "enable": True,
        "hide": False,
        "iconColor": colour,
        "target": {"refId": "A", "expr": expression, "interval": "60s"},
        "titleFormat": title,
        "useValueForTime": True,
    }
