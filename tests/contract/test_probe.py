import asyncio
import json
import logging

import pytest
from typing_extensions import override

from proxy.contract.probe import ProbeStatus
from proxy.contract.probe_options import OnFail, Question
from proxy.errors import Unreachable
from proxy.telemetry.engine_start import AskedBy, FirstAnswer
from proxy.telemetry.outcome import ProbeResult
from proxy.upstream.counters import Counters
from proxy.upstream.engine import EngineState
from proxy.upstream.lane import Call, UpstreamReply
from tests.fakes.gate import eventually
from tests.fakes.job import new_engine
from tests.fakes.lane import FakeLane, FakeReply
from tests.fakes.probe import (
    INVALID,
    VALID,
    Probed,
    models,
    probe_script,
    running_probe,
)
from tests.fakes.upstream import Scripted

V, I, F = ProbeResult.VALID, ProbeResult.INVALID, ProbeResult.FAILED  # noqa: E741 - as in a table


async def _settled(probed: Probed) -> None:
    await eventually(lambda: probed.probe.status in (ProbeStatus.PASSED, ProbeStatus.FAILED))


async def _restart(probed: Probed) -> None:
    """The engine goes away and comes back as another start."""
    probed.engine.saw_unreachable()
    probed.probe.tend()
    probed.engine.saw_page(None)
    probed.probe.tend()
    await asyncio.sleep(0)


async def test_valid_answer_opens_and_certifies_the_engine_start() -> None:
    engine, told = new_engine()

    async with running_probe(probe_script(VALID), engine) as probed:
        was_open = probed.probe.is_open
        await _settled(probed)

    assert probed.probe.status is ProbeStatus.PASSED
    assert (was_open, probed.probe.is_open) == (False, True)
    assert engine.state is EngineState.CERTIFIED
    record = told.records[-1]
    assert (record.first_by, record.first_answer) == (AskedBy.PROBE, FirstAnswer.VALID)


async def test_probe_goes_on_after_invalid_answers_and_its_first_is_the_sample() -> None:
    engine, told = new_engine()

    async with running_probe(probe_script(INVALID, INVALID, VALID), engine) as probed:
        await _settled(probed)

    assert probed.results == [I, I, V]
    assert [answer.cause for answer in probed.answers] == ["leading_junk", "leading_junk", ""]
    assert [answer.tokens for answer in probed.answers] == [3, 3, 3]
    record = told.records[-1]
    assert (record.first_answer, record.first_fault) == (FirstAnswer.INVALID, "leading_junk")
    retried = (record.retry_step, record.retry_valid, record.cured_by)
    assert retried == ("probe", False, "probe")
    assert engine.state is EngineState.CERTIFIED


async def test_wanted_answers_must_be_valid_in_a_row() -> None:
    lane = probe_script(VALID, VALID, INVALID, VALID, VALID, VALID)

    async with running_probe(lane, valid=3, attempts=9) as probed:
        await _settled(probed)

    assert probed.results == [V, V, I, V, V, V]
    assert probed.probe.status is ProbeStatus.PASSED


async def test_engine_that_is_certified_by_the_first_of_several_answers_is_not_open_yet() -> None:
    hanging = FakeReply(hangs=True)

    async with running_probe(probe_script(VALID, hanging), valid=2) as probed:
        await eventually(lambda: bool(hanging.opened))
        state, is_open = probed.engine.state, probed.probe.is_open

    assert (state, is_open) == (EngineState.CERTIFIED, False)


async def test_failed_probe_opens_a_cold_engine() -> None:
    async with running_probe(probe_script(INVALID, INVALID), attempts=2) as probed:
        await _settled(probed)

    assert probed.probe.status is ProbeStatus.FAILED
    assert probed.probe.is_open
    assert probed.probe.again_in_seconds is None
    assert probed.engine.state is EngineState.COLD


async def test_failed_probe_closes_where_the_settings_say_so_and_is_repeated() -> None:
    lane = probe_script(INVALID, VALID)

    async with running_probe(lane, attempts=1, on_fail=OnFail.CLOSED, again_seconds=0.05) as probed:
        await eventually(lambda: probed.probe.status is ProbeStatus.FAILED)
        was_open, again = probed.probe.is_open, probed.probe.again_in_seconds
        await eventually(lambda: probed.probe.status is ProbeStatus.PASSED)

    assert not was_open
    assert again == pytest.approx(0.05)
    assert probed.probe.is_open
    assert probed.results == [I, V]


