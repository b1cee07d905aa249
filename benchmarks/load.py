"""The load: keep-alive connections that send one chat request after the other.

    python benchmarks/load.py --url http://127.0.0.1:8000 --kind json --concurrency 16 --seconds 4
    python benchmarks/load.py --url http://127.0.0.1:8000 --kind stream --count 500

Prints its figures as one JSON object. A fresh process each time and as little parsing as possible,
so that the machine's cores go to the contender. The first quarter of `--seconds` comes on top as
warm-up and is not counted; with `--count` everything is.

Kinds: `json` (whole replies), `stream` (streams as fast as they come), `paced` (a token each
20 ms, which measures the way to the first token and how late each event arrives; see
fake_upstream.py), `left` (streams that the client leaves after a kilobyte).
"""

import argparse
import asyncio
import json
import re
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import uvloop
from asks import Ask, chat_request
from tally import Figures, Tally
from typing_extensions import override

PACE_MS = 20
PACED_TOKENS = 64
DRAIN_SECONDS = 5.0  # longer than one paced stream: the next load starts on an idle contender
COUNT_SECONDS = 120.0  # a load of so many requests that takes longer has failed
LEFT_BYTES = 1000
LEFT_EVENTS = 512  # so many that the client is gone before the last one

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CLOSE = re.compile(rb"\r\nconnection: *close", re.IGNORECASE)
_STAMP = re.compile(rb"@(\d+),(\d+);")
_LAST_CHUNK = b"\r\n0\r\n\r\n"
_TAIL_BYTES = 512
_STAMP_BYTES = 64


class Client(asyncio.Protocol):
    """One connection. Sends the next request in the same turn in which a reply ended."""

    def __init__(self, request: bytes, kind: str, status: bytes, tally: Tally) -> None:
        self.lost = asyncio.Event()
        self._request = request
        self._kind = kind
        self._wanted_status = status
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
        if self._kind == "paced":
            self._read_stamps(data)
        self._tail = (self._tail + data)[-_TAIL_BYTES:]
        if self._left is None:
            complete = self._tail.endswith(_LAST_CHUNK)
        else:
            self._left -= len(data)
            complete = self._left <= 0
        if complete:
            self._finish()
        elif self._kind == "left":
            self._leave_after(len(data))

    def _send(self) -> None:
        if self._tally.is_over:
            self._transport.close()
            return
        self._tally.take()
        self._status = b""
        self._head = b""
        self._tail = b"\r\n"
        self._unread = b""
        self._seen_bytes = 0
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
                sent_there, arrived_there = int(stamp[1]), int(stamp[2])
                self._tally.lags.append(now - sent_there)
                if not self._first_token_seen:
                    waited_there = sent_there - arrived_there
                    self._tally.ways.append(now - self._sent_at - waited_there)
            self._first_token_seen = True
        self._unread = text[max(end, len(text) - _STAMP_BYTES) :]

    def _leave_after(self, count: int) -> None:
        self._seen_bytes += count
        if self._seen_bytes >= LEFT_BYTES:
            self._in_flight = False
            self._tally.replies.append((self._sent_at, time.monotonic_ns()))
            self._transport.abort()

    def _finish(self) -> None:
        self._in_flight = False
        streams = self._wanted_status == b"200" and self._kind != "json"
        if self._status != self._wanted_status or (streams and b"[DONE]" not in self._tail):
            self._tally.errors += 1
        else:
            self._tally.replies.append((self._sent_at, time.monotonic_ns()))
        if self._closes:
            self._transport.close()
        else:
            self._send()


@dataclass(frozen=True, slots=True)
class Load:
    """What to send, and how much of it: for some seconds, or so many requests."""

    url: str
    kind: str
    ask: Ask = Ask.PLAIN
    concurrency: int = 16
    seconds: float = 4.0
    count: int | None = None
    status: int = 200
    body: Path | None = None
    header: tuple[str, ...] = ()

    @property
    def warm_up_seconds(self) -> float:
        return 0.0 if self.count else self.seconds / 4

    def request(self) -> bytes:
        body = self.body.read_bytes() if self.body else self._chat_request()
        lines = [
            "POST /v1/chat/completions HTTP/1.1",
            f"host: {urlsplit(self.url).netloc}",
            "content-type: application/json",
            f"content-length: {len(body)}",
            *self.header,
        ]
        return "\r\n".join([*lines, "", ""]).encode() + body

    def _chat_request(self) -> bytes:
        stream = self.kind != "json"
        if self.kind == "left":
            return chat_request(self.ask, stream=stream, stream_events=LEFT_EVENTS)
        if self.kind != "paced":
            return chat_request(self.ask, stream=stream)
        return chat_request(self.ask, stream=stream, tokens=PACED_TOKENS, pace_ms=PACE_MS)

    async def run(self) -> Figures:
        begins = time.monotonic_ns() + int(self.warm_up_seconds * 1e9)
        tally = Tally(begins, self.concurrency, self.count)
        async with asyncio.TaskGroup() as tasks:
            connections = [
                tasks.create_task(self._keep_connected(index, tally))
                for index in range(self.concurrency)
            ]
            if self.count:
                await asyncio.wait(connections, timeout=COUNT_SECONDS)
                tally.close()
            else:
                await asyncio.sleep(self.warm_up_seconds + self.seconds)
                tally.close()
                await asyncio.wait(connections, timeout=DRAIN_SECONDS)
            for connection in connections:
                connection.cancel()
        return tally.figures()

    async def _keep_connected(self, index: int, tally: Tally) -> None:
        """Paced streams begin spread over the warm-up: agents do not start in step."""
        if self.kind == "paced":
            await asyncio.sleep(self.warm_up_seconds * index / self.concurrency)
        loop = asyncio.get_running_loop()
        address = urlsplit(self.url)
        request, status = self.request(), str(self.status).encode()
        while not tally.is_over:
            try:
                _, client = await loop.create_connection(
                    lambda: Client(request, self.kind, status, tally),
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
    parser.add_argument("--kind", choices=("json", "stream", "paced", "left"), required=True)
    parser.add_argument("--ask", type=Ask, choices=tuple(Ask), default=Ask.PLAIN)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--count", type=int, help="so many requests instead of some seconds")
    parser.add_argument("--status", type=int, default=200, help="that of a good reply")
    parser.add_argument("--body", type=Path, help="a file to send as the request's body")
    parser.add_argument("--header", action="append", default=[], help="one more: 'name: value'")
    options = parser.parse_args()
    load = Load(**vars(options))
    print(json.dumps(asdict(uvloop.run(load.run()))))


if __name__ == "__main__":
    _main()
