"""A probe of every new engine start, before a real proxy."""

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from proxy.app import Surroundings
from tests.fakes.gate import Gate, eventually, running_gate
from tests.fakes.probe import INVALID, VALID
from tests.fakes.upstream import End, FakeUpstream, Scripted, completion, fake_upstream

PROBE: dict[str, object] = {"lanes.main.probe": {}}
ASKED = {"model": "tiny", "messages": [{"role": "user", "content": "Hi."}]}
MODELS = Scripted((b'{"object":"list","data":[{"id":"tiny-alias","max_model_len":1000}]}',))
HELLO = completion("Hello.")
HANGING = Scripted((), end=End.HANG)
LOADING = Scripted((b"loading",), status=503)
PASSED = {"engine": "certified", "probe": "passed"}


def counters(started_at: float) -> Scripted:
    """The metrics page of an engine that has not worked since this start."""
    lines = (
        f"process_start_time_seconds {started_at}",
        'vllm:request_success_total{finished_reason="stop"} 0',
        "vllm:prompt_tokens_total 0",
        "vllm:generation_tokens_total 0",
    )
    return Scripted(("\n".join((*lines, "")).encode(),), content_type="text/plain")


async def _ready(gate: Gate) -> tuple[int, Mapping[str, Any]]:
    """What the admin listener says: status, and the lane's engine and probe."""
    async with gate.http.get(f"{gate.admin_url}/ready") as response:
        lane = (await response.json())["lanes"]["main"]
    return response.status, {"engine": lane["engine"], "probe": lane["probe"]}


async def _until(gate: Gate, probe: str | None) -> None:
    readiness = gate.app.gateway.parts.readiness
    await eventually(lambda: getattr(readiness, "probe_status", None) == probe)


def _asked(upstream: FakeUpstream) -> list[str]:
    """Who asked, by the request's id: probes say so, all others are `client`."""
    ids = [call.headers["x-request-id"] for call in upstream.calls]
    return [name if name.startswith("probe-") else "client" for name in ids]


async def test_request_waits_for_the_probe_which_asks_until_an_answer_is_valid() -> None:
    script = INVALID, INVALID, VALID, HELLO
    async with fake_upstream(*script) as upstream, running_gate(upstream.url, PROBE) as gate:
        response, _ = await gate.chat(ASKED)
        state = await _ready(gate)
        metrics = await gate.metrics()

    assert response.status == 200
    assert _asked(upstream) == ["probe-main-1-1", "probe-main-1-2", "probe-main-1-3", "client"]
    assert state == (200, PASSED)
    assert metrics['sluicegate_probes_total{lane="main",result="invalid"}'] == 2
    assert metrics['sluicegate_probes_total{lane="main",result="valid"}'] == 1
    assert metrics["sluicegate_probe_tokens_total"] == 9
    assert metrics["sluicegate_output_tokens_total"] == 3
    assert metrics['sluicegate_engine_starts_total{first_answer="invalid",lane="main"}'] == 1
    requests = {name: value for name, value in metrics.items() if "requests_total{" in name}
    assert sum(requests.values()) == 1


async def test_probe_is_a_strict_request_for_the_served_model_with_the_lane_s_key() -> None:
    around = Surroundings(environ={"UPSTREAM_KEY": "theirs"})
    probe = {"prompt": "A question.", "request": {"temperature": 0}, "max_tokens": 800}
    settings = {"lanes.main.probe": probe, "lanes.main.key_env": "UPSTREAM_KEY"}
    async with fake_upstream(VALID) as upstream:
        upstream.pages["/v1/models"] = MODELS
        async with running_gate(upstream.url, settings, around) as gate:
            await _until(gate, "passed")

    (call,) = upstream.calls
    assert call.path == "/v1/chat/completions"
    assert call.headers["authorization"] == "Bearer theirs"
    assert call.json["model"] == "tiny-alias"
    (message,) = call.json["messages"]
    assert re.fullmatch(r"Case \d+\.\nA question\.", message["content"])
    assert (call.json["max_tokens"], call.json["temperature"]) == (500, 0)
    assert call.json["response_format"]["json_schema"]["strict"] is True


async def test_answers_must_be_valid_in_a_row() -> None:
    script = VALID, VALID, INVALID, VALID, VALID, VALID
    settings = {"lanes.main.probe": {"valid": 3}}
    async with fake_upstream(*script) as upstream, running_gate(upstream.url, settings) as gate:
        await _until(gate, "passed")

    assert len(upstream.calls) == 6


async def test_failed_probe_serves_a_cold_engine_where_it_is_open() -> None:
    script = INVALID, INVALID, HELLO
    settings = {"lanes.main.probe": {"attempts": 2}}
    async with fake_upstream(*script) as upstream, running_gate(upstream.url, settings) as gate:
        response, _ = await gate.chat(ASKED)
        state = await _ready(gate)

    assert response.status == 200
    assert state == (200, {"engine": "cold", "probe": "failed"})


