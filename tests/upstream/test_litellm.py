"""The lane over litellm. What imports litellm is slow."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from proxy.app import Surroundings
from proxy.errors import Fault, TimedOut, Unreachable
from proxy.upstream.connection_pool import Timeouts
from proxy.upstream.lane import Call
from proxy.upstream.litellm import LitellmLane
from tests.fakes.gate import Gate, running_gate
from tests.fakes.upstream import End, Scripted, completion, fake_upstream, stream

# litellm silences these itself when it is imported; pytest undoes that after each test.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier:UserWarning"),
    pytest.mark.filterwarnings("ignore:Accessing the .* on the instance:DeprecationWarning"),
]

ASKED: dict[str, Any] = {"model": "theirs", "messages": [{"role": "user", "content": "Hi"}]}
STREAMED = ASKED | {"stream": True}
STRICT = ASKED | {
    "response_format": {
        "type": "json_schema",
        "json_schema": {
            "name": "city",
            "schema": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    }
}
KEY = "sk-of-the-lane"
CLIENT = {"authorization": "Bearer of-the-client", "x-client": "1"}


def _lane(
    url: str | None, model: str = "openai/tiny", timeouts: Timeouts | None = None
) -> LitellmLane:
    return LitellmLane("main", model, api_base=url, key=KEY, timeouts=timeouts or Timeouts())


def _post(body: Mapping[str, Any]) -> Call:
    return Call("POST", "/v1/chat/completions", tuple(CLIENT.items()), json.dumps(body).encode())


async def _answer(lane: LitellmLane, call: Call) -> tuple[int, Any]:
    with await lane.open(call) as reply:
        body = await reply.chunk()
        assert await reply.chunk() == b""
    return reply.status, json.loads(body)


@asynccontextmanager
async def _gate(url: str, **settings: object) -> AsyncIterator[Gate]:
    flags = {
        "lanes.main.provider": "litellm",
        "lanes.main.model": "openai/tiny",
        "lanes.main.url": f"{url}/v1",
        "lanes.main.key_env": "TINY_KEY",
        **settings,
    }
    async with running_gate(url, flags, Surroundings(environ={"TINY_KEY": KEY})) as gate:
        yield gate


def _chunks(received: bytes) -> list[Any]:
    events = received.split(b"\n\n")
    return [json.loads(event[6:]) for event in events if event.startswith(b"data: {")]


def _text(chunks: list[Any]) -> str:
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    return "".join(delta["content"] or "" for delta in deltas)


def test_program_starts_without_litellm() -> None:
    program = "import sys, proxy.app; print('litellm' in sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout == "False\n"


async def test_models_are_the_one_of_the_lane() -> None:
    status, body = await _answer(_lane(None), Call("GET", "/v1/models?limit=1", ()))

    assert status == 200
    assert [model["id"] for model in body["data"]] == ["openai/tiny"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/metrics"),
        ("GET", "/v1/chat/completions"),
        ("POST", "/v1/models"),
        ("POST", "/v1/embeddings"),
        ("POST", "/v1/responses"),
    ],
)
async def test_any_other_path_is_unknown(method: str, path: str) -> None:
    status, body = await _answer(_lane(None), Call(method, path, (), b"{}"))

    assert status == 404
    assert body["error"]["code"] == "unknown_path"


@pytest.mark.parametrize("member", ["api_base", "mock_response", "extra_headers"])
async def test_steering_member_is_refused_before_litellm_is_asked(member: str) -> None:
    status, body = await _answer(_lane(None), _post(ASKED | {member: "http://127.0.0.1:1"}))

    assert status == 400
    assert body["error"]["param"] == member


@pytest.mark.slow
async def test_chat_is_asked_of_the_lanes_model_with_the_lanes_key_alone() -> None:
    async with fake_upstream(completion()) as upstream, _gate(upstream.url) as gate:
        response, received = await gate.chat(ASKED | {"temperature": 0}, CLIENT)
        record = await gate.record(response)

    call = upstream.calls[0]
    assert response.status == 200
    assert response.headers["content-type"] == "application/json"
    assert json.loads(received)["choices"][0]["message"]["content"] == "Hello."
    assert call.path == "/v1/chat/completions"
    assert call.json == ASKED | {"model": "tiny", "temperature": 0}
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert "x-client" not in call.headers
    assert (record["prompt_tokens"], record["completion_tokens"]) == (9, 3)


@pytest.mark.slow
async def test_prepared_lane_has_loaded_litellm_before_its_first_call() -> None:
    lane = _lane(None)

    await lane.prepare()

    assert "litellm" in sys.modules
    await lane.close()


@pytest.mark.slow
async def test_stream_arrives_as_events_with_a_finish_and_done() -> None:
    async with fake_upstream(stream(["Grüße ", "👋"])) as upstream, _gate(upstream.url) as gate:
        response, received = await gate.chat(STREAMED)
        record = await gate.record(response)

    chunks = _chunks(received)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert _text(chunks) == "Grüße 👋"
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert received.endswith(b"data: [DONE]\n\n")
    assert not any(chunk.get("usage") for chunk in chunks)
    assert record["completion_tokens"] == 3


@pytest.mark.slow
async def test_usage_of_a_stream_reaches_a_client_that_asked() -> None:
    asked = STREAMED | {"stream_options": {"include_usage": True}}
    async with fake_upstream(stream(["a"])) as upstream, _gate(upstream.url) as gate:
        _, received = await gate.chat(asked)

    last = _chunks(received)[-1]
    assert last["choices"] == []
    assert last["usage"]["completion_tokens"] == 3


@pytest.mark.slow
async def test_stream_that_repeats_one_chunk_is_no_error() -> None:
    async with fake_upstream(stream(["again"] * 150)) as upstream, _gate(upstream.url) as gate:
        _, received = await gate.chat(STREAMED)

    assert _text(_chunks(received)) == "again" * 150


@pytest.mark.slow
@pytest.mark.parametrize("streams", [False, True], ids=["body", "stream"])
async def test_cold_fault_of_strict_json_repeats_the_request(streams: bool) -> None:
    script = (
        [stream(["{", '{"city"']), stream(['{"city":', '"Ulm"}'])]
        if streams
        else [completion('{{"city"'), completion('{"city":"Ulm"}')]
    )
    async with fake_upstream(*script) as upstream, _gate(upstream.url) as gate:
        response, received = await gate.chat(STRICT | {"stream": streams})

    assert response.status == 200
    assert response.headers["x-sluicegate-attempts"] == "2"
    assert b'{\\"city\\":' in received
    assert upstream.calls[0].json == upstream.calls[1].json


@pytest.mark.slow
@pytest.mark.parametrize("asked", [ASKED, STREAMED], ids=["body", "stream"])
async def test_refusal_of_the_provider_keeps_its_status_and_is_called_once(
    asked: dict[str, Any],
) -> None:
    error = {"error": {"message": "no Hi here", "code": "model_not_found"}}
    refusal = Scripted((json.dumps(error).encode(),), status=404)
    async with fake_upstream(refusal) as upstream, _gate(upstream.url) as gate:
        response, received = await gate.chat(asked)

    told = json.loads(received)["error"]
    assert response.status == 404
    assert told["code"] == "model_not_found"
    assert "Hi" not in told["message"]
    assert len(upstream.calls) == 1


@pytest.mark.slow
async def test_busy_provider_is_not_asked_again_by_litellm() -> None:
    busy = Scripted((b'{"error":{}}',), status=429, headers=(("retry-after", "7"),))
    async with fake_upstream(busy) as upstream, _gate(upstream.url) as gate:
        response, _ = await gate.chat(ASKED)

    assert response.status == 429
    assert response.headers["retry-after"] == "7"
    assert len(upstream.calls) == 1


@pytest.mark.slow
@pytest.mark.parametrize("model", ["openai/tiny", "anthropic/tiny"])
@pytest.mark.parametrize("asked", [ASKED, STREAMED], ids=["body", "stream"])
async def test_refused_connection_is_unreachable(model: str, asked: dict[str, Any]) -> None:
    lane = _lane("http://127.0.0.1:1", model)

    with pytest.raises(Unreachable):
        await lane.open(_post(asked))
    await lane.close()


@pytest.mark.slow
async def test_request_with_a_steering_member_never_reaches_the_provider() -> None:
    async with fake_upstream(completion()) as upstream, _gate(upstream.url) as gate:
        response, received = await gate.chat(ASKED | {"api_base": "http://127.0.0.1:1"})

    assert response.status == 400
    assert "`api_base`" in json.loads(received)["error"]["message"]
    assert upstream.calls == []


@pytest.mark.slow
async def test_reply_that_never_begins_times_out() -> None:
    silent = Scripted((), end=End.HANG)
    async with fake_upstream(completion(), silent) as upstream:
        await _answer(
            _lane(f"{upstream.url}/v1"), _post(ASKED)
        )  # litellm takes its time over a first call
        lane = _lane(f"{upstream.url}/v1", timeouts=Timeouts(reply_seconds=0.5))
        with pytest.raises(TimedOut) as late:
            await lane.open(_post(ASKED))
        await lane.close()
        await upstream.calls[1].over.wait()

    assert late.value.code == Fault.UPSTREAM_TIMEOUT
    assert upstream.calls[1].closed_early


@pytest.mark.slow
async def test_stream_dropped_early_is_closed_at_the_provider() -> None:
    endless = stream(["a"], finish_reason=None, usage=None, done=False, end=End.HANG)
    async with fake_upstream(endless) as upstream:
        lane = _lane(f"{upstream.url}/v1")
        with await lane.open(_post(STREAMED)) as reply:
            await reply.chunk()
        await lane.close()
        await upstream.calls[0].over.wait()

    assert upstream.calls[0].closed_early


@pytest.mark.slow
async def test_stream_broken_off_before_its_finish_is_tried_once_more() -> None:
    broken = stream(['{"city":'], finish_reason=None, usage=None, done=False)
    async with (
        fake_upstream(broken, stream(['{"city":"Ulm"}'])) as upstream,
        _gate(upstream.url) as gate,
    ):
        response, received = await gate.chat(STRICT | {"stream": True})

    assert response.status == 200
    assert received.endswith(b"data: [DONE]\n\n")
    assert len(upstream.calls) == 2


@pytest.mark.slow
async def test_anthropic_answers_in_openai_shape() -> None:
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "tiny",
        "content": [{"type": "text", "text": "Hello."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 9, "output_tokens": 3},
    }
    async with fake_upstream(Scripted((json.dumps(message).encode(),))) as upstream:
        lane = _lane(upstream.url, "anthropic/tiny")
        status, body = await _answer(lane, _post(ASKED))
        await lane.close()

    assert status == 200
    assert body["choices"][0]["message"]["content"] == "Hello."
    assert body["choices"][0]["finish_reason"] == "stop"
    assert upstream.calls[0].path == "/v1/messages"
    assert upstream.calls[0].headers["x-api-key"] == KEY


@pytest.mark.slow
async def test_parameter_that_the_provider_lacks_is_refused_by_name() -> None:
    async with fake_upstream() as upstream:
        lane = _lane(upstream.url, "anthropic/tiny")
        status, body = await _answer(lane, _post(ASKED | {"logit_bias": {"1": 1}}))
        await lane.close()

    assert status == 400
    assert body["error"]["param"] == "logit_bias"
    assert upstream.calls == []


@pytest.mark.slow
async def test_lane_with_an_address_and_no_key_sends_a_placeholder_for_one() -> None:
    async with fake_upstream(completion()) as upstream:
        lane = LitellmLane(
            "main", "openai/tiny", api_base=f"{upstream.url}/v1", key=None, timeouts=Timeouts()
        )
        await _answer(lane, _post(ASKED))
        await lane.close()

    assert upstream.calls[0].headers["authorization"] == "Bearer none"
