"""The load: keep-alive connections that send one chat request after the other.

    python benchmarks/load.py --url http://127.0.0.1:8000 --kind json --concurrency 16 --seconds 4

Prints its figures as one JSON object. A fresh process each time and as little parsing as possible,
so that the machine's cores go to the contender. The first quarter of `--seconds` comes on top as
warm-up and is not counted.

Kinds: `json` (whole replies), `stream` (streams as fast as they come), `paced` (a token each
20 ms, which measures TTFT and how late each event arrives; see fake_upstream.py).
"""

import argparse
import asyncio
import json
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import contents
import uvloop
from typing_extensions import override

PACE_MS = 20
PACED_TOKENS = 64
DRAIN_SECONDS = 5.0  # longer than one paced stream: the next load starts on an idle contender

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CLOSE = re.compile(rb"\r\nconnection: *close", re.IGNORECASE)
_STAMP = re.compile(rb"@(\d+);")
_LAST_CHUNK = b"\r\n0\r\n\r\n"
_TAIL_BYTES = 512
_STAMP_BYTES = 32


@dataclass(frozen=True, slots=True)
class Figures:
    """What one load measured; None where nothing was, times in milliseconds.

    `lag` is the time from the upstream's sending of an event to its arrival at the client. TTFT is
    None until there are as many samples as connections: fewer are those of the last starters only.
    """

    completed: int
    errors: int
    per_second: float
    p50_ms: float | None = None
    p99_ms: float | None = None
    ttft_samples: int = 0
    ttft_p50_ms: float | None = None
    ttft_p99_ms: float | None = None
    lag_p50_ms: float | None = None
    lag_p99_ms: float | None = None
    lag_max_ms: float | None = None


@dataclass(slots=True)
class Tally:
    """Samples in nanoseconds, from `counts_from` (CLOCK_MONOTONIC) until `closed`."""

    counts_from: int
    connections: int
    status: bytes = b"200"
    closed: bool = False
    errors: int = 0
    durations: list[int] = field(default_factory=list)
    ttfts: list[int] = field(default_factory=list)
    lags: list[int] = field(default_factory=list)

    def counts(self, now: int) -> bool:
        return now >= self.counts_from and not self.closed

    def figures(self, seconds: float) -> Figures:
        ttfts = self.ttfts if len(self.ttfts) >= self.connections else []
        return Figures(
            completed=len(self.durations),
            errors=self.errors,
            per_second=len(self.durations) / seconds,
            p50_ms=quantile_ms(self.durations, 0.5),
            p99_ms=quantile_ms(self.durations, 0.99),
            ttft_samples=len(self.ttfts),
            ttft_p50_ms=quantile_ms(ttfts, 0.5),
            ttft_p99_ms=quantile_ms(ttfts, 0.99),
            lag_p50_ms=quantile_ms(self.lags, 0.5),
            lag_p99_ms=quantile_ms(self.lags, 0.99),
            lag_max_ms=quantile_ms(self.lags, 1.0),
        )


def quantile_ms(samples: Sequence[int], share: float) -> float | None:
    """The nearest-rank quantile of nanosecond samples, in milliseconds."""
    if not samples:
        return None
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] / 1e6


