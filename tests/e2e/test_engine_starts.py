"""Engine starts as a proxy on sockets sees them: restarts, sleep, replicas, lost counters."""

import asyncio
from dataclasses import replace
from typing import Any

from proxy.telemetry.engine_start import AskedBy, EngineStartRecord, FirstAnswer, StartSource
from proxy.upstream.engine import EngineState
from tests.fakes.gate import Gate, eventually, running_gate
from tests.fakes.upstream import FakeUpstream, Scripted, completion, fake_upstream, stream

ASKED = {
    "model": "Qwen3.6",
    "messages": [{"role": "user", "content": "Ulm as JSON"}],
    "response_format": {"type": "json_object"},
}
GOOD = '{"city":"Ulm"}'
DOUBLED = "{" + GOOD
PAGE = """\
process_start_time_seconds {started_at}
vllm:request_success_total{{engine="0",finished_reason="stop",model_name="tiny"}} {work}
vllm:engine_sleep_state{{engine="0",model_name="tiny",sleep_state="awake"}} {awake}
vllm:engine_sleep_state{{engine="0",model_name="tiny",sleep_state="discard_all"}} {discarded}
"""


def _shows(upstream: FakeUpstream, started_at: float, work: int = 0, level: int = 0) -> None:
    """Let the upstream's metrics page say so from now on."""
    text = PAGE.format(
        started_at=started_at, work=work, awake=int(not level), discarded=int(level == 2)
    )
    upstream.pages["/metrics"] = Scripted((text.encode(),))


def _start(gate: Gate) -> EngineStartRecord:
    record = gate.app.engine.record
    assert record is not None
    return record


async def _ready(gate: Gate) -> tuple[int, Any]:
    async with gate.http.get(f"{gate.admin_url}/ready") as response:
        return response.status, (await response.json())["lanes"]["main"]


async def test_first_answer_of_a_start_is_its_sample_and_the_retry_its_cure() -> None:
    async with fake_upstream(completion(DOUBLED), completion(GOOD)) as upstream:
        _shows(upstream, 1.5)
        upstream.pages["/version"] = Scripted((b'{"version":"0.32.0"}',))
        async with running_gate(upstream.url) as gate:
            response, _ = await gate.chat(ASKED)
            record = await gate.record(response)
            start = _start(gate)
            metrics = await gate.metrics()

    assert [attempt.get("sample") for attempt in record["attempts"]] == ["first", None]
    assert (start.key, start.told_by, start.untouched) == ("1.5", StartSource.METRICS, True)
    assert (start.first_answer, start.first_by) == (FirstAnswer.INVALID, AskedBy.REQUEST)
    assert start.first_fault == "leading_junk"
    assert (start.retry_step, start.retry_valid, start.cured_by) == ("cold", True, "cold")
    assert start.facts == {"vllm": "0.32.0", "model": "tiny", "speculative": "False"}
    assert metrics['sluicegate_engine_starts_told_by{lane="main",source="metrics"}'] == 1
    assert metrics['sluicegate_engine_starts_told_by{lane="main",source="fallback"}'] == 0


async def test_strict_request_beside_the_sample_is_marked_concurrent() -> None:
    slow = replace(completion(GOOD), pause_seconds=1)
    async with (
        fake_upstream(slow, completion(GOOD)) as upstream,
        running_gate(upstream.url) as gate,
    ):
        first = asyncio.create_task(gate.chat(ASKED))
        await eventually(lambda: len(upstream.calls) == 1)
        second, _ = await gate.chat(ASKED)
        records = [await gate.record(second), await gate.record((await first)[0])]

    samples = [record["attempts"][0]["sample"] for record in records]
    assert samples == ["concurrent", "first"]


