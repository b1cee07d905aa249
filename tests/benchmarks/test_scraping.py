"""The scraper of the benchmarks reads what Prometheus would read."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Thread

import pytest
from scraping import read_page, scraped
from typing_extensions import override


@dataclass
class Listener:
    """Answers `/metrics` with a page, all else with 404; `accepted` holds what was asked for."""

    url: str
    accepted: Queue[str] = field(default_factory=Queue)


@pytest.fixture
def listener() -> Iterator[Listener]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/metrics" else 404)
            self.end_headers()
            self.wfile.write(b"up 1\n")
            made.accepted.put(self.headers["accept"])

        @override
        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Listener(f"http://127.0.0.1:{server.server_port}")
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield made
    server.shutdown()
    server.server_close()
    thread.join()


def test_page_is_read_again_and_again_until_the_block_ends(listener: Listener) -> None:
    with scraped(f"{listener.url}/metrics", 0.0) as scrapes:
        asked = [listener.accepted.get(timeout=10) for _ in range(3)]

    assert all("application/openmetrics-text" in accept for accept in asked)
    assert scrapes.done >= 3
    assert scrapes.failed == 0


@pytest.mark.parametrize("path", ["/metrics", "/nothing"])
def test_only_a_page_that_came_counts(listener: Listener, path: str) -> None:
    assert read_page(listener.url + path) is (path == "/metrics")


def test_scrape_that_failed_is_counted_as_such(listener: Listener) -> None:
    with scraped(f"{listener.url}/nothing", 60.0) as scrapes:
        listener.accepted.get(timeout=10)

    assert (scrapes.done, scrapes.failed) == (0, 1)


def test_no_address_is_never_read() -> None:
    with scraped("", 0.0) as scrapes:
        pass

    assert (scrapes.done, scrapes.failed) == (0, 0)