@pytest.mark.parametrize(
    ("step", "cause"),
    [
        (Scripted((b"{}",), status=500), "status 500"),
        (Scripted((b"{}",), status=404), "status 404"),
        (Scripted((b"<html>",)), "upstream_bad_reply"),
        (Scripted((b'{"error":{"message":"x"}}',)), "error_in_stream"),
        (FakeReply(hangs=True), "upstream_timeout"),
    ],
    ids=["500", "404", "garbage", "error", "never"],
)
async def test_request_without_an_answer_has_failed(step: Scripted | FakeReply, cause: str) -> None:
    lane = probe_script(step, VALID)

    async with running_probe(lane, timeout_seconds=0.05) as probed:
        await _settled(probed)

    assert probed.results == [F, V]
    assert probed.answers[0].cause == cause
    assert all(reply.opened == reply.closed for reply in lane.replies)


async def test_list_of_models_that_never_comes_is_a_failed_request() -> None:
    lane = FakeLane([FakeReply(hangs=True), models(), *probe_script(VALID).script[1:]])

    async with running_probe(lane, timeout_seconds=0.05) as probed:
        await _settled(probed)

    assert [(answer.result, answer.cause) for answer in probed.answers] == [
        (F, "upstream_timeout"),
        (V, ""),
    ]


async def test_engine_that_refuses_is_told_of_and_not_asked_again() -> None:
    lane = FakeLane([Unreachable("gone")])

    async with running_probe(lane) as probed:
        await eventually(lambda: bool(probed.answers))
        await asyncio.sleep(0.01)

    assert probed.engine.state is EngineState.UNREACHABLE
    assert probed.probe.status is None
    assert len(lane.calls) == 1


async def test_fault_of_our_own_fails_the_request_and_not_the_lane() -> None:
    class BrokenLane(FakeLane):
        @override
        async def open(self, call: Call) -> UpstreamReply:
            raise RuntimeError("a prompt")

    async with running_probe(BrokenLane(), attempts=1) as probed:
        await _settled(probed)

    assert probed.answers[0].cause == "RuntimeError"
    assert probed.probe.is_open


async def test_engine_that_goes_away_ends_the_probe_and_the_next_start_begins_another() -> None:
    hanging = FakeReply(hangs=True)
    lane = probe_script(hanging)
    lane.script += probe_script(VALID).script

    async with running_probe(lane) as probed:
        await eventually(lambda: bool(hanging.opened))
        running = probed.probe.status
        await _restart(probed)
        await _settled(probed)

    assert running is ProbeStatus.RUNNING
    assert (hanging.opened, hanging.closed) == (1, 1)
    assert probed.probe.status is ProbeStatus.PASSED
    assert probed.results == [V]
    assert probed.engine.start.number == 2


async def test_probe_of_an_engine_that_is_away_has_no_status() -> None:
    engine, _ = new_engine()
    engine.saw_loading()

    async with running_probe(FakeLane(), engine) as probed:
        await asyncio.sleep(0.01)

    assert probed.probe.status is None
    assert not probed.probe.is_open


async def test_failed_probe_that_waits_is_ended_by_a_new_start() -> None:
    lane = probe_script(INVALID)
    lane.script += probe_script(VALID).script

    async with running_probe(lane, attempts=1, on_fail=OnFail.CLOSED, again_seconds=3600) as probed:
        await eventually(lambda: probed.probe.status is ProbeStatus.FAILED)
        await _restart(probed)
        await eventually(lambda: probed.probe.status is ProbeStatus.PASSED)

    assert probed.results == [I, V]


async def test_starts_in_quick_succession_never_run_two_probes() -> None:
    most = 0

    class CountingLane(FakeLane):
        @override
        async def open(self, call: Call) -> UpstreamReply:
            nonlocal most
            most = max(most, 1 + sum(one.opened - one.closed for one in self.replies))
            return await super().open(call)

    hanging = [FakeReply(hangs=True) for _ in range(4)]
    script = [step for one in hanging for step in (models(), one)]
    lane = CountingLane([*script, *probe_script(VALID).script])

    async with running_probe(lane) as probed:
        for one in hanging:
            await eventually(lambda one=one: bool(one.opened))  # type: ignore[misc]
            await _restart(probed)
            await _restart(probed)
        await _settled(probed)

    assert most == 1
    assert probed.probe.status is ProbeStatus.PASSED


async def test_engine_that_is_certified_already_is_not_probed() -> None:
    engine, _ = new_engine()
    engine.settle(engine.dispatch(), valid=True)

    async with running_probe(FakeLane(), engine) as probed:
        await asyncio.sleep(0.01)

    assert probed.probe.is_open
    assert probed.probe.status is None
    assert probed.lane.calls == []