class Client(asyncio.Protocol):
    """One connection. Sends the next request in the same turn in which a reply ended."""

    def __init__(self, request: bytes, kind: str, tally: Tally) -> None:
        self.lost = asyncio.Event()
        self._request = request
        self._ends_with_done = kind != "json"
        self._stamped = kind == "paced"
        self._tally = tally
        self._in_flight = False
        self._tail = b""

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._send()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        if self._in_flight:
            self._tally.errors += 1
        self.lost.set()

    @override
    def data_received(self, data: bytes) -> None:
        if not self._status:
            self._head += data
            if b"\r\n\r\n" not in self._head:
                return
            data = self._read_head()
        if self._stamped:
            self._read_stamps(data)
        self._tail = (self._tail + data)[-_TAIL_BYTES:]
        if self._left is None:
            complete = self._tail.endswith(_LAST_CHUNK)
        else:
            self._left -= len(data)
            complete = self._left <= 0
        if complete:
            self._finish()

    def _send(self) -> None:
        self._status = b""
        self._head = b""
        self._tail = b"\r\n"
        self._unread = b""
        self._first_token_seen = False
        self._in_flight = True
        self._sent_at = time.monotonic_ns()
        self._transport.write(self._request)

    def _read_head(self) -> bytes:
        head, _, rest = self._head.partition(b"\r\n\r\n")
        self._status = head[9:12]
        length = _LENGTH.search(head)
        self._left = int(length[1]) if length else None
        self._closes = _CLOSE.search(head) is not None
        return rest

    def _read_stamps(self, data: bytes) -> None:
        now = time.monotonic_ns()
        text = self._unread + data
        end = 0
        for stamp in _STAMP.finditer(text):
            end = stamp.end()
            if self._tally.counts(now):
                self._tally.lags.append(now - int(stamp[1]))
                if not self._first_token_seen:
                    self._tally.ttfts.append(now - self._sent_at)
            self._first_token_seen = True
        self._unread = text[max(end, len(text) - _STAMP_BYTES) :]

    def _finish(self) -> None:
        now = time.monotonic_ns()
        self._in_flight = False
        if self._status != self._tally.status or (
            self._ends_with_done and b"[DONE]" not in self._tail
        ):
            self._tally.errors += 1
        elif self._tally.counts(now):
            self._tally.durations.append(now - self._sent_at)
        if self._closes or self._tally.closed:
            self._transport.close()
        else:
            self._send()


@dataclass(frozen=True, slots=True)
class Load:
    """What to send, and how much of it."""

    url: str
    kind: str
    concurrency: int
    seconds: float
    strict: bool = False
    status: int = 200
    body: Path | None = None

    @property
    def warm_up_seconds(self) -> float:
        return self.seconds / 4

    def request(self) -> bytes:
        paced = self.kind == "paced"
        body = (
            self.body.read_bytes()
            if self.body
            else contents.chat_request(
                stream=self.kind != "json",
                schema=contents.SCHEMA if self.strict else None,
                pace_ms=PACE_MS if paced else 0,
                tokens=PACED_TOKENS if paced else 0,
            )
        )
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nhost: {urlsplit(self.url).netloc}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    async def run(self) -> Figures:
        begins = time.monotonic_ns() + int(self.warm_up_seconds * 1e9)
        tally = Tally(begins, self.concurrency, str(self.status).encode())
        async with asyncio.TaskGroup() as tasks:
            connections = [
                tasks.create_task(self._keep_connected(index, tally))
                for index in range(self.concurrency)
            ]
            await asyncio.sleep(self.warm_up_seconds + self.seconds)
            tally.closed = True
            await asyncio.wait(connections, timeout=DRAIN_SECONDS)
            for connection in connections:
                connection.cancel()
        return tally.figures(self.seconds)

    async def _keep_connected(self, index: int, tally: Tally) -> None:
        """Paced streams begin spread over the warm-up: agents do not start in step."""
        if self.kind == "paced":
            await asyncio.sleep(self.warm_up_seconds * index / self.concurrency)
        loop = asyncio.get_running_loop()
        address = urlsplit(self.url)
        request = self.request()
        while not tally.closed:
            try:
                _, client = await loop.create_connection(
                    lambda: Client(request, self.kind, tally),
                    address.hostname or "127.0.0.1",
                    address.port or 80,
                )
            except OSError:
                tally.errors += 1
                await asyncio.sleep(0.05)
            else:
                await client.lost.wait()


def _main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--kind", choices=("json", "stream", "paced"), required=True)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--strict", action="store_true", help="ask for strict JSON")
    parser.add_argument("--status", type=int, default=200, help="that of a good reply")
    parser.add_argument("--body", type=Path, help="a file to send as the request's body")
    options = parser.parse_args()
    load = Load(**vars(options))
    print(json.dumps(asdict(uvloop.run(load.run()))))


if __name__ == "__main__":
    _main()
