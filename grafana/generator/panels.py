"""Panels: tiles, curves, heatmaps and texts of Grafana's classic model, as plain dicts.

Panels do not know where they stand: that is `layout`'s.
"""

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from grafana.generator.colours import NEUTRAL

Json = dict[str, Any]

SOURCE: Final[Json] = {"type": "prometheus", "uid": "${datasource}"}
NO_TRAFFIC: Final = "no traffic"
# Units; Grafana puts a blank before a suffix.
TOKENS_A_SECOND: Final = "suffix:tok/s"
EVENTS_A_SECOND: Final = "suffix:/s"
# An axis reaches at least so far: one of zeros alone would end at 100.
_LEAST_TOP: Final = {
    "none": 1.0,
    "s": 0.001,
    "reqps": 0.1,
    TOKENS_A_SECOND: 1.0,
    EVENTS_A_SECOND: 0.1,
}
# A tile looks at the last five minutes: one machine's traffic is too thin for less.
_TILE_INTERVAL: Final = "5m"
_VALUE_PIXELS: Final = 28
# Grafana gives a legend below a third of the panel: so many rows of a table can be seen.
_ROWS_OF_A_LEGEND: Final = 3
_METRIC: Final = re.compile(r"\b(up|(?:sluicegate|node|DCGM)_\w+|vllm:\w+|process_\w+)\{")
_NO_COLOURS: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class Query:
    """PromQL, and how its series are called: `{{label}}` stands for a label's value."""

    expression: str
    legend: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """From which value on a tile is orange, and red."""

    warning: float
    bad: float

    def thresholds(self) -> Json:
        steps = [
            {"color": "green", "value": None},
            {"color": "orange", "value": self.warning},
            {"color": "red", "value": self.bad},
        ]
        return {"mode": "absolute", "steps": steps}


@dataclass(frozen=True, slots=True)
class Words:
    """A value that is a statement: `mapping` from values to (text, colour)."""

    mapping: Mapping[float, tuple[str, str]]

    def mappings(self) -> list[Json]:
        options = {
            f"{value:g}": {"text": text, "color": colour, "index": index}
            for index, (value, (text, colour)) in enumerate(self.mapping.items())
        }
        return [{"type": "value", "options": options}]


def tile(
    title: str,
    text: str,
    expression: str,
    unit: str,
    *,
    judgement: Judgement | None = None,
    words: Words | None = None,
    no_value: str = NO_TRAFFIC,
) -> Json:
    """One number of the last five minutes; coloured only where there is a judgement or words."""
    neutral = {"mode": "absolute", "steps": [{"color": NEUTRAL, "value": None}]}
    defaults = {
        "unit": unit,
        "noValue": no_value,
        "color": {"mode": "thresholds"},
        "mappings": [
            *(words.mappings() if words else ()),
            *(_without_colour(no_value) if judgement or words else ()),
        ],
        "thresholds": judgement.thresholds() if judgement else neutral,
    }
    options = {
        "colorMode": "value" if judgement or words else "none",
        "graphMode": "none",
        "justifyMode": "center",
        "orientation": "auto",
        "percentChangeColorMode": "standard",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "showPercentChange": False,
        "text": {"valueSize": _VALUE_PIXELS},
        "textMode": "value",
        "wideLayout": True,
    }
    panel = _panel(
        "stat", title, text, [Query(expression, title)], defaults=defaults, options=options
    )
    panel["interval"] = _TILE_INTERVAL
    for target in panel["targets"]:
        target |= {"instant": True, "range": False}
    return panel


def curves(
    title: str,
    text: str,
    queries: Sequence[Query],
    unit: str,
    *,
    colours: Mapping[str, str] = _NO_COLOURS,
    stacked: bool = False,
    limits: tuple[float | None, float | None] = (0, None),
    no_value: str = NO_TRAFFIC,
) -> Json:
    """Values over time; `limits` of the axis.

    `colours` by the series' name, or by a regular expression between slashes for it.
    """
    custom: Json = {
        "drawStyle": "line",
        "fillOpacity": _fill(queries, stacked=stacked),
        "lineWidth": 1,
        "showPoints": "auto",
        "spanNulls": False,
        "stacking": {"group": "A", "mode": "normal" if stacked else "none"},
    }
    if unit in _LEAST_TOP:
        custom["axisSoftMax"] = _LEAST_TOP[unit]
    low, high = limits
    defaults: Json = {
        "unit": unit,
        "noValue": no_value,
        "custom": custom,
        "color": {"mode": "palette-classic-by-name"},
    }
    defaults |= {name: end for name, end in (("min", low), ("max", high)) if end is not None}
    options = {"legend": _legend(queries), "tooltip": {"mode": "multi", "sort": "desc"}}
    panel = _panel("timeseries", title, text, queries, defaults=defaults, options=options)
    panel["fieldConfig"]["overrides"] = [_coloured(*pair) for pair in colours.items()]
    return panel