async def test_engine_that_comes_back_as_it_was_is_not_probed_again() -> None:
    engine, _ = new_engine()
    engine.saw_page(Counters(100.0))

    async with running_probe(probe_script(VALID), engine) as probed:
        await _settled(probed)
        engine.saw_unreachable()
        away = probed.probe.is_open
        engine.saw_alive()
        in_doubt = probed.probe.is_open
        engine.saw_page(Counters(100.0))
        probed.probe.tend()

    assert (away, in_doubt, probed.probe.is_open) == (False, False, True)
    assert probed.results == [V]


async def test_probe_that_an_outage_interrupts_begins_anew_though_the_start_is_certified() -> None:
    engine, _ = new_engine()
    engine.saw_page(Counters(100.0))
    hanging = FakeReply(hangs=True)
    lane = probe_script(VALID, hanging)
    lane.script += probe_script(VALID, VALID).script

    async with running_probe(lane, engine, valid=2) as probed:
        await eventually(lambda: bool(hanging.opened))
        engine.saw_unreachable()
        probed.probe.tend()
        engine.saw_page(Counters(100.0))
        is_open = probed.probe.is_open
        probed.probe.tend()
        await _settled(probed)

    assert engine.start.number == 1
    assert not is_open
    assert probed.results == [V, V, V]


async def test_engine_of_which_it_is_not_known_yet_whether_it_is_a_new_start_is_not_probed() -> (
    None
):
    engine, _ = new_engine()
    engine.saw_page(Counters(100.0))
    engine.saw_unreachable()
    engine.saw_alive()

    async with running_probe(FakeLane(), engine) as probed:
        await asyncio.sleep(0.01)

    assert probed.lane.calls == []
    assert not probed.probe.is_open


async def test_alternating_replicas_are_not_probed_at_each_look() -> None:
    engine, _ = new_engine()
    lane = probe_script(VALID)
    lane.script += probe_script(VALID).script * 8

    async with running_probe(lane, engine) as probed:
        await _settled(probed)
        for look in range(20):
            engine.saw_page(Counters(100.0 + look % 2))
            probed.probe.tend()
            await asyncio.sleep(0.001)
        await _settled(probed)
        asked = len(probed.answers)
        for look in range(20):
            engine.saw_page(Counters(100.0 + look % 2))
            probed.probe.tend()
            await asyncio.sleep(0.001)

    assert len(probed.answers) == asked


async def test_no_question_is_asked_twice_not_even_at_the_next_start() -> None:
    lane = probe_script(INVALID, VALID)
    lane.script += probe_script(VALID).script

    async with running_probe(lane, question=Question("Say {case}.")) as probed:
        await _settled(probed)
        await _restart(probed)
        await eventually(lambda: len(probed.answers) == 3)

    asked = [json.loads(call.body) for call in lane.calls if call.method == "POST"]
    numbers = [int(body["messages"][0]["content"].strip("Say .")) for body in asked]
    assert numbers == [numbers[0], numbers[0] + 1, numbers[0] + 2]
    assert {body["model"] for body in asked} == {"tiny"}
    assert {body["max_tokens"] for body in asked} == {1024}


async def test_end_of_the_program_ends_a_running_request() -> None:
    hanging = FakeReply(hangs=True)

    async with running_probe(probe_script(hanging)) as probed:
        await eventually(lambda: bool(hanging.opened))

    assert hanging.closed == 1
    assert probed.answers == []


async def test_log_tells_every_result_and_quotes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    secret = Question("A secret prompt.")
    refused = Scripted((b'{"secret":"reply"}',), status=404)

    with caplog.at_level(logging.INFO, "proxy"):
        async with running_probe(probe_script(INVALID, refused, VALID), question=secret) as probed:
            await _settled(probed)

    assert [record.getMessage() for record in caplog.records] == [
        "probe of lane main, engine start 1: case 1 invalid (leading_junk)",
        "probe of lane main, engine start 1: case 2 failed (status 404)",
        "probe of lane main, engine start 1: case 3 valid, 1 of 1 in a row: passed",
    ]
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    ("on_fail", "told"),
    [
        (OnFail.OPEN, "failed; requests are served all the same"),
        (OnFail.CLOSED, "failed; requests are refused, the next probe begins in 3600 s"),
    ],
)
async def test_log_says_what_a_failed_probe_means(
    caplog: pytest.LogCaptureFixture, on_fail: OnFail, told: str
) -> None:
    async with running_probe(
        probe_script(INVALID), attempts=1, on_fail=on_fail, again_seconds=3600
    ) as probed:
        await _settled(probed)

    assert caplog.records[-1].getMessage() == f"probe of lane main, engine start 1: {told}"
