"""Every rule holds for the shipped dashboards, and bites where it is broken."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Final

import pytest

from tests.grafana import lint
from tests.grafana.shipped import DASHBOARDS, Json, loaded, panels

OVERVIEW: Final = next(path for path in DASHBOARDS if path.stem.endswith("overview"))
Damage = Callable[[Json], object]


def _tile(dashboard: Json) -> Json:
    return next(panel for panel in panels(dashboard) if panel["type"] == "stat")


def _curve(dashboard: Json) -> Json:
    return next(panel for panel in panels(dashboard) if panel["type"] == "timeseries")


def _query(text: str) -> Damage:
    return lambda dashboard: _curve(dashboard)["targets"][0].update(expr=text)


def _swap(dashboard: Json, panel: Json) -> None:
    """One panel more on a line of tiles."""
    dashboard["panels"].append(deepcopy(panel) | {"id": 1})


DAMAGE: Final[list[tuple[lint.Rule, str, Damage]]] = [
    (
        lint.source_is_a_variable,
        "fixed source",
        lambda dashboard: _curve(dashboard).update(datasource={"type": "prometheus", "uid": "x"}),
    ),
    (
        lint.source_is_a_variable,
        "no variable",
        lambda dashboard: dashboard["templating"]["list"].pop(0),
    ),
    (
        lint.panels_are_explained,
        "no unit",
        lambda dashboard: _curve(dashboard)["fieldConfig"]["defaults"].pop("unit"),
    ),
    (
        lint.panels_are_explained,
        "nothing for no value",
        lambda dashboard: _tile(dashboard)["fieldConfig"]["defaults"].update(noValue=""),
    ),
    (
        lint.panels_are_explained,
        "no description",
        lambda dashboard: _tile(dashboard).update(description=" Metrics: up."),
    ),
    (
        lint.descriptions_end_with_the_metrics,
        "another metric",
        lambda dashboard: _tile(dashboard).update(description="Look. Metrics: up."),
    ),
    (
        lint.panels_ask_something,
        "no query",
        lambda dashboard: _curve(dashboard).update(targets=[]),
    ),
    (
        lint.panels_ask_something,
        "no legend",
        lambda dashboard: _curve(dashboard)["targets"][0].update(legendFormat=""),
    ),
    (
        lint.curves_have_a_legend,
        "hidden legend",
        lambda dashboard: _curve(dashboard)["options"]["legend"].update(showLegend=False),
    ),
    (
        lint.windows_follow_the_scrapes,
        "fixed window",
        _query('rate(a_total{job="a",instance="b"}[2m])'),
    ),
    (
        lint.windows_follow_the_scrapes,
        "rate over the whole range",
        _query('rate(a_total{job="a",instance="b"}[$__range])'),
    ),
    (lint.counters_are_rates, "bare counter", _query('sum(a_total{job="a",instance="b"})')),
    (
        lint.counters_are_rates,
        "rate of a gauge",
        _query('rate(a_seconds{job="a",instance="b"}[$__rate_interval])'),
    ),
    (lint.queries_follow_the_variables, "no job", _query('max(a{instance="b"})')),
    (lint.queries_follow_the_variables, "no instance", _query('max(a{job="b"})')),
    (lint.variables_exist, "unknown variable", _query('max(a{job="$nobody",instance="b"})')),
    (
        lint.numbers_are_unique,
        "id taken twice",
        lambda dashboard: _curve(dashboard).update(id=_tile(dashboard)["id"]),
    ),
    (
        lint.numbers_are_unique,
        "refId taken twice",
        lambda dashboard: [one.update(refId="A") for one in _curve(dashboard)["targets"]],
    ),
    (
        lint.panels_do_not_overlap,
        "one over the other",
        lambda dashboard: _curve(dashboard).update(gridPos=_tile(dashboard)["gridPos"]),
    ),
    (
        lint.panels_do_not_overlap,
        "too wide",
        lambda dashboard: _curve(dashboard)["gridPos"].update(w=25),
    ),
    (
        lint.rows_have_at_most_eight_tiles,
        "a ninth tile",
        lambda dashboard: _swap(dashboard, _tile(dashboard)),
    ),
    (
        lint.titles_can_be_read_on_a_laptop,
        "a narrow tile with a long title",
        lambda dashboard: (
            _tile(dashboard).update(title="Upstream failures"),
            _tile(dashboard)["gridPos"].update(w=3),
        ),
    ),
    (
        lint.rows_ask_a_question,
        "a heading",
        lambda dashboard: next(
            panel for panel in dashboard["panels"] if panel["type"] == "row"
        ).update(title="Latency"),
    ),
    (
        lint.links_keep_time_and_variables,
        "time is lost",
        lambda dashboard: dashboard["links"][0].update(keepTime=False),
    ),
    (
        lint.links_keep_time_and_variables,
        "leads elsewhere",
        lambda dashboard: dashboard["links"][0].update(tags=["elsewhere"]),
    ),
    (
        lint.links_keep_time_and_variables,
        "no links",
        lambda dashboard: dashboard["links"].clear(),
    ),
    (
        lint.only_judged_tiles_have_colours,
        "a neutral tile in green",
        lambda dashboard: _tile(dashboard)["options"].update(colorMode="value"),
    ),
]


@pytest.mark.parametrize("rule", lint.RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_shipped_dashboards_keep_the_rule(path: Path, rule: lint.Rule) -> None:
    assert list(rule(loaded(path))) == []


@pytest.mark.parametrize(
    ("rule", "damage"),
    [pytest.param(rule, damage, id=f"{rule.__name__}: {name}") for rule, name, damage in DAMAGE],
)
def test_rule_bites(rule: lint.Rule, damage: Damage) -> None:
    dashboard = loaded(OVERVIEW)

    damage(dashboard)

    assert list(rule(dashboard)) != []


def test_every_rule_is_known_to_bite() -> None:
    assert {rule for rule, *_ in DAMAGE} == set(lint.RULES)
