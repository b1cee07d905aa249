"""A real vLLM that breaks every promise: random weights, MTP and the qwen3 parser; one start.

Under a grammar such a model writes whitespace without end, and while it thinks no grammar holds:
real null content, real runaways, real truncation.
"""

import json
from collections.abc import AsyncIterator
from typing import Any, Final

import openai
import pytest
import pytest_asyncio

from tests.e2e.vllm.stage import RawStream, Stage, says, strict, until
from tests.engines.environment import VllmEnvironment
from tests.engines.gate_process import GateProcess
from tests.engines.server import VllmServer
from tests.engines.tiny_qwen import MTP, tiny_qwen_engine
from tests.grafana.shipped import pinned

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.usefixtures("in_order"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(300, func_only=True),
]

# More than the tokens suffice for: by chance, even such a model ends a small document in time.
CITIES: Final = {
    "type": "object",
    "properties": {"cities": {"type": "array", "items": {"type": "string"}, "minItems": 300}},
    "required": ["cities"],
}
THINKING_OFF: Final = {"chat_template_kwargs": {"enable_thinking": False}}
MAX_TOKENS: Final = 200
GENERATED: Final = "vllm:generation_tokens_total"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(
    vllm_0_32: VllmEnvironment, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    server = VllmServer(tiny_qwen_engine(vllm_0_32, *MTP))
    folder = tmp_path_factory.mktemp("tiny-qwen")
    async with (
        server,
        GateProcess(folder, server.url, {"lanes.main.ready_wait_seconds": 60}) as gate,
        gate.client() as client,
    ):
        yield Stage(server, gate, client, server.engine.name)


async def _refusal(stage: Stage, **more: Any) -> tuple[openai.APIStatusError, Any]:
    """Ask for strict JSON, which this model cannot write; the error and the record."""
    with pytest.raises(openai.UnprocessableEntityError) as refused:
        await stage.ask("Hi", response_format=strict(CITIES), **more)
    return refused.value, await stage.gate.record(refused.value.response.headers["x-request-id"])


def _faults(record: Any) -> list[str]:
    return [fault for attempt in record["attempts"] for fault in attempt["faults"]]


async def test_whitespace_that_runs_away_is_cut_in_the_engine_and_never_delivered(
    stage: Stage,
) -> None:
    before = await stage.server.metrics()
    request = stage.request(
        "Hi", response_format=strict(CITIES), max_tokens=MAX_TOKENS, **THINKING_OFF
    )

    async with RawStream(stage.gate.url, request) as raw:
        events = await raw.end()
    record = await stage.gate.record(events.request_id)
    after = await stage.server.metrics()

    assert events.error["type"] == "gate_rejected"
    assert not events.is_done
    assert [attempt["step"] for attempt in record["attempts"]] == ["first", "cold", "vary"]
    # Greedy, so sure; what `vary` brings is up to chance.
    assert _faults(record)[:2] == ["whitespace_runaway", "whitespace_runaway"]
    assert after[GENERATED] - before[GENERATED] < 2 * MAX_TOKENS


async def test_invalid_first_answer_is_in_the_ledger_with_its_fault_and_its_retry(
    stage: Stage,
) -> None:
    starts: list[Any] = []

    # A process of its own writes it, a while after the answer has left.
    async def is_judged() -> bool:
        starts[:] = json.loads(await stage.gate.command("ledger", "starts", "--json"))["starts"]
        return any(start["retry_step"] for start in starts)

    await until(is_judged)

    told = [
        (start["first_answer"], start["first_fault"], start["retry_step"], start["retry_valid"])
        for start in starts
    ]
    assert told == [("invalid", "whitespace_runaway", "cold", False)]
    assert starts[0]["facts"]["speculative"] == "True"


async def test_whole_reply_with_a_runaway_is_refused_too(stage: Stage) -> None:
    error, record = await _refusal(stage, max_tokens=64, extra_body=THINKING_OFF)

    assert error.type == "gate_rejected"
    assert _faults(record)[:2] == ["whitespace_runaway", "whitespace_runaway"]
    assert len(record["attempts"]) == 3
    assert error.response.headers["x-should-retry"] == "false"


async def test_answer_that_the_token_limit_cut_short_is_not_tried_again(stage: Stage) -> None:
    error, record = await _refusal(stage, max_tokens=3, extra_body=THINKING_OFF)

    assert error.code == "truncated"
    assert len(record["attempts"]) == 1


async def test_thought_that_used_up_all_tokens_leaves_null_and_is_not_tried_again(
    stage: Stage,
) -> None:
    error, record = await _refusal(stage, max_tokens=20)

    assert error.code == "truncated"
    assert len(record["attempts"]) == 1


async def test_null_content_after_a_thought_is_a_fault_and_thinking_is_switched_off_for_it(
    stage: Stage,
) -> None:
    # The first thing that it thinks is a new line; without thinking it writes one later.
    _, record = await _refusal(stage, max_tokens=64, stop=["\n"])

    assert _faults(record)[:2] == ["empty_content", "empty_content"]
    assert record["attempts"][2]["step"] == "vary"
    assert _faults(record)[2] != "empty_content"


async def test_thoughts_pass_unchanged_where_nothing_was_promised(stage: Stage) -> None:
    reply = await stage.client.chat.completions.create(
        model=stage.model, messages=says("Hi"), temperature=0, max_tokens=8
    )

    message = reply.choices[0].message
    assert message.content is None
    assert (message.model_extra or {})["reasoning"]


async def test_first_token_of_a_stream_may_be_a_thought(stage: Stage) -> None:
    told = await stage.stream("Hi", max_tokens=8)

    assert told.content == ""
    assert told.record["outcome"] == "passed"
    assert told.record["completion_tokens"] == 8
    assert told.record["ttft_seconds"] >= told.record["ttfr_seconds"]


async def test_engine_stays_cold_and_drafts_all_the_while(stage: Stage) -> None:
    lane = await stage.gate.lane()
    counters = await stage.server.metrics()

    assert lane["engine"] == "cold"
    assert counters["vllm:spec_decode_num_draft_tokens_total"] > 0


async def test_metrics_are_those_that_dashboards_are_held_against(stage: Stage) -> None:
    page = await stage.server.metrics()

    theirs = {name for name in page if name.startswith("vllm:") and not name.endswith("_created")}
    assert theirs == pinned("vllm_0.32.0.txt")