async def test_answer_that_the_token_limit_cut_leaves_the_sample_to_the_next() -> None:
    cut = completion('{"city":"Ul', finish_reason="length")
    async with (
        fake_upstream(cut, completion(GOOD)) as upstream,
        running_gate(upstream.url) as gate,
    ):
        await gate.chat(ASKED)
        after_cut = _start(gate).first_answer
        await gate.chat(ASKED)
        after_next = _start(gate).first_answer

    assert (after_cut, after_next) == (FirstAnswer.UNKNOWN, FirstAnswer.VALID)


async def test_engine_restarted_under_load_gives_its_first_answer_to_its_own_start() -> None:
    async with fake_upstream(completion(GOOD)) as upstream:
        _shows(upstream, 1.5)
        async with running_gate(upstream.url) as gate:
            await gate.chat(ASKED)
            await upstream.refuse()
            await gate.chat(ASKED)
            _shows(upstream, 2.5, work=1)
            upstream.script += [completion(DOUBLED), completion(GOOD)]
            await upstream.listen()
            await gate.chat(ASKED)
            await eventually(lambda: _start(gate).key == "2.5")
            start, state = _start(gate), gate.app.engine.state

    assert start.key == "2.5"
    assert (start.first_answer, start.cured_by) == (FirstAnswer.INVALID, "cold")
    assert start.ready_seconds is not None
    assert state is EngineState.CERTIFIED


async def test_engine_that_slept_at_level_2_wakes_as_a_new_start() -> None:
    async with fake_upstream(completion(GOOD)) as upstream:
        _shows(upstream, 1.5)
        async with running_gate(upstream.url) as gate:
            await gate.chat(ASKED)
            _shows(upstream, 1.5, work=1, level=2)
            await eventually(lambda: gate.app.engine.is_asleep)
            asleep = await _ready(gate)
            _shows(upstream, 1.5, work=1)
            await eventually(lambda: not gate.app.engine.is_asleep)
            awake = await _ready(gate)
            start = _start(gate)

    told = {"engine": "loading", "asleep": True, "starts_told_by": "metrics"}
    assert (asleep[0], told.items() <= asleep[1].items()) == (503, True)
    assert (awake[0], awake[1]["engine"], awake[1]["asleep"]) == (200, "cold", False)
    assert (start.woke, start.untouched) == (True, True)


async def test_replicas_behind_one_address_are_told_by_the_fallback() -> None:
    async with fake_upstream() as upstream:
        _shows(upstream, 1.5)
        async with running_gate(upstream.url) as gate:
            engine = gate.app.engine
            _shows(upstream, 2.5)
            await eventually(lambda: engine.start.number == 2)
            _shows(upstream, 1.5)
            await eventually(lambda: engine.source is StartSource.FALLBACK)
            number = engine.start.number
            _, told = await _ready(gate)
            metrics = await gate.metrics()

    assert number == 2
    assert told["starts_told_by"] == "fallback"
    assert metrics['sluicegate_engine_starts_told_by{lane="main",source="fallback"}'] == 1


async def test_counters_that_vanish_leave_the_engine_certified() -> None:
    async with fake_upstream(completion(GOOD)) as upstream:
        _shows(upstream, 1.5)
        async with running_gate(upstream.url) as gate:
            await gate.chat(ASKED)
            del upstream.pages["/metrics"]
            await eventually(lambda: gate.app.engine.source is StartSource.FALLBACK)
            lost = gate.app.engine.state
            _shows(upstream, 1.5, work=1)
            await eventually(lambda: gate.app.engine.source is StartSource.METRICS)
            number, state = gate.app.engine.start.number, gate.app.engine.state

    assert (lost, state) == (EngineState.CERTIFIED, EngineState.CERTIFIED)
    assert number == 1


async def test_answers_that_only_observing_gates_judge_are_samples_too() -> None:
    async with (
        fake_upstream(stream([DOUBLED])) as upstream,
        running_gate(upstream.url, {"observe": True}) as gate,
    ):
        await gate.chat(ASKED | {"stream": True})
        await eventually(lambda: _start(gate).first_answer is FirstAnswer.INVALID)

    assert _start(gate).first_fault == "leading_junk"