async def test_failed_probe_refuses_requests_where_it_is_closed_until_one_passes() -> None:
    settings = {
        "lanes.main.probe": {"attempts": 1, "on_fail": "closed", "again_seconds": 0.3},
        "lanes.main.ready_wait_seconds": 5,
    }
    script = INVALID, VALID, HELLO
    async with fake_upstream(*script) as upstream, running_gate(upstream.url, settings) as gate:
        await _until(gate, "failed")
        refused, body = await gate.chat(ASKED)
        closed = await _ready(gate)
        await _until(gate, "passed")
        served, _ = await gate.chat(ASKED)

    assert (refused.status, refused.headers["retry-after"]) == (503, "1")
    assert json.loads(body)["error"]["code"] == "probe_failed"
    assert "x-should-retry" not in refused.headers
    assert closed == (503, {"engine": "cold", "probe": "failed"})
    assert served.status == 200


async def test_readiness_is_false_while_the_probe_runs() -> None:
    settings = {"lanes.main.probe": {}, "lanes.main.ready_wait_seconds": 0}
    async with fake_upstream(HANGING) as upstream, running_gate(upstream.url, settings) as gate:
        await eventually(lambda: bool(upstream.calls))
        state = await _ready(gate)
        refused, body = await gate.chat(ASKED)

    assert state == (503, {"engine": "cold", "probe": "running"})
    assert refused.status == 503
    assert json.loads(body)["error"]["code"] == "engine_warming"


async def test_look_up_does_not_wait_for_the_probe() -> None:
    async with fake_upstream(HANGING) as upstream:
        upstream.pages["/v1/models"] = MODELS
        async with (
            running_gate(upstream.url, PROBE) as gate,
            gate.http.get(f"{gate.url}/v1/models") as response,
        ):
            found = await response.read()

    assert found == MODELS.pieces[0]


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (Scripted((b'{"error":{"message":"x"}}',), status=500), 10),
        (Scripted((b'{"detail":"Not Found"}',), status=404), 10),
        (Scripted((b"<html>nothing</html>",), content_type="text/html"), 10),
        (HANGING, 1),
    ],
    ids=["500", "404", "garbage", "never"],
)
async def test_probe_without_an_answer_fails_and_hangs_nothing(
    answer: Scripted, seconds: float
) -> None:
    settings = {"lanes.main.probe": {"attempts": 1, "timeout_seconds": seconds}}
    async with (
        fake_upstream(answer, HELLO) as upstream,
        running_gate(upstream.url, settings) as gate,
    ):
        response, _ = await gate.chat(ASKED)
        metrics = await gate.metrics()

    assert response.status == 200
    assert metrics['sluicegate_probes_total{lane="main",result="failed"}'] == 1


async def test_restart_during_the_probe_ends_it_and_begins_another() -> None:
    async with fake_upstream(HANGING, VALID, HELLO) as upstream:
        upstream.pages["/metrics"] = counters(100)
        async with running_gate(upstream.url, PROBE) as gate:
            await eventually(lambda: len(upstream.calls) == 1)
            waiting = asyncio.create_task(gate.chat(ASKED))
            upstream.pages["/metrics"] = counters(200)
            response, _ = await waiting

    assert upstream.calls[0].closed_early
    assert response.status == 200
    assert _asked(upstream) == ["probe-main-1-1", "probe-main-2-1", "client"]


async def test_every_outage_of_an_engine_without_counters_is_probed_again() -> None:
    script = VALID, VALID, HELLO
    async with fake_upstream(*script) as upstream, running_gate(upstream.url, PROBE) as gate:
        await _until(gate, "passed")
        upstream.pages["/metrics"] = LOADING
        await _until(gate, None)
        away = await _ready(gate)
        del upstream.pages["/metrics"]
        response, _ = await gate.chat(ASKED)

    assert away[0] == 503
    assert response.status == 200
    assert _asked(upstream) == ["probe-main-1-1", "probe-main-2-1", "client"]


async def test_new_starts_in_quick_succession_never_have_two_probes_at_once() -> None:
    settings = {"lanes.main.probe": {}, "engine.poll_seconds": 0.02}
    async with fake_upstream(HANGING, HANGING, HANGING, VALID) as upstream:
        upstream.pages["/metrics"] = counters(100)
        async with running_gate(upstream.url, settings) as gate:
            for start in range(1, 4):
                await eventually(lambda start=start: len(upstream.calls) == start)  # type: ignore[misc]
                upstream.pages["/metrics"] = counters(100 + start)
            await _until(gate, "passed")

    assert [call.closed_early for call in upstream.calls] == [True, True, True, False]
    assert len(upstream.calls) == 4


async def test_stop_in_the_middle_of_a_probe_leaves_nothing_behind() -> None:
    async with fake_upstream(HANGING) as upstream:
        async with running_gate(upstream.url, {"lanes.main.probe": {}}):
            await eventually(lambda: bool(upstream.calls))
        await asyncio.wait_for(upstream.calls[0].over.wait(), 5)

    assert upstream.calls[0].closed_early
