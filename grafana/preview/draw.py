"""Draws every dashboard, and compares what stands in the page with what Prometheus returned."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from grafana.preview.browser import Browser, browser
from grafana.preview.site import DASHBOARDS, MARKS, site

AS_GRAFANA_RECKONS: Final = 0
_WIDTH: Final = 1440
_DRAWN: Final = """new Promise((done) => {
  const look = () => (document.body.dataset.drawn ? done() : setTimeout(look, 100));
  look();
})"""
_HEIGHT: Final = "document.documentElement.scrollHeight"
# What Grafana's components put into the page: a row of a legend as table, an item of one as list, a
# big value; or our stand-in for a panel that they cannot draw.
_PANELS: Final = """[...document.querySelectorAll("section[data-panel]")].map((panel) => ({
  id: Number(panel.dataset.panel),
  title: panel.dataset.title,
  fault: panel.dataset.fault ?? null,
  series: panel.dataset.type === "timeseries"
    ? panel.querySelectorAll('tbody tr, [data-testid^="data-testid VizLegend series"]').length
    : panel.querySelectorAll("[data-series]").length
      + Number(panel.querySelector("[data-drawn]")?.dataset.drawn ?? 0),
}))"""


@dataclass(frozen=True, slots=True)
class Period:
    """What is shown, in whole seconds since 1970, and how rates are reckoned, in seconds.

    `window` replaces `$__rate_interval` of curves, unless it is AS_GRAFANA_RECKONS.
    """

    start: int
    end: int
    scrape: int
    window: int

    def query(self, dashboard: str) -> str:
        """The address of a page: what src/prometheus.js reads."""
        told = {"dashboard": dashboard, "from": self.start, "to": self.end}
        return urlencode({**told, "scrape": self.scrape, "window": self.window})


@dataclass(frozen=True, slots=True)
class Picture:
    """One dashboard, drawn. `faults` are sentences; without any it shows what was returned."""

    file: Path
    faults: tuple[str, ...]


async def draw(program: str, prometheus_url: str, period: Period, folder: Path) -> list[Picture]:
    """A PNG of every dashboard in an existing folder. `program` is Chromium's.

    Raises `PageFailed`, `TimeoutError`, `OSError`.
    """
    async with browser(program) as chromium:
        return [
            await _one(chromium, prometheus_url, period.query(path.stem), folder / path.stem)
            for path in sorted(DASHBOARDS.glob("*.json"))
        ]


async def _one(chromium: Browser, prometheus_url: str, query: str, target: Path) -> Picture:
    async with site(prometheus_url) as (url, relay), chromium.page() as page:
        await page.open(f"{url}/?{query}", _WIDTH, _WIDTH)
        await page.value(_DRAWN)
        panels = await page.value(_PANELS)
        await page.resize(_WIDTH, await page.value(_HEIGHT))
        file = target.with_suffix(".png")
        file.write_bytes(await page.picture())
    thrown = (f"the page threw {text}" for text in page.thrown)
    return Picture(file, (*differences(panels, relay.series), *thrown))


def differences(panels: list[Any], returned: Mapping[int, int]) -> list[str]:
    """Panels that failed, or that draw another number of series than Prometheus returned.

    `panels` as the page tells them: id, title, fault, series; `returned` by the panel's id.
    """
    found = []
    for panel in panels:
        expected = returned.get(panel["id"], 0)
        if panel["fault"]:
            found.append(f"{panel['title']}: {panel['fault']}")
        elif panel["series"] != expected:
            found.append(f"{panel['title']}: {expected} series, {panel['series']} drawn")
    asked_in_vain = returned.keys() - {MARKS} - {panel["id"] for panel in panels}
    return [*found, *(f"panel {number} is not in the page" for number in asked_in_vain)]
