"""Rules for dashboards, after those of Grafana's own linter; each returns what breaks it."""

import re
from bisect import bisect
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Final

from tests.grafana.selectors import selectors
from tests.grafana.shipped import Json, filled, panels

_SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
_UNDER_RATE: Final = ("_total", "_count", "_sum", "_bucket")
# The last shows a counter as it stands, on purpose.
_OF_COUNTERS: Final = {"rate", "increase", "last_over_time"}
_WINDOW: Final = re.compile(r"(\w+)\([^()]*\[([^\]]+)\]\)")
_TILES_IN_A_ROW: Final = 8
_COLUMNS: Final = 24
# As `make preview` shows titles: Inter, 14 pixels, with the icon of the description beside them.
_LAPTOP_PIXELS: Final = 1440
_ICON_AND_MARGIN_PIXELS: Final = 86
_LETTER_PIXELS: Final = 7.5
_NO_WINDOW: Final = "$__rate_interval only (increase may have $__range)"

Rule = Callable[[Json], Iterator[str]]


def source_is_a_variable(dashboard: Json) -> Iterator[str]:
    first = dashboard["templating"]["list"][0]
    if (first["type"], first["query"]) != ("datasource", "prometheus"):
        yield "the first variable is not the data source"
    for place, source in _sources(dashboard):
        if source != _SOURCE:
            yield f"{place}: data source {source}"


def panels_are_explained(dashboard: Json) -> Iterator[str]:
    for panel in _drawn(dashboard):
        defaults = panel["fieldConfig"]["defaults"]
        for missing in ("unit", "noValue"):
            if not defaults.get(missing):
                yield f"{panel['title']}: no {missing}"
        if not panel["title"] or len(panel["description"].partition(" Metrics: ")[0]) < 30:
            yield f"{panel['title']}: title or description too short"


def descriptions_end_with_the_metrics(dashboard: Json) -> Iterator[str]:
    for panel in _drawn(dashboard):
        told = panel["description"].rpartition(" Metrics: ")[2].rstrip(".").split(", ")
        if set(told) != {one.metric for query in _queries(panel) for one in selectors(query)}:
            yield f"{panel['title']}: metrics in the description are not those of its queries"


def panels_ask_something(dashboard: Json) -> Iterator[str]:
    for panel in _drawn(dashboard):
        if not panel["targets"]:
            yield f"{panel['title']}: no query"
        if not all(target["legendFormat"] for target in panel["targets"]):
            yield f"{panel['title']}: a query without a legend"


def curves_have_a_legend(dashboard: Json) -> Iterator[str]:
    for panel in _drawn(dashboard):
        if panel["type"] == "timeseries" and not panel["options"]["legend"]["showLegend"]:
            yield f"{panel['title']}: no legend"


def windows_follow_the_scrapes(dashboard: Json) -> Iterator[str]:
    for panel in _drawn(dashboard):
        for target in panel["targets"]:
            for function, window in _WINDOW.findall(target["expr"]):
                if window != "$__rate_interval" and (function, window) != ("increase", "$__range"):
                    yield f"{panel['title']}: {function} over {window}; {_NO_WINDOW}"


def counters_are_rates(dashboard: Json) -> Iterator[str]:
    for panel in _drawn(dashboard):
        for one in (one for query in _queries(panel) for one in selectors(query)):
            is_counter = one.metric.endswith(_UNDER_RATE)
            if is_counter != (one.function in _OF_COUNTERS):
                yield f"{panel['title']}: {one.metric} under {one.function or 'no function'}"


def queries_follow_the_variables(dashboard: Json) -> Iterator[str]:
    for panel in _drawn(dashboard):
        for one in (one for query in _queries(panel) for one in selectors(query)):
            if not {"job", "instance"} <= one.labels:
                yield f"{panel['title']}: {one.metric} without job or instance"


def variables_exist(dashboard: Json) -> Iterator[str]:
    names = {variable["name"] for variable in dashboard["templating"]["list"]}
    for panel in _drawn(dashboard):
        for target in panel["targets"]:
            for name in set(re.findall(r"\$(?!__)(\w+)", target["expr"])) - names:
                yield f"{panel['title']}: there is no variable ${name}"


def numbers_are_unique(dashboard: Json) -> Iterator[str]:
    ids = [panel["id"] for panel in (*dashboard["panels"], *_inside_rows(dashboard))]
    if len(set(ids)) != len(ids):
        yield "two panels have the same id"
    for panel in _drawn(dashboard):
        references = [target["refId"] for target in panel["targets"]]
        if len(set(references)) != len(references):
            yield f"{panel['title']}: two queries have the same refId"


