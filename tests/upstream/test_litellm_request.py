import json
from typing import Any

import pytest

from proxy.errors import InvalidRequest
from proxy.upstream.litellm_request import read_arguments

PIXEL = "data:image/png;base64,iVBORw0KGgo="
TURN: dict[str, Any] = {"role": "user", "content": "Hi"}


def _read(**members: Any) -> dict[str, Any]:
    body = {"model": "theirs", "messages": [TURN]} | members
    return read_arguments(json.dumps(body).encode(), "openai/ours")


def _read_part(part: object) -> dict[str, Any]:
    return _read(messages=[{"role": "user", "content": [part]}])


def test_model_of_the_client_is_replaced() -> None:
    assert _read() == {"model": "openai/ours", "messages": [TURN]}


def test_openai_parameters_are_passed_on_as_they_came() -> None:
    given: dict[str, Any] = {
        "temperature": 0,
        "top_p": 0.5,
        "n": 2,
        "stream_options": {"include_usage": True},
        "stop": ["x"],
        "max_tokens": 5,
        "max_completion_tokens": 5,
        "presence_penalty": 0.1,
        "frequency_penalty": 0.1,
        "logit_bias": {"1": 2},
        "logprobs": True,
        "top_logprobs": 2,
        "user": "u",
        "response_format": {"type": "json_object"},
        "seed": 3,
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
        "tool_choice": "auto",
        "parallel_tool_calls": False,
        "reasoning_effort": "low",
    }

    arguments = _read(**given)

    assert {name: arguments[name] for name in given} == given


def test_several_choices_are_not_streamed() -> None:
    with pytest.raises(InvalidRequest) as refused:
        _read(n=2, stream=True)

    assert refused.value.param == "n"
    assert _read(n=1, stream=True)["stream"] is True


@pytest.mark.parametrize(
    "member",
    [
        "api_base",
        "api_key",
        "api_version",
        "base_url",
        "callbacks",
        "custom_llm_provider",
        "drop_params",
        "extra_body",
        "extra_headers",
        "fallbacks",
        "functions",
        "headers",
        "metadata",
        "mock_response",
        "model_list",
        "num_retries",
        "prompt_id",
        "structured_outputs",
        "timeout",
        "web_search_options",
    ],
)
@pytest.mark.parametrize("value", ["http://127.0.0.1:1", None], ids=["value", "null"])
def test_member_outside_the_list_is_refused_by_name(member: str, value: str | None) -> None:
    with pytest.raises(InvalidRequest) as refused:
        _read(**{member: value})

    assert refused.value.param == member
    assert f"`{member}`" in refused.value.message
    assert "127.0.0.1" not in refused.value.message


def test_all_refused_members_are_named() -> None:
    with pytest.raises(InvalidRequest, match="`api_base`, `extra_headers`"):
        _read(extra_headers={}, api_base="x")


