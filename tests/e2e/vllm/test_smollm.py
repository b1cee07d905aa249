"""SmolLM2 with MTP in a real vLLM, a real proxy before it, the official client: two starts."""

import asyncio
import json
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import openai
import pytest
import pytest_asyncio

from tests.e2e.vllm.stage import ASKS_FOR_A_CITY, CITY, RawStream, Stage, says, strict, until
from tests.engines.cache import Say
from tests.engines.environment import VllmEnvironment
from tests.engines.gate_process import GateProcess
from tests.engines.server import Engine, VllmServer
from tests.engines.smollm import CONTEXT_TOKENS, smollm_engine

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.usefixtures("in_order"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(300, func_only=True),
]

STORY: Final = "Tell me a long story about a river."
TOO_LONG: Final = "word " * (CONTEXT_TOKENS + 1)
MTP3: Final = '{"method":"mtp","num_speculative_tokens":3}'
WEATHER: Final[Any] = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather in a city.",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 40}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(
    vllm_0_32: VllmEnvironment, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    """The proxy is there first; the engine has only been launched."""
    server = VllmServer(smollm_engine(vllm_0_32))
    folder = tmp_path_factory.mktemp("smollm")
    settings = {"lanes.main.ready_wait_seconds": 300}
    async with (
        GateProcess(folder, server.url, settings) as gate,
        gate.client(timeout_seconds=300) as client,
    ):
        stage = Stage(server, gate, client, server.engine.name)
        server.launch()
        yield stage
        await stage.server.stop()


async def test_requests_wait_while_the_model_loads_and_are_served(stage: Stage) -> None:
    before = await stage.gate.ready()

    chat = asyncio.create_task(stage.ask("What is the capital of France?"))
    document, _ = await asyncio.gather(stage.city(), stage.server.until_ready())

    assert before[0] == 503
    assert before[1]["lanes"]["main"]["engine"] == "unreachable"
    assert document["city"] == "Paris"
    assert (await chat).content


async def test_first_strict_answer_certifies_what_the_real_counters_told(stage: Stage) -> None:
    lane = await stage.gate.lane()
    metrics = await stage.gate.metrics()

    assert (lane["engine"], lane["starts_told_by"]) == ("certified", "metrics")
    assert metrics['sluicegate_engine_state{lane="main",state="certified"}'] == 1
    assert metrics['sluicegate_engine_starts_total{first_answer="valid",lane="main"}'] == 1


async def test_stream_is_text_and_hides_the_usage_nobody_asked_for(stage: Stage) -> None:
    async with RawStream(stage.gate.url, stage.request("What is the capital of France?")) as raw:
        events = await raw.end()

    assert events.is_done
    chunks = [json.loads(payload) for payload in events.payloads[:-1]]
    assert "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks)
    assert not any(chunk.get("usage") for chunk in chunks)
    assert (await stage.gate.record(events.request_id))["completion_tokens"] > 0


async def test_usage_is_there_where_the_client_asked_for_it(stage: Stage) -> None:
    chunks = await stage.client.chat.completions.create(
        model=stage.model,
        messages=says("Hi"),
        max_tokens=8,
        stream=True,
        stream_options={"include_usage": True},
    )
    usages = [chunk.usage async for chunk in chunks if chunk.usage]

    assert len(usages) == 1
    assert usages[0].prompt_tokens > 0


async def test_streamed_strict_json_is_one_valid_document(stage: Stage) -> None:
    told = await stage.stream(ASKS_FOR_A_CITY, response_format=strict(CITY))

    assert json.loads(told.content)["city"] == "Paris"
    assert told.record["outcome"] == "passed"
    assert told.finish_reason == "stop"


async def test_required_tool_call_has_arguments_of_its_schema(stage: Stage) -> None:
    reply = await stage.client.chat.completions.create(
        model=stage.model,
        messages=says("What is the weather in Paris?"),
        tools=[WEATHER],
        tool_choice="required",
        temperature=0,
        max_tokens=100,
    )

    calls = reply.choices[0].message.tool_calls or []
    assert [call.type for call in calls] == ["function"]
    assert calls[0].type == "function"
    assert calls[0].function.name == "weather"
    assert "paris" in json.loads(calls[0].function.arguments)["city"].lower()