def panels_do_not_overlap(dashboard: Json) -> Iterator[str]:
    for group in (dashboard["panels"], *(row["panels"] for row in _rows(dashboard))):
        for panel in group:
            place = panel["gridPos"]
            if place["x"] + place["w"] > _COLUMNS:
                yield f"{panel['title']}: beyond the grid"
        for one, other in combinations(group, 2):
            if _overlap(one["gridPos"], other["gridPos"]):
                yield f"{one['title']} and {other['title']} overlap"


def rows_have_at_most_eight_tiles(dashboard: Json) -> Iterator[str]:
    tops = [-1, *(row["gridPos"]["y"] for row in _rows(dashboard))]
    tiles = [panel["gridPos"]["y"] for panel in dashboard["panels"] if panel["type"] == "stat"]
    rows = [bisect(tops, top) for top in tiles]
    for row in sorted(set(rows)):
        if rows.count(row) > _TILES_IN_A_ROW:
            yield f"more than {_TILES_IN_A_ROW} tiles below line {tops[row - 1]}"


def titles_can_be_read_on_a_laptop(dashboard: Json) -> Iterator[str]:
    for panel in _drawn(dashboard):
        pixels = panel["gridPos"]["w"] * _LAPTOP_PIXELS / _COLUMNS - _ICON_AND_MARGIN_PIXELS
        if len(panel["title"]) * _LETTER_PIXELS > pixels:
            yield f"{panel['title']}: the title is cut at this width"


def rows_ask_a_question(dashboard: Json) -> Iterator[str]:
    for row in _rows(dashboard):
        if not row["title"].endswith("?"):
            yield f"row {row['title']!r} asks nothing"


def links_keep_time_and_variables(dashboard: Json) -> Iterator[str]:
    if not dashboard["links"]:
        yield "no links to the other dashboards"
    for link in dashboard["links"]:
        if not (link["keepTime"] and link["includeVars"]):
            yield f"link {link['title']} loses time or variables"
        if not set(link["tags"]) <= set(dashboard["tags"]):
            yield f"link {link['title']} does not lead here"


def only_judged_tiles_have_colours(dashboard: Json) -> Iterator[str]:
    for panel in _drawn(dashboard):
        if panel["type"] != "stat":
            continue
        defaults = panel["fieldConfig"]["defaults"]
        judged = len(defaults["thresholds"]["steps"]) > 1 or bool(defaults["mappings"])
        if judged != (panel["options"]["colorMode"] != "none"):
            yield f"{panel['title']}: coloured without a judgement, or the reverse"


RULES: Final[tuple[Rule, ...]] = (
    source_is_a_variable,
    panels_are_explained,
    descriptions_end_with_the_metrics,
    panels_ask_something,
    curves_have_a_legend,
    windows_follow_the_scrapes,
    counters_are_rates,
    queries_follow_the_variables,
    variables_exist,
    numbers_are_unique,
    panels_do_not_overlap,
    rows_have_at_most_eight_tiles,
    titles_can_be_read_on_a_laptop,
    rows_ask_a_question,
    links_keep_time_and_variables,
    only_judged_tiles_have_colours,
)


def _sources(dashboard: Json) -> Iterator[tuple[str, Json | None]]:
    for variable in dashboard["templating"]["list"][1:]:
        yield f"variable {variable['name']}", variable.get("datasource")
    for annotation in dashboard["annotations"]["list"]:
        yield f"annotation {annotation['name']}", annotation.get("datasource")
    for panel in _drawn(dashboard):
        yield panel["title"], panel.get("datasource")
        for target in panel["targets"]:
            yield f"{panel['title']} {target['refId']}", target.get("datasource")


def _drawn(dashboard: Json) -> list[Json]:
    return [panel for panel in panels(dashboard) if panel["type"] != "text"]


def _queries(panel: Json) -> list[str]:
    return [filled(target["expr"]) for target in panel["targets"]]


def _rows(dashboard: Json) -> list[Json]:
    return [panel for panel in dashboard["panels"] if panel["type"] == "row"]


def _inside_rows(dashboard: Json) -> list[Json]:
    return [panel for row in _rows(dashboard) for panel in row["panels"]]


def _overlap(one: Json, other: Json) -> bool:
    beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
    apart = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
    return not (beside or apart)