def test_hostile_member_name_is_shown_short_and_safe() -> None:
    with pytest.raises(InvalidRequest) as refused:
        _read(**{"\n\ud83d" * 500: 1})

    assert len(refused.value.message) < 1000
    assert refused.value.message.isascii()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"[]", "JSON object"),
        (b"{", "not JSON"),
        (b"\xff", "not JSON"),
        (b'{"messages":[],"seed":NaN}', "not JSON"),
        (b'{"messages":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "deep"),
        (rb'{"messages":[{"role":"user","content":"\ud83d"}]}', "surrogate"),
        (b"{}", "`messages` must be a list"),
        (b'{"messages":[1]}', r"`messages\[0\]` must be an object"),
        (b'{"messages":[{"role":"user","content":5}]}', "text or a list"),
        (b'{"messages":[],"stream":"true"}', "`stream`"),
        (b'{"messages":[],"stream_options":[]}', "`stream_options`"),
        (b'{"messages":[],"response_format":"json"}', "`response_format`"),
        (b'{"messages":[],"tools":{}}', "`tools` must be a list"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else value.replace(" ", "_"),
)
def test_body_that_is_no_chat_request_is_refused(body: bytes, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        read_arguments(body, "openai/ours")


def test_last_of_two_members_with_one_name_is_the_one_that_is_checked_and_sent() -> None:
    body = b'{"messages":[],"stream":"x","stream":true}'

    assert read_arguments(body, "m")["stream"] is True


@pytest.mark.parametrize("kind", ["mcp", "web_search", "code_interpreter", None])
def test_tool_that_is_no_function_is_refused(kind: str | None) -> None:
    with pytest.raises(InvalidRequest) as refused:
        _read(tools=[{"type": "function", "function": {}}, {"type": kind, "server_url": "x"}])

    assert refused.value.param == "tools[1]"


def test_schema_of_a_tool_may_have_any_member() -> None:
    schema = {"properties": {"image_url": {"type": "string"}, "file": "https://example.com"}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": schema}}]

    assert _read(tools=tools)["tools"] == tools


@pytest.mark.parametrize(
    "part",
    [
        {"type": "text", "text": "see http://127.0.0.1:1 and gs://bucket/x"},
        {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}},
        {"type": "image_url", "image_url": {"url": PIXEL, "detail": "low"}},
        {"type": "image_url", "image_url": PIXEL},
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
        {"type": "input_audio", "input_audio": {"data": "data:audio/wav;base64,UklGRg=="}},
        {
            "type": "file",
            "file": {
                "file_data": "data:application/pdf;base64,JVBERi0=",
                "filename": "a: b.pdf",
                "file_id": None,
            },
        },
    ],
    ids=lambda part: part["type"],
)
def test_part_that_brings_its_own_bytes_is_passed_on(part: dict[str, Any]) -> None:
    assert _read_part(part)["messages"][0]["content"] == [part]


@pytest.mark.parametrize(
    ("part", "place"),
    [
        ({"type": "image_url", "image_url": {"url": "http://127.0.0.1/x.png"}}, "image_url.url"),
        ({"type": "image_url", "image_url": "https://example.com/x.png"}, "image_url"),
        ({"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}, "image_url.url"),
        ({"type": "image_url", "image_url": {"url": "/etc/passwd"}}, "image_url.url"),
        ({"type": "image_url", "image_url": {"url": "gs://bucket/x"}}, "image_url.url"),
        ({"type": "image_url", "image_url": {"url": "data:,gs://bucket/x"}}, "image_url.url"),
        ({"type": "image_url", "image_url": {"url": PIXEL + "\0gs://b/x"}}, "image_url.url"),
        ({"type": "image_url", "image_url": {"url": ["http://127.0.0.1"]}}, "image_url.url"),
        ({"type": "image_url", "image_url": {"url": PIXEL, "format": "gs://b/"}}, "format"),
        ({"type": "image_url", "image_url": {"url": PIXEL, "x": {"url": PIXEL}}}, "image_url.x"),
        ({"type": "image_url", "image_url": ["http://127.0.0.1"]}, "image_url"),
        ({"type": "input_audio", "input_audio": {"data": "https://example.com/a.wav"}}, "data"),
        ({"type": "input_audio", "input_audio": {"data": "AA==", "format": "gs://b"}}, "format"),
        ({"type": "file", "file": {"file_id": "file-123"}}, "file.file_id"),
        ({"type": "file", "file": {"file_id": "https://example.com/a.pdf"}}, "file.file_id"),
        ({"type": "file", "file": {"file_data": "https://example.com/a.pdf"}}, "file.file_data"),
        ({"type": "text", "text": "Hi", "image_url": {"url": "http://127.0.0.1"}}, "image_url"),
        ({"type": "file", "file_data": "https://example.com/a.pdf"}, "file_data"),
        ({"type": "video_url", "video_url": {"url": PIXEL}}, "content[0]"),
        ({"type": "document", "source": {"type": "url", "url": "http://x"}}, "content[0]"),
        ({"type": ["text"], "text": "Hi"}, "content[0]"),
        ("http://127.0.0.1", "content[0]"),
    ],
)
def test_part_that_would_be_fetched_is_refused_with_its_place(part: object, place: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        _read_part(part)

    assert refused.value.param is not None
    assert refused.value.param.startswith("messages[0].content[0]")
    assert refused.value.param.endswith(place)
    assert "127.0.0.1" not in refused.value.message


def test_answer_sent_back_by_an_agent_is_passed_on() -> None:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "f", "arguments": '{"image_url":"http://x"}'},
        "provider_specific_fields": {"thought_signature": "abc"},
    }
    answer = {
        "role": "assistant",
        "content": None,
        "tool_calls": [call],
        "reasoning_content": "r",
        "thinking_blocks": [{"type": "thinking", "thinking": "r", "signature": "s"}],
        "provider_specific_fields": {"web_search_results": [{"url": "https://example.com"}]},
        "audio": None,
        "x_vendor": None,
    }

    assert _read(messages=[TURN, answer])["messages"][1] == answer


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ({"x_vendor": 1}, "x_vendor"),
        ({"audio": {"id": "audio_1"}}, "audio"),
        ({"images": [{"image_url": {"url": "http://127.0.0.1"}}]}, "images[0].image_url.url"),
        (
            {
                "provider_specific_fields": {
                    "compaction_blocks": [
                        {"type": "image", "source": {"type": "url", "url": "http://127.0.0.1"}}
                    ]
                }
            },
            "compaction_blocks[0].source.url",
        ),
    ],
    ids=["vendor", "audio", "images", "compaction"],
)
def test_member_of_a_message_that_might_be_fetched_is_refused(
    message: dict[str, Any], place: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        _read(messages=[{"role": "assistant", "content": "x"} | message])

    assert refused.value.param is not None
    assert refused.value.param.endswith(place)