async def test_rate_comes_from_usage_since_chunks_hold_several_tokens(stage: Stage) -> None:
    told = await stage.stream(STORY, max_tokens=200, extra_body={"ignore_eos": True})

    record = told.record
    tokens = record["completion_tokens"]
    seconds = record["duration_seconds"] - record["ttft_seconds"]
    assert tokens == 200
    assert told.chunks < tokens
    assert record["tokens_per_second"] * seconds == pytest.approx(tokens - 1, rel=0.05)


async def test_engine_accepted_tokens_that_its_head_had_drafted(stage: Stage, note: Say) -> None:
    counters = await stage.server.metrics()

    drafted = counters["vllm:spec_decode_num_draft_tokens_total"]
    accepted = counters["vllm:spec_decode_num_accepted_tokens_total"]
    note(f"{accepted:.0f} of {drafted:.0f} draft tokens accepted")
    assert drafted > 0
    assert accepted > 0


async def test_prefix_cache_is_on_and_hit_through_the_proxy(stage: Stage) -> None:
    prompt = "The river runs from the hills to the sea. " * 40
    before = await stage.server.metrics()

    for _ in range(2):
        await stage.ask(prompt, max_tokens=1)
    after = await stage.server.metrics()

    name = "vllm:prefix_cache_hits_total"
    assert after[name] - before[name] >= 128


async def test_client_that_leaves_ends_the_generation_in_the_engine(stage: Stage) -> None:
    async with RawStream(
        stage.gate.url, stage.request(STORY, max_tokens=1500, ignore_eos=True)
    ) as raw:
        await raw.begin()
        running = (await stage.server.metrics())["vllm:num_requests_running"]

    async def is_idle() -> bool:
        return (await stage.server.metrics())["vllm:num_requests_running"] == 0

    await until(is_idle)
    assert running == 1
    assert (await stage.gate.record(raw.request_id))["outcome"] == "client_gone"


async def test_number_that_runs_away_is_cut_in_the_engine_and_never_delivered(
    stage: Stage,
) -> None:
    schema = {
        "type": "object",
        "properties": {"population": {"type": "integer"}},
        "required": ["population"],
    }
    prompt = "What is the population of France? Answer as JSON."
    before = await stage.server.metrics()

    async with RawStream(
        stage.gate.url, stage.request(prompt, response_format=strict(schema), max_tokens=1500)
    ) as raw:
        events = await raw.end()
    record = await stage.gate.record(events.request_id)
    after = await stage.server.metrics()

    name = "vllm:generation_tokens_total"
    assert record["attempts"][0]["faults"] == ["number_runaway"]
    assert after[name] - before[name] < 1500
    # What the retries bring is up to chance: another number, or a refusal.
    assert (record["outcome"] == "passed") == (events.error is None)
    assert events.error is None or events.error["code"] == "number_runaway"


async def test_prompt_beyond_the_context_is_the_engine_s_own_error(stage: Stage) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        await stage.ask(TOO_LONG)

    record = await stage.gate.record(refused.value.response.headers["x-request-id"])
    assert refused.value.param == "input_tokens"
    assert len(record["attempts"]) == 1
    assert record["outcome"] == "refused"


async def test_unknown_model_is_the_engine_s_own_error(stage: Stage) -> None:
    with pytest.raises(openai.NotFoundError) as refused:
        await stage.ask("Hi", model="nobody")

    assert refused.value.param == "model"
    assert "nobody" in refused.value.message


