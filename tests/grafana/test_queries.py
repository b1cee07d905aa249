"""Every query is PromQL, and every metric in it is one that somebody exports."""

import io
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from prometheus_client import CollectorRegistry

from proxy.app import Surroundings, open_app
from proxy.data_files import policies_folder, recipes_folder
from proxy.settings import load_settings
from tests.grafana.selectors import Selector, selectors
from tests.grafana.shipped import Asked, annotations, asked, pinned, rules

# What Prometheus adds, with the names of the shipped configuration.
SCRAPED: Final = {"job": "sluicegate", "instance": "127.0.0.1:8801"}
EXPORTED: Final = pinned("vllm_0.32.0.txt") | pinned("exporters.txt")


async def _ours(folder: Path) -> dict[str, list[Mapping[str, str]]]:
    """The labels of all series of a proxy that has policies, a recipe, a probe and a ledger."""
    registry = CollectorRegistry()
    flags = {
        "lanes.main.url": "http://127.0.0.1:9",
        "lanes.main.recipe": str(next(recipes_folder().glob("*.yaml"))),
        "lanes.main.probe.valid": 1,
        "policies.folder": str(policies_folder()),
        "ledger.url": f"sqlite:///{folder}/ledger.db",
    }
    around = Surroundings(environ={}, log=io.StringIO(), registry=registry)
    async with open_app(load_settings(None, {}, flags), around):
        samples = [sample for family in registry.collect() for sample in family.samples]
    found: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    for sample in samples:
        found[sample.name].append(SCRAPED | sample.labels)
    return found


def _expressions() -> list[str]:
    of_rules = [rule["expr"] for rule in rules()]
    return [*(one.expression for one in asked()), *annotations(), *of_rules]


def _all_selectors() -> list[Selector]:
    return [one for expression in _expressions() for one in selectors(expression)]


async def test_every_metric_is_ours_or_pinned_or_recorded(tmp_path: Path) -> None:
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    known = (await _ours(tmp_path)).keys() | EXPORTED | recorded

    assert {one.metric for one in _all_selectors()} - known == set()


async def test_labels_and_values_that_queries_name_are_those_of_our_metrics(
    tmp_path: Path,
) -> None:
    """A misspelt label or value matches nothing, and no parser sees it.

    What others export as well, such as their start time, may be asked of them.
    """
    series = await _ours(tmp_path)
    ours = {name: labels for name, labels in series.items() if name not in EXPORTED}

    vain = [
        f"{one.metric}: {alternative}"
        for one in _all_selectors()
        for matcher in one.matchers
        for alternative in matcher.alternatives()
        if one.metric in ours and not any(map(alternative.holds, ours[one.metric]))
    ]

    assert vain == []


def test_every_recorded_series_is_asked_for() -> None:
    recorded = {rule["record"] for rule in rules() if "record" in rule}

    assert recorded <= {one.metric for one in _all_selectors()}


def test_every_pinned_exporter_metric_is_asked_for() -> None:
    variables = {"node_memory_MemTotal_bytes", "DCGM_FI_DEV_POWER_USAGE"}

    asked_for = {one.metric for one in _all_selectors()} | variables

    assert pinned("exporters.txt") <= asked_for


def test_edges_are_spelled_as_the_client_library_writes_them() -> None:
    matchers = [matcher for one in _all_selectors() for matcher in one.matchers]
    edges = {matcher.value for matcher in matchers if matcher.label == "le"}

    assert edges
    assert all(re.fullmatch(r"\d+\.\d+", edge) for edge in edges)


@pytest.mark.parametrize("one", asked(), ids=str)
def test_legends_name_labels_that_the_query_keeps(one: Asked) -> None:
    for label in re.findall(r"\{\{(\w+)\}\}", one.legend):
        assert re.search(rf"by \([^)]*\b{label}\b[^)]*\)", one.expression)
