"""Reads a metrics page as Prometheus does, from a thread, while something else is measured."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

# What Prometheus asks for: OpenMetrics, the dearer of the two texts.
ACCEPT = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)


@dataclass(slots=True)
class Scrapes:
    """How often a metrics page was read, and how often that failed."""

    done: int = 0
    failed: int = 0


@contextmanager
def scraped(metrics_url: str, every_seconds: float) -> Iterator[Scrapes]:
    """Read the page now, and again after each so many seconds; no address: never."""
    scrapes = Scrapes()
    over = threading.Event()

    def scrape() -> None:
        while not over.is_set():
            if read_page(metrics_url):
                scrapes.done += 1
            else:
                scrapes.failed += 1
            over.wait(every_seconds)

    if not metrics_url:
        yield scrapes
        return
    thread = threading.Thread(target=scrape, daemon=True)
    thread.start()
    try:
        yield scrapes
    finally:
        over.set()
        thread.join()


def read_page(metrics_url: str) -> bool:
    """Whether the page came, whole."""
    address = urlsplit(metrics_url)
    connection = http.client.HTTPConnection(address.netloc, timeout=5)
    try:
        connection.request("GET", address.path, headers={"accept": ACCEPT})
        reply = connection.getresponse()
        return bool(reply.read()) and reply.status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