async def test_second_start_is_cold_again_and_a_second_sample(stage: Stage) -> None:
    await stage.server.stop()
    again = stage.server.again()
    stage.server = again
    again.launch()
    await again.until_ready()

    async def is_cold() -> bool:
        return bool((await stage.gate.lane())["engine"] == "cold")

    await until(is_cold)
    with pytest.raises(openai.BadRequestError):
        await stage.ask(TOO_LONG, response_format=strict(CITY))
    still = (await stage.gate.lane())["engine"]
    document = await stage.city()
    metrics = await stage.gate.metrics()

    assert still == "cold"
    assert document["city"] == "Paris"
    assert metrics['sluicegate_engine_starts_total{first_answer="valid",lane="main"}'] == 2
    assert (await stage.gate.lane())["engine"] == "certified"


async def test_ledger_keeps_both_starts_with_what_the_engine_says_of_itself(stage: Stage) -> None:
    document = json.loads(await stage.gate.command("ledger", "starts", "--json"))

    starts = document["starts"]
    assert [start["first_answer"] for start in starts] == ["valid", "valid"]
    assert all(start["untouched"] and start["clean"] for start in starts)
    assert all(start["ready_seconds"] > 5 for start in starts)
    facts = {
        "vllm": stage.server.engine.environment.version,
        "model": stage.model,
        "max_model_len": str(CONTEXT_TOKENS),
        "speculative": "True",
        "speculative_tokens": "1",
        "enable_prefix_caching": "True",
    }
    assert [start["facts"] | facts for start in starts] == [start["facts"] for start in starts]
    assert [lane["samples"] for lane in document["lanes"]] == [2]


async def test_proxy_that_starts_again_remembers_that_the_engine_is_certified(
    stage: Stage,
) -> None:
    await stage.gate.stop()

    async with stage.gate:

        async def is_reached() -> bool:
            return (await stage.gate.ready())[0] == 200

        await until(is_reached)
        lane = await stage.gate.lane()
        starts = json.loads(await stage.gate.command("ledger", "starts", "--json"))["starts"]

    assert lane["engine"] == "certified"
    assert len(starts) == 2


@pytest.mark.parametrize(
    ("changed", "contradicted"),
    [
        ((), {}),
        (
            ("--max-model-len", "4096", "--speculative-config", MTP3),
            {"max_model_len": ("4096", str(CONTEXT_TOKENS)), "speculative_tokens": ("3", "1")},
        ),
    ],
    ids=["what_runs", "another"],
)
async def test_recipe_is_held_against_what_the_real_engine_shows(
    stage: Stage,
    tmp_path: Path,
    changed: tuple[str, ...],
    contradicted: dict[str, tuple[str, str]],
) -> None:
    recipe = _recipe(tmp_path, stage.server.engine, changed)

    async with GateProcess(tmp_path, stage.server.url, {"lanes.main.recipe": str(recipe)}) as gate:

        async def is_compared() -> bool:
            return (await gate.lane())["recipe"]["contradictions"] is not None

        await until(is_compared)
        status, _ = await gate.ready()
        found = (await gate.lane())["recipe"]["contradictions"]
    lines = gate.log.read_text(encoding="utf-8").splitlines()

    assert status == 200
    assert {each["switch"]: (each["recipe"], each["server"]) for each in found} == contradicted
    assert sum("WARNING recipe of lane main" in line for line in lines) == len(contradicted)


def _recipe(folder: Path, engine: Engine, changed: tuple[str, ...]) -> Path:
    """A recipe of what runs, but for the flags that are changed: the last one of each counts."""
    named = ("vllm", "serve", str(engine.model), "--served-model-name", engine.name)
    recipe = {
        "recipe_version": "2",
        "model": "HuggingFaceTB/SmolLM2-135M-Instruct",
        "command": shlex.join((*named, *engine.arguments, *changed)),
    }
    path = folder / "smollm2.yaml"
    path.write_text(json.dumps(recipe), encoding="utf-8")
    return path


async def test_neither_prompts_nor_replies_are_in_log_or_ledger(stage: Stage) -> None:
    kept = [path for path in stage.gate.log.parent.iterdir() if path != stage.gate.settings_file]

    assert len(kept) >= 2
    for words in (b"capital of France", b"Paris", b"about a river", b"hills to the sea"):
        assert not any(words in path.read_bytes() for path in kept)
