"""What a request costs inside the proxy: no sockets, a lane that answers at once.

    python benchmarks/hot_path.py [json|strict|calls|stream ...]   processor time, least of 20 runs
    python benchmarks/hot_path.py strict --profile                 where it goes, by cProfile
    python benchmarks/hot_path.py strict --instructions            counted by callgrind

Times say how ways compare on one machine; instructions are the same each time, so that two
versions of the code can be compared. `serve` lies between the request's arrival and the end of its
reply, `record` is what metrics, log and look-up take after it. There is no ledger here.
"""

import argparse
import asyncio
import cProfile
import gc
import io
import os
import pstats
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from types import TracebackType
from typing import Any, Final, Self

from asks import Ask, chat_request
from contents import (
    DOCUMENT,
    TEXT,
    call_completion,
    completion,
    finish_event,
    pieces,
    role_event,
    token_event,
    usage_event,
)
from typing_extensions import override

from proxy.app import App, Surroundings, open_app
from proxy.contract.judge_process import JudgeProcess
from proxy.server import fast_runner
from proxy.settings import load_settings
from proxy.upstream.lane import Call, Headers, Lane, UpstreamReply

POLICIES: Final = Path(__file__).resolve().parents[1] / "policies"
WARM_UP: Final = 200
RUNS: Final = 20
REQUESTS: Final = {"json": 200, "strict": 100, "calls": 100, "stream": 40}
COUNTED: Final = 300
_JSON: Final = (("content-type", "application/json"),)
_EVENTS: Final = (("content-type", "text/event-stream; charset=utf-8"),)
_INSTRUCTIONS: Final = re.compile(r"Collected : (\d+)")

Way = tuple[bytes, Headers, tuple[bytes, ...]]


@dataclass
class ReadyReply(UpstreamReply):
    """A reply that is there already."""

    headers: Headers = ()
    chunks: Sequence[bytes] = ()
    status: int = 200
    is_stream: bool = False
    taken: int = 0

    @property
    @override
    def is_over(self) -> bool:
        return self.taken == len(self.chunks)

    @override
    async def chunk(self) -> bytes:
        if self.is_over:
            return b""
        self.taken += 1
        return self.chunks[self.taken - 1]

    @override
    def __enter__(self) -> Self:
        return self

    @override
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return


class ReadyLane(Lane):
    """Answers every call with the same reply."""

    name = "main"
    speaks_vllm = True

    def __init__(self, headers: Headers, chunks: Sequence[bytes]) -> None:
        self._headers = headers
        self._chunks = chunks

    @override
    async def open(self, call: Call) -> UpstreamReply:
        return ReadyReply(self._headers, self._chunks, is_stream=self._headers is _EVENTS)

    @override
    async def close(self) -> None:
        return


def way(kind: str) -> Way:
    """The request's body, and the headers and chunks of the reply."""
    if kind == "stream":
        tokens = pieces(TEXT)
        events = [role_event(), *map(token_event, tokens), finish_event("stop")]
        end = (usage_event(len(tokens)), b"data: [DONE]\n\n")
        return chat_request(Ask.PLAIN, stream=True), _EVENTS, (*events, *end)
    ask, reply = {
        "json": (Ask.PLAIN, completion(TEXT)),
        "strict": (Ask.STRICT, completion(DOCUMENT)),
        "calls": (Ask.CALL, call_completion(DOCUMENT)),
    }[kind]
    return chat_request(ask, stream=False), _JSON, (reply,)


class Load:
    """Sends one request after the other into an app."""

    def __init__(self, app: App, body: bytes) -> None:
        self._app = app
        self._body = body
        path = "/v1/chat/completions"
        headers = {
            "host": "127.0.0.1:8800",
            "content-type": "application/json",
            "content-length": str(len(body)),
            "user-agent": "hot-path",
            "accept": "*/*",
        }
        self._scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }

    async def send(self, count: int) -> None:
        for _ in range(count):
            arriving = [{"type": "http.request", "body": self._body, "more_body": False}]
            stays = asyncio.get_running_loop().create_future()

            async def receive(
                arriving: list[dict[str, Any]] = arriving, stays: asyncio.Future[Any] = stays
            ) -> Any:
                return arriving.pop() if arriving else await stays

            await self._app.gateway(self._scope, receive, _take)

    def record(self) -> None:
        self._app.gateway.recorder.flush()


async def _take(_: object) -> None:
    return


async def measure(kind: str, *, profile: bool, count: int | None) -> str:
    """Run one way; a line of what it costs, or a profile."""
    body, headers, chunks = way(kind)
    given = {
        "lanes.main.url": "http://127.0.0.1:1",
        "policies.folder": str(POLICIES),
        "engine.poll_seconds": 1000,
        "ledger.url": "none",
    }
    surroundings = Surroundings(
        log=io.StringIO(),
        wrap_lane=lambda _: ReadyLane(headers, chunks),
        judge_process=JudgeProcess(),
    )
    async with open_app(load_settings(None, {}, given), surroundings) as app:
        load = Load(app, body)
        if count is not None:
            await load.send(count)
            load.record()
            return ""
        await load.send(WARM_UP)
        load.record()
        gc.collect()
        gc.freeze()
        if profile:
            return await _profiled(load, REQUESTS[kind])
        return f"{kind:<8}{await _timed(load, REQUESTS[kind])}"


async def _timed(load: Load, requests: int) -> str:
    serving, recording = [], []
    for _ in range(RUNS):
        began = process_time()
        await load.send(requests)
        served = process_time()
        load.record()
        recording.append(process_time() - served)
        serving.append(served - began)
    serve, record = (1e6 * min(runs) / requests for runs in (serving, recording))
    return f"serve {serve:7.1f} µs   record {record:5.1f} µs"


async def _profiled(load: Load, requests: int) -> str:
    profile = cProfile.Profile()
    with profile:
        await load.send(requests * 5)
        load.record()
    out = io.StringIO()
    pstats.Stats(profile, stream=out).sort_stats("tottime").print_stats(40)
    return out.getvalue()


def instructions(kind: str) -> float:
    """Instructions of one more request, by two runs of different length under callgrind."""
    once, twice = (_collected(kind, count) for count in (COUNTED, 2 * COUNTED))
    return (twice - once) / COUNTED


def _collected(kind: str, count: int) -> int:
    command = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable)
    done = subprocess.run(
        (*command, __file__, kind, "--count", str(count)),
        stderr=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    found = _INSTRUCTIONS.search(done.stderr)
    if found is None:
        raise SystemExit(f"callgrind counted nothing:\n{done.stderr}")
    return int(found[1])


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description="Measure a request inside the proxy.")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(REQUESTS))
    parser.add_argument("--profile", action="store_true", help="show where the time goes")
    parser.add_argument("--instructions", action="store_true", help="count them; needs valgrind")
    parser.add_argument("--count", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    for kind in options.kinds or list(REQUESTS):
        if kind not in REQUESTS:
            parser.error(f"{kind} is none of {', '.join(REQUESTS)}")
        if options.instructions:
            print(f"{kind:<8}{instructions(kind):12,.0f} instructions", flush=True)
            continue
        with fast_runner() as runner:
            print(runner.run(measure(kind, profile=options.profile, count=options.count)))


if __name__ == "__main__":
    main(sys.argv[1:])
