"""`python -m grafana.preview`: pictures of the dashboards for a person to look at.

They are drawn by Grafana's component library, not by Grafana: see docs/dashboards.md.
"""

import argparse
import asyncio
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from grafana.preview.browser import PageFailed
from grafana.preview.draw import AS_GRAFANA_RECKONS, Period, Picture, draw
from grafana.preview.live import SCRAPE_SECONDS, WINDOW_SECONDS, DemoEnded, live
from grafana.preview.site import BUILT

OK: Final = 0
DIFFERENT: Final = 1
NOT_POSSIBLE: Final = 2
SHIPPED_SCRAPE_SECONDS: Final = 15
_CHROMIUMS: Final = ("chromium", "chromium-browser", "google-chrome")
Which = Callable[[str], str | None]


def main() -> int:
    """Exit codes: 0 all as Prometheus said, 1 something is not, 2 not possible here."""
    options = _parser().parse_args()
    lacking = missing(options.prometheus, shutil.which, BUILT)
    if lacking:
        sys.stderr.write("".join(f"missing: {one}\n" for one in lacking))
        return NOT_POSSIBLE
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        pictures = asyncio.run(_draw(options))
    except (DemoEnded, PageFailed, OSError, TimeoutError) as error:
        sys.stderr.write(f"the preview failed: {error!r}\n")
        return NOT_POSSIBLE
    for picture in pictures:
        lines = [str(picture.file), *(f"  {fault}" for fault in picture.faults)]
        sys.stdout.write("\n".join([*lines, ""]))
    return DIFFERENT if any(picture.faults for picture in pictures) else OK


def missing(prometheus_url: str | None, which: Which, built: Path) -> list[str]:
    """What is needed and not here, with the way to get it. Prometheus only without an address."""
    found = []
    if not any(map(which, _CHROMIUMS)):
        found.append("chromium (Debian and Ubuntu: apt install chromium)")
    if prometheus_url is None and which("prometheus") is None:
        found.append("prometheus (Debian and Ubuntu: apt install prometheus)")
    if not (built / "index.html").is_file():
        found.append("the built page (make preview builds it with Node 20.19 or later and npm)")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m grafana.preview", description=__doc__)
    parser.add_argument(
        "--prometheus", metavar="URL", help="draw from this one (default: imitation and a new one)"
    )
    parser.add_argument("--folder", type=Path, default=Path(".preview"), help="for the pictures")
    parser.add_argument("--minutes", type=int, default=4, help="how long to look back")
    parser.add_argument(
        "--scrape",
        type=int,
        default=SHIPPED_SCRAPE_SECONDS,
        metavar="SECONDS",
        help="scrape interval of that one (default: %(default)s, as in prometheus.yaml)",
    )
    return parser


async def _draw(options: argparse.Namespace) -> list[Picture]:
    if options.prometheus:
        return await _pictures(options, options.prometheus, options.scrape, AS_GRAFANA_RECKONS)
    sys.stdout.write(f"The imitation mtp1 under load, {options.minutes} minutes; then pictures.\n")
    sys.stdout.flush()
    async with live(options.minutes) as url:
        return await _pictures(options, url, SCRAPE_SECONDS, WINDOW_SECONDS)


async def _pictures(
    options: argparse.Namespace, url: str, scrape: int, window: int
) -> list[Picture]:
    program = next(filter(None, map(shutil.which, _CHROMIUMS)))
    end = int(time.time()) - scrape
    period = Period(end - 60 * options.minutes, end, scrape, window)
    return await draw(program, url, period, options.folder)


if __name__ == "__main__":
    sys.exit(main())
