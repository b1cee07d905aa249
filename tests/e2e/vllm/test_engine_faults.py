"""What a client sees when the engine dies, hangs, starts again or becomes another: three starts."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Final

import openai
import pytest
import pytest_asyncio

from tests.e2e.vllm.stage import ASKS_FOR_A_CITY, CITY, Load, RawStream, Stage, strict, until
from tests.engines.cache import Say
from tests.engines.environment import VllmEnvironment
from tests.engines.gate_process import GateProcess
from tests.engines.server import VllmServer
from tests.engines.smollm import smollm_engine
from tests.fakes.gate import eventually

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.usefixtures("in_order"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(300, func_only=True),
]

STORY: Final = "Tell me a long story about a river."
IDLE_SECONDS: Final = 5
OTHER_NAME: Final = "smollm2-thinker"
THINKING_OFF: Final = {"chat_template_kwargs": {"enable_thinking": False}}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(
    vllm_0_32: VllmEnvironment, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    server = VllmServer(smollm_engine(vllm_0_32))
    folder = tmp_path_factory.mktemp("faults")
    settings = {"lanes.main.ready_wait_seconds": 300, "limits.idle_seconds": IDLE_SECONDS}
    async with (
        GateProcess(folder, server.url, settings) as gate,
        openai.AsyncOpenAI(
            base_url=f"{gate.url}/v1", api_key="none", timeout=300, max_retries=0
        ) as client,
    ):
        stage = Stage(server, gate, client, server.engine.name)
        server.launch()
        try:
            await server.until_ready()
            yield stage
        finally:
            await stage.server.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def load(stage: Stage) -> AsyncIterator[Load]:
    load = Load(stage)
    yield load
    await load.cancel()


def _long_stream(stage: Stage) -> RawStream:
    return RawStream(stage.gate.url, stage.request(STORY, max_tokens=1500, ignore_eos=True))


async def _state(stage: Stage) -> str:
    return str((await stage.gate.lane())["engine"])


async def test_engine_core_that_dies_mid_stream_is_no_success(stage: Stage, load: Load) -> None:
    await stage.city()
    load.begin()

    async with _long_stream(stage) as raw:
        await raw.begin()
        stage.server.kill_engine_core()
        events = await raw.end()

    # vLLM ends such a stream with `[DONE]` all the same, and a stream that passes is not changed.
    assert events.error is not None
    assert events.error["type"] == "InternalServerError"
    assert (await stage.gate.record(events.request_id))["outcome"] == "upstream_failed"


async def test_restart_under_load_serves_everybody_who_waited(
    stage: Stage, load: Load, note: Say
) -> None:
    await eventually(lambda: stage.server.status() is not None, seconds=60)
    await stage.server.stop()
    served_before = load.served
    stage.server = stage.server.again()
    stage.server.launch()
    await stage.server.until_ready()
    await eventually(lambda: load.served >= served_before + 6, seconds=120)
    codes = await load.end()

    note(f"{load.served} served, errors {codes}")
    # Each client had at most one request in the engine when that died.
    assert len(codes) <= 3
    assert all(code.partition("/")[0] not in {"", "None"} for code in codes)


async def test_new_start_is_a_second_sample(stage: Stage) -> None:
    await stage.city()
    metrics = await stage.gate.metrics()

    assert metrics['sluicegate_engine_starts_total{first_answer="valid",lane="main"}'] == 2
    assert await _state(stage) == "certified"


async def test_api_server_that_dies_mid_stream_is_no_success_and_its_orphans_are_ended(
    stage: Stage,
) -> None:
    async with _long_stream(stage) as raw:
        await raw.begin()
        stage.server.kill_api_server()
        events = await raw.end()
    orphans = {member.title for member in stage.server.members()}
    await stage.server.stop()

    assert events.error is not None
    assert events.error["type"] == "upstream_error"
    assert not events.is_done
    assert (await stage.gate.record(events.request_id))["outcome"] == "upstream_failed"
    assert {"VLLM::EngineCore", "VLLM::Worker"} <= orphans
    assert stage.server.members() == []


async def test_other_model_under_the_same_address_is_a_new_start(stage: Stage) -> None:
    old_name = stage.model
    engine = smollm_engine(stage.server.engine.environment, OTHER_NAME, as_thinker=True)
    stage.server = stage.server.again(engine)
    stage.server.launch()
    await stage.server.until_ready()
    stage.model = OTHER_NAME

    async def is_cold() -> bool:
        return await _state(stage) == "cold"

    await until(is_cold)
    with pytest.raises(openai.NotFoundError) as refused:
        await stage.ask("Hi", model=old_name)

    assert refused.value.param == "model"
    assert old_name in refused.value.message


async def test_document_in_the_reasoning_is_repaired_and_certifies_nothing(stage: Stage) -> None:
    told = await stage.stream(ASKS_FOR_A_CITY, response_format=strict(CITY))

    assert json.loads(told.content)["city"] == "Paris"
    assert told.record["outcome"] == "repaired"
    assert told.record["repairs"] == ["json_from_reasoning"]
    assert await _state(stage) == "cold"


async def test_document_of_the_same_engine_without_thinking_needs_no_repair(stage: Stage) -> None:
    told = await stage.stream(
        ASKS_FOR_A_CITY, response_format=strict(CITY), extra_body=THINKING_OFF
    )

    assert json.loads(told.content)["city"] == "Paris"
    assert told.record["outcome"] == "passed"
    assert await _state(stage) == "certified"


async def test_engine_that_hangs_mid_stream_is_given_up_by_the_idle_timeout(stage: Stage) -> None:
    async with _long_stream(stage) as raw:
        await raw.begin()
        with stage.server.frozen_engine_core():
            events = await raw.end()

    assert events.error is not None
    assert events.error["code"] == "upstream_idle"
    assert not events.is_done
    assert (await stage.gate.record(events.request_id))["outcome"] == "timed_out"
    again = await stage.ask("What is the capital of France?", extra_body=THINKING_OFF)
    assert again.content


async def test_sigterm_mid_stream_ends_in_an_error_and_hangs_nobody(
    stage: Stage, note: Say
) -> None:
    async with _long_stream(stage) as raw:
        await raw.begin()
        stage.server.terminate()
        events = await raw.end()
    record = await stage.gate.record(events.request_id)
    # Where vLLM hangs, the proxy's closing of the connection is what lets it end.
    await eventually(lambda: stage.server.status() is not None, seconds=60)

    note(f"{record['outcome']}: {events.error}")
    assert events.error is not None
    assert record["outcome"] in {"upstream_failed", "timed_out"}


async def test_ledger_tells_the_three_starts_apart_by_their_model(stage: Stage) -> None:
    async with asyncio.timeout(30):
        told = json.loads(await stage.gate.command("ledger", "starts", "--json"))

    models = [start["facts"]["model"] for start in told["starts"]]
    assert sorted(models) == ["smollm2", "smollm2", OTHER_NAME]
