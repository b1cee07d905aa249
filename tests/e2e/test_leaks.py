"""Nothing is left behind by requests that end badly."""

import asyncio
import json
from typing import Any

from tests.fakes.gate import Gate, eventually, running_gate
from tests.fakes.upstream import End, FakeUpstream, Scripted, chunk, completion, fake_upstream

ASKED: dict[str, Any] = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}]}
STRICT = ASKED | {"response_format": {"type": "json_object"}}
HANGING = Scripted((chunk({"content": '{"a":'}),), content_type="text/event-stream", end=End.HANG)
FAILURES = (
    Scripted((b"nonsense",)),
    Scripted((b'{"error":{}}',), status=400),
    Scripted((b'{"choices":[',), end=End.CUT),
    completion("no JSON", finish_reason="length"),
)
COUNT = 200
AT_ONCE = 20


def _held_open(gate: Gate, upstream: FakeUpstream) -> dict[str, int]:
    """What a leak would leave; the connection of the poller comes and goes."""
    gateway = gate.app.gateway
    return {
        "running": len(gateway.running),
        "in_flight": gateway.in_flight,
        "waiting": gateway.door.admission.depth,
        "taken": AT_ONCE - gateway.door.admission._free,
        "upstream": sum(not call.over.is_set() for call in upstream.calls),
    }


async def _abort(gate: Gate, asked: dict[str, Any], upstream: FakeUpstream) -> None:
    """Leave as soon as the upstream has the request."""
    body = json.dumps(asked | {"stream": True}).encode()
    before = len(upstream.calls)
    _, writer = await asyncio.open_connection("127.0.0.1", int(gate.url.rsplit(":", 1)[1]))
    writer.write(
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%s"
        % (len(body), body)
    )
    await eventually(lambda: len(upstream.calls) > before)
    writer.transport.abort()


async def _is_clean(gate: Gate, upstream: FakeUpstream) -> None:
    await eventually(lambda: not any(_held_open(gate, upstream).values()))
    assert not any(_held_open(gate, upstream).values())


async def test_aborted_streams_and_failed_requests_leave_nothing_behind() -> None:
    settings = {"admission.concurrent": AT_ONCE, "engine.poll_seconds": 60}
    async with fake_upstream() as upstream, running_gate(upstream.url, settings) as gate:
        await gate.metrics()
        tasks = len(asyncio.all_tasks())

        upstream.script += [HANGING] * COUNT
        for _ in range(COUNT // AT_ONCE):
            streams = [_abort(gate, (ASKED, STRICT)[n % 2], upstream) for n in range(AT_ONCE)]
            await asyncio.gather(*streams)
        await _is_clean(gate, upstream)
        upstream.script.clear()

        upstream.script += FAILURES * COUNT
        for _ in range(COUNT // AT_ONCE):
            await asyncio.gather(*(gate.chat(STRICT) for _ in range(AT_ONCE)))
        await _is_clean(gate, upstream)

        metrics = await gate.metrics()
        await eventually(lambda: len(asyncio.all_tasks()) <= tasks)

    ended = {name: count for name, count in metrics.items() if "requests_total" in name}
    assert sum(ended.values()) == 2 * COUNT
    assert ended['sluicegate_requests_total{endpoint="chat",outcome="client_gone"}'] == COUNT


async def test_proxy_that_stopped_leaves_no_task() -> None:
    async with fake_upstream(completion("{}")) as upstream:
        before = asyncio.all_tasks()
        async with running_gate(upstream.url) as gate:
            await gate.chat(STRICT)

        await eventually(lambda: asyncio.all_tasks() <= before)
