"""An engine that loads or is away while requests come: they wait, bounded."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.fakes.gate import Gate, eventually, running_gate
from tests.fakes.probe import VALID
from tests.fakes.upstream import End, FakeUpstream, Scripted, completion, fake_upstream, stream

ASKED: dict[str, Any] = {"model": "tiny", "messages": [{"role": "user", "content": "Hi."}]}
LOADING = Scripted((b"loading",), status=503)
BUSY = Scripted((b'{"error":{"message":"busy"}}',), status=503)
WAITS = {"lanes.main.ready_wait_seconds": 10}


async def _waiting(gate: Gate, count: int) -> None:
    await eventually(lambda: getattr(gate.app.gateway.parts.readiness, "waiting", 0) == count)


async def _ask(gate: Gate, names: Sequence[str]) -> list["asyncio.Task[tuple[Any, bytes]]"]:
    """Requests that have arrived one after another, and wait."""
    tasks = []
    for number, name in enumerate(names, 1):
        tasks.append(asyncio.create_task(gate.chat(ASKED, {"x-request-id": name})))
        await _waiting(gate, number)
    return tasks


def _served(upstream: FakeUpstream) -> list[str]:
    ids = [call.headers["x-request-id"] for call in upstream.calls]
    return [name for name in ids if not name.startswith("probe-")]


@pytest.mark.parametrize("probe", [None, {}], ids=["without a probe", "with one"])
async def test_requests_wait_while_the_engine_loads_and_are_served_in_order(probe: Any) -> None:
    names = [f"r-{number:02}" for number in range(20)]
    settings = {**WAITS, "admission.concurrent": 1, "lanes.main.probe": probe}
    script = ([] if probe is None else [VALID]) + [completion() for _ in names]
    async with fake_upstream(*script) as upstream:
        upstream.pages["/metrics"] = LOADING
        async with running_gate(upstream.url, settings) as gate:
            waiting = await _ask(gate, names)
            shown = await gate.metrics()
            unasked = len(upstream.calls)
            del upstream.pages["/metrics"]
            replies = await asyncio.gather(*waiting)
            metrics = await gate.metrics()

    assert unasked == 0
    assert shown["sluicegate_ready_waiting"] == 20
    assert [response.status for response, _ in replies] == [200] * 20
    assert _served(upstream) == names
    assert metrics["sluicegate_ready_waiting"] == 0
    assert metrics['sluicegate_ready_waits_total{result="served"}'] == 20


async def test_more_than_may_wait_are_refused_at_once() -> None:
    settings = {**WAITS, "admission.queue": 2}
    async with fake_upstream(completion(), completion()) as upstream:
        upstream.pages["/metrics"] = LOADING
        async with running_gate(upstream.url, settings) as gate:
            waiting = await _ask(gate, ["first", "second"])
            refused, body = await gate.chat(ASKED)
            record = await gate.record(refused)
            del upstream.pages["/metrics"]
            served = await asyncio.gather(*waiting)
            metrics = await gate.metrics()

    assert (refused.status, refused.headers["retry-after"]) == (503, "5")
    assert json.loads(body)["error"]["code"] == "engine_loading"
    assert record["outcome"] == "refused"
    assert [response.status for response, _ in served] == [200, 200]
    assert metrics['sluicegate_ready_waits_total{result="refused"}'] == 1


async def test_who_waited_is_not_refused_by_a_queue_that_is_full_by_then() -> None:
    names = ["first", "second", "third"]
    settings = {**WAITS, "admission.queue": 3, "admission.concurrent": 1}
    slow = [completion() for _ in names]
    async with fake_upstream(*slow) as upstream:
        upstream.pages["/metrics"] = LOADING
        async with running_gate(upstream.url, settings) as gate:
            waiting = await _ask(gate, names)
            del upstream.pages["/metrics"]
            late = [asyncio.create_task(gate.chat(ASKED)) for _ in range(8)]
            served = await asyncio.gather(*waiting)
            await asyncio.gather(*late)

    assert [response.status for response, _ in served] == [200, 200, 200]
    assert _served(upstream)[:3] == names


@pytest.mark.parametrize("probe", [None, {}], ids=["without a probe", "with one"])
async def test_engine_whose_metrics_page_never_comes_is_not_away(probe: Any) -> None:
    settings = {**WAITS, "lanes.main.probe": probe, "engine.timeout_seconds": 0.05}
    script = [completion()] if probe is None else [VALID, completion()]
    async with fake_upstream(*script) as upstream:
        upstream.pages["/metrics"] = Scripted((), end=End.HANG)
        async with running_gate(upstream.url, settings) as gate:
            response, _ = await gate.chat(ASKED)

    assert response.status == 200


async def test_engine_that_stays_away_is_a_503_after_the_wait() -> None:
    settings = {"lanes.main.ready_wait_seconds": 0.1}
    async with running_gate("http://127.0.0.1:1", settings) as gate:
        response, body = await gate.chat(ASKED)
        metrics = await gate.metrics()

    error = json.loads(body)["error"]
    assert (response.status, response.headers["retry-after"]) == (503, "5")
    assert (error["type"], error["code"]) == ("service_unavailable", "engine_unreachable")
    assert "x-should-retry" not in response.headers
    assert metrics['sluicegate_ready_waits_total{result="refused"}'] == 1


async def test_without_a_wait_an_unreachable_engine_is_told_of_at_once() -> None:
    async with running_gate("http://127.0.0.1:1") as gate:
        response, body = await gate.chat(ASKED)
        async with gate.http.get(f"{gate.admin_url}/ready") as ready:
            lane = (await ready.json())["lanes"]["main"]

    assert gate.app.gateway.parts.readiness is None
    assert (response.status, response.headers["retry-after"]) == (503, "2")
    assert json.loads(body)["error"]["code"] == "upstream_unreachable"
    assert (ready.status, lane["probe"]) == (503, None)


@pytest.mark.parametrize("stream_it", [False, True], ids=["whole", "stream"])
async def test_call_that_a_loading_engine_refuses_is_made_again(stream_it: bool) -> None:
    answer = stream(["a"]) if stream_it else completion()
    body = {**ASKED, "stream": stream_it}
    async with (
        fake_upstream(BUSY, BUSY, answer) as upstream,
        running_gate(upstream.url, WAITS) as gate,
    ):
        response, _ = await gate.chat(body)
        record = await gate.record(response)

    assert response.status == 200
    assert [attempt["step"] for attempt in record["attempts"]] == ["first", "waited", "waited"]
    assert record["outcome"] == "passed"
    assert [call.headers.get("x-sluicegate-attempt") for call in upstream.calls] == [
        None,
        "2; waited",
        "3; waited",
    ]


async def test_engine_that_went_away_unseen_is_waited_for_by_who_finds_out() -> None:
    """The proxy last saw it alive; its port is closed when the request comes."""
    settings = {**WAITS, "engine.poll_seconds": 0.5}
    async with (
        fake_upstream(completion()) as upstream,
        running_gate(upstream.url, settings) as gate,
    ):
        await upstream.refuse()
        asking = asyncio.create_task(gate.chat(ASKED))
        await _waiting(gate, 1)
        await upstream.listen()
        response, _ = await asking
        record = await gate.record(response)

    assert response.status == 200
    assert [attempt["step"] for attempt in record["attempts"]] == ["first", "waited"]
    assert record["attempts"][0]["faults"] == ["upstream_unreachable"]


async def test_client_that_leaves_while_it_waits_frees_its_place() -> None:
    settings = {**WAITS, "admission.queue": 1}
    async with fake_upstream(completion()) as upstream:
        upstream.pages["/metrics"] = LOADING
        async with running_gate(upstream.url, settings) as gate:
            async with aiohttp.ClientSession() as leaving:
                task = asyncio.create_task(
                    leaving.post(
                        f"{gate.url}/v1/chat/completions",
                        json=ASKED,
                        headers={"x-request-id": "leaves"},
                    )
                )
                await _waiting(gate, 1)
                task.cancel()
            await _waiting(gate, 0)
            (second,) = await _ask(gate, ["stays"])
            del upstream.pages["/metrics"]
            response, _ = await second
            metrics = await gate.metrics()

    assert response.status == 200
    assert _served(upstream) == ["stays"]
    assert metrics['sluicegate_ready_waits_total{result="gone"}'] == 1
    assert metrics['sluicegate_requests_total{endpoint="chat",outcome="client_gone"}'] == 1


async def test_drain_ends_who_waits_with_an_error() -> None:
    async with fake_upstream() as upstream:
        upstream.pages["/metrics"] = LOADING
        settings = {**WAITS, "drain_seconds": 0.2}
        async with running_gate(upstream.url, settings) as gate:
            (waiting,) = await _ask(gate, ["waits"])
            gate.stop.set()
            response, body = await waiting

    assert response.status == 503
    assert json.loads(body)["error"]["code"] == "draining"
    assert upstream.calls == []


async def test_time_waited_is_no_overhead_of_ours() -> None:
    async with fake_upstream(completion()) as upstream:
        upstream.pages["/metrics"] = LOADING
        async with running_gate(upstream.url, WAITS) as gate:
            (waiting,) = await _ask(gate, ["waits"])
            await asyncio.sleep(0.2)
            del upstream.pages["/metrics"]
            response, _ = await waiting
            record = await gate.record(response)

    assert record["queue_seconds"] >= 0.2
    assert record["overhead_seconds"] < 0.2


async def test_policy_s_deadline_ends_a_wait_of_a_held_reply(tmp_path: Path) -> None:
    (tmp_path / "quick.yaml").write_text(
        "format: 1\nname: quick\nattempts: {deadline_seconds: 0.2}\ngates: {strict_json: {}}\n"
    )
    settings = {**WAITS, "policies.folder": str(tmp_path), "policies.order": ["quick"]}
    body = {**ASKED, "response_format": {"type": "json_object"}}
    async with (
        fake_upstream(*[BUSY] * 50) as upstream,
        running_gate(upstream.url, settings) as gate,
    ):
        response, _ = await gate.chat(body)

    assert response.status == 504
    assert len(upstream.calls) < 50