def heatmap(title: str, text: str, expression: str, unit: str) -> Json:
    """How many observations fell into each bucket; `expression` keeps the label `le`."""
    options = {
        "calculate": False,
        "cellGap": 1,
        "color": {
            "exponent": 0.5,
            "fill": "dark-orange",
            "mode": "scheme",
            "reverse": False,
            "scale": "exponential",
            "scheme": "Oranges",
            "steps": 64,
        },
        "exemplars": {"color": "rgba(255,0,255,0.7)"},
        "filterValues": {"le": 1e-9},
        "legend": {"show": True},
        "rowsFrame": {"layout": "auto"},
        "showValue": "never",
        "tooltip": {"mode": "single", "yHistogram": True},
        "yAxis": {"axisPlacement": "left", "reverse": False, "unit": unit},
    }
    defaults = {"unit": unit, "noValue": NO_TRAFFIC}
    panel = _panel(
        "heatmap", title, text, [Query(expression, "{{le}}")], defaults=defaults, options=options
    )
    panel["targets"][0] |= {"format": "heatmap", "exemplar": True}
    return panel


def words(title: str, markdown: str) -> Json:
    """A text to read."""
    return {
        "id": identity(title),
        "type": "text",
        "title": title,
        "options": {"mode": "markdown", "content": markdown},
    }


def identity(title: str) -> int:
    """A number that stays the same for as long as the title does, so that links hold."""
    return zlib.crc32(title.encode()) % 1_000_000 + 1


def _panel(
    kind: str, title: str, text: str, queries: Sequence[Query], *, defaults: Json, options: Json
) -> Json:
    return {
        "id": identity(title),
        "type": kind,
        "title": title,
        "description": f"{text} Metrics: {', '.join(_metrics(queries))}.",
        "datasource": SOURCE,
        "targets": [_target(number, query) for number, query in enumerate(queries)],
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": options,
    }


def _metrics(queries: Sequence[Query]) -> list[str]:
    names = [name for query in queries for name in _METRIC.findall(query.expression)]
    return list(dict.fromkeys(names))


def _target(number: int, query: Query) -> Json:
    return {
        "refId": chr(ord("A") + number),
        "datasource": SOURCE,
        "expr": query.expression,
        "legendFormat": query.legend,
        "range": True,
    }


def _legend(queries: Sequence[Query]) -> Json:
    """A table while all its rows can be seen, else the names alone side by side."""
    is_table = len(queries) <= _ROWS_OF_A_LEGEND and not _is_split(queries)
    return {
        "calcs": ["lastNotNull", "max"] if is_table else [],
        "displayMode": "table" if is_table else "list",
        "placement": "bottom",
        "showLegend": True,
    }


def _fill(queries: Sequence[Query], *, stacked: bool) -> int:
    """Areas one behind the other would be mud."""
    if stacked:
        return 60
    return 8 if len(queries) == 1 and not _is_split(queries) else 0


def _is_split(queries: Sequence[Query]) -> bool:
    """Whether a query gives a series for each value of a label."""
    return any("{{" in query.legend for query in queries)


def _without_colour(text: str) -> list[Json]:
    """No value is neither good nor bad; else it would have the colour of the best one."""
    result = {"text": text, "color": NEUTRAL, "index": 99}
    return [{"type": "special", "options": {"match": "null", "result": result}}]


def _coloured(name: str, colour: str) -> Json:
    fixed = {"id": "color", "value": {"mode": "fixed", "fixedColor": colour}}
    matcher = "byRegexp" if name.startswith("/") else "byName"
    return {"matcher": {"id": matcher, "options": name}, "properties": [fixed]}
