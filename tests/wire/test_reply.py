"""Replies are read alike from a body and from stream events, whatever upstreams leave out."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.reply import (
    Choice,
    Delta,
    MalformedReply,
    Reply,
    ReplyBuilder,
    ToolCall,
    Usage,
    read_reply,
)

NOTHING = Delta(
    has_choices=False, has_token=False, contents=(), token_ids=0, error=None, finished=False
)


def body_with(message: Any, **choice: Any) -> bytes:
    return json.dumps({"choices": [{"message": message, **choice}]}).encode()


def chunk(*deltas: Any, **members: Any) -> bytes:
    choices = [{"index": at, "delta": delta} for at, delta in enumerate(deltas)]
    return json.dumps({"choices": choices, **members}).encode()


def calls_of(*events: list[dict[str, Any]]) -> tuple[ToolCall, ...]:
    builder = ReplyBuilder()
    for calls in events:
        builder.add(chunk({"tool_calls": calls}))
    return builder.reply().choices[0].tool_calls


def test_body_is_read() -> None:
    body = json.dumps(
        {
            "id": "chatcmpl-1",
            "choices": [
                {
                    "index": 1,
                    "message": {
                        "role": "assistant",
                        "content": "Hi",
                        "reasoning": "Hm",
                        "refusal": "No",
                        "tool_calls": [
                            {"id": "a", "type": "function",
                             "function": {"name": "f", "arguments": "{}"}},
                        ],
                    },
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8},
        }
    ).encode()  # fmt: skip

    assert read_reply(body) == Reply(
        choices=(Choice(1, "Hi", "Hm", "No", (ToolCall(0, "a", "f", "{}"),), "stop"),),
        usage=Usage(3, 5),
    )


@pytest.mark.parametrize(
    ("message", "choice"),
    [
        pytest.param(None, Choice(0, None), id="null message"),
        pytest.param("x", Choice(0, None), id="message is text"),
        pytest.param({}, Choice(0, None), id="empty message"),
        pytest.param({"content": None}, Choice(0, None), id="null content"),
        pytest.param({"content": 7}, Choice(0, None), id="content is a number"),
        pytest.param({"content": ""}, Choice(0, ""), id="empty content"),
        pytest.param(
            {"content": [{"type": "text", "text": "a"}, "b", {"type": "image_url"}, 7]},
            Choice(0, "ab"),
            id="content parts",
        ),
        pytest.param({"reasoning_content": "x"}, Choice(0, None, "x"), id="older reasoning name"),
        pytest.param(
            {"reasoning": "", "reasoning_content": "x"}, Choice(0, None, "x"), id="empty reasoning"
        ),
        pytest.param(
            {"reasoning": "x", "reasoning_content": "x"}, Choice(0, None, "x"), id="both names"
        ),
        pytest.param({"content": "\ud83d"}, Choice(0, "\ud83d"), id="lone surrogate"),
        pytest.param({"tool_calls": None}, Choice(0, None), id="null tool calls"),
        pytest.param(
            {"tool_calls": [7, {}]},
            Choice(0, None, tool_calls=(ToolCall(0, "", "", ""),)),
            id="bare call",
        ),
        pytest.param(
            {"tool_calls": [{"index": 4}, {"index": None}]},
            Choice(0, None, tool_calls=(ToolCall(4, "", "", ""), ToolCall(1, "", "", ""))),
            id="call indexes",
        ),
        pytest.param(
            {"tool_calls": [{"id": 1, "function": {"name": None, "arguments": None}}]},
            Choice(0, None, tool_calls=(ToolCall(0, "", "", ""),)),
            id="null arguments",
        ),
        pytest.param(
            {"tool_calls": [{"function": {"name": "f", "arguments": {"ü": [1]}}}]},
            Choice(0, None, tool_calls=(ToolCall(0, "", "f", '{"ü": [1]}'),)),
            id="arguments are an object",
        ),
    ],
)  # fmt: skip
def test_message_is_read_leniently(message: Any, choice: Choice) -> None:
    assert read_reply(body_with(message)).choices == (choice,)


@pytest.mark.parametrize("index", [None, "1", True, 1.0])
def test_choice_without_an_index_counts_by_position(index: Any) -> None:
    body = json.dumps({"choices": [{"index": 0}, {"index": index}]}).encode()

    assert [choice.index for choice in read_reply(body).choices] == [0, 1]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        pytest.param(None, None, id="null"),
        pytest.param([], None, id="not an object"),
        pytest.param({}, None, id="empty"),
        pytest.param({"prompt_tokens": None, "completion_tokens": "5"}, None, id="no counts"),
        pytest.param({"prompt_tokens": 3}, Usage(3, 0), id="prompt only"),
        pytest.param({"completion_tokens": 5}, Usage(0, 5), id="completion only"),
    ],
)
def test_usage_is_read_leniently(usage: Any, expected: Usage | None) -> None:
    body = json.dumps({"usage": usage}).encode()

    assert read_reply(body) == Reply(usage=expected)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        pytest.param(b'{"error":{"message":"M\\u00fcll","code":5}}',
                     '{"message": "Müll", "code": 5}', id="object"),
        pytest.param(b'{"error":"gone"}', '"gone"', id="text"),
        pytest.param(b'{"error":null,"choices":null}', None, id="null"),
    ],
)  # fmt: skip
def test_error_is_kept_as_json_text(body: bytes, error: str | None) -> None:
    assert read_reply(body) == Reply(error=error)
    assert ReplyBuilder().add(body).error == error


def test_number_beyond_a_float_is_no_fault() -> None:
    assert read_reply(b'{"choices":[{"message":{"content":"x"},"p":1e400}]}').choices == (
        Choice(0, "x"),
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"[]", id="array"),
        pytest.param(b"[DONE]", id="end mark"),
        pytest.param(b'{"choices":[', id="cut off"),
        pytest.param(b'{"choices":{}}', id="choices are an object"),
        pytest.param(b'{"choices":"x"}', id="choices are text"),
        pytest.param(b'{"choices":[null]}', id="choice is null"),
        pytest.param(b'{"choices":[[]]}', id="choice is an array"),
        pytest.param(b'{"x":NaN}', id="NaN"),
        pytest.param(b'{"x":"\xff"}', id="not UTF-8"),
        pytest.param(b'{"x":' + b"[" * 200_000, id="nested too deeply"),
    ],
)
def test_what_is_no_reply_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedReply):
        read_reply(body)
    with pytest.raises(MalformedReply):
        ReplyBuilder().add(body)


@pytest.mark.parametrize("depth", [257, 980, 985, 990, 995, 1_000, 5_000])
@pytest.mark.parametrize(
    ("opening", "closing"), [("[", "]"), ('{"a":', "}")], ids=["arrays", "objects"]
)
def test_depth_that_could_not_be_written_again_is_refused(
    opening: str, closing: str, depth: int
) -> None:
    nested = (opening * depth + "1" + closing * depth).encode()

    with pytest.raises(MalformedReply):
        read_reply(b'{"error":' + nested + b"}")
    with pytest.raises(MalformedReply):
        ReplyBuilder().add(b'{"choices":[{"delta":{"content":"x"}}],"vendor":' + nested + b"}")


def test_brackets_in_a_text_are_no_depth() -> None:
    body = json.dumps({"choices": [{"message": {"content": "[{" * 5_000}}]}).encode()

    assert read_reply(body).choices == (Choice(0, "[{" * 5_000),)


def test_no_events_make_an_empty_reply() -> None:
    assert ReplyBuilder().reply() == Reply()


@pytest.mark.parametrize(
    ("data", "delta"),
    [
        pytest.param(b"{}", NOTHING, id="nothing"),
        pytest.param(
            chunk({"role": "assistant", "content": ""}),
            replace(NOTHING, has_choices=True),
            id="role",
        ),
        pytest.param(
            chunk({"content": "a"}),
            replace(NOTHING, has_choices=True, has_token=True, contents=((0, "a"),)),
            id="content",
        ),
        pytest.param(
            chunk({"content": [{"text": "a"}]}),
            replace(NOTHING, has_choices=True, has_token=True, contents=((0, "a"),)),
            id="content part",
        ),
        pytest.param(
            chunk({"reasoning": "a"}),
            replace(NOTHING, has_choices=True, has_token=True),
            id="reasoning",
        ),
        pytest.param(
            chunk({"refusal": "a"}),
            replace(NOTHING, has_choices=True, has_token=True),
            id="refusal",
        ),
        pytest.param(
            chunk({"tool_calls": [{}]}),
            replace(NOTHING, has_choices=True, has_token=True),
            id="tool call",
        ),
        pytest.param(chunk(None), replace(NOTHING, has_choices=True), id="null delta"),
        pytest.param(
            chunk({"content": "a"}, {}, {"content": "c"}),
            replace(NOTHING, has_choices=True, has_token=True, contents=((0, "a"), (2, "c"))),
            id="several choices",
        ),
        pytest.param(
            b'{"choices":[{"delta":{},"finish_reason":"stop"}]}',
            replace(NOTHING, has_choices=True, finished=True),
            id="finish",
        ),
        pytest.param(
            b'{"choices":[{"token_ids":[1,2]},{"token_ids":null},{"token_ids":[3]}]}',
            replace(NOTHING, has_choices=True, token_ids=3),
            id="token ids",
        ),
        pytest.param(
            b'{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}', NOTHING, id="usage"
        ),
    ],
)
def test_delta_says_what_an_event_brought(data: bytes, delta: Delta) -> None:
    assert ReplyBuilder().add(data) == delta


def test_events_assemble_to_a_reply() -> None:
    builder = ReplyBuilder()
    for data in [
        chunk({"role": "assistant", "content": ""}),
        chunk({"reasoning_content": "H"}),
        chunk({"reasoning": "m"}),
        chunk({"content": "a"}),
        chunk({"content": None, "refusal": "n"}),
        chunk({"content": "\ud83d"}),
        b'{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
        b'{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}',
        b'{"choices":[]}',
        b'{"error":"late"}',
        b'{"error":"later"}',
    ]:
        builder.add(data)

    assert builder.reply() == Reply(
        choices=(Choice(0, "a\ud83d", "Hm", "n", (), "stop"),),
        usage=Usage(1, 2),
        error='"late"',
    )


def test_content_is_none_when_no_delta_carried_text() -> None:
    builder = ReplyBuilder()
    builder.add(chunk({"role": "assistant", "content": None}))
    builder.add(chunk({"reasoning": "x"}))

    assert builder.reply().choices == (Choice(0, None, "x"),)


def test_choices_are_put_in_the_order_of_their_indexes() -> None:
    builder = ReplyBuilder()
    builder.add(b'{"choices":[{"index":1,"delta":{"content":"b"}}]}')
    builder.add(b'{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}')

    assert builder.reply().choices == (Choice(0, "a"), Choice(1, "bb"))


@pytest.mark.parametrize(
    ("events", "calls"),
    [
        pytest.param(
            [
                [{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}],
                [{"index": 0, "function": {"arguments": '{"x"'}}],
                [{"index": 1, "id": "b", "function": {"name": "g", "arguments": None}}],
                [{"index": 0, "function": {"arguments": ":1}"}}],
            ],
            (ToolCall(0, "a", "f", '{"x":1}'), ToolCall(1, "b", "g", "")),
            id="merged by index",
        ),
        pytest.param(
            [
                [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "1"}}],
                [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "2"}}],
            ],
            (ToolCall(0, "a", "f", "12"),),
            id="id and name repeated",
        ),
        pytest.param(
            [
                [{"index": 0, "function": {"name": "get_"}}],
                [{"index": 0, "id": "a", "function": {"name": "time"}}],
            ],
            (ToolCall(0, "a", "get_time", ""),),
            id="name in pieces",
        ),
        pytest.param(
            [
                [{"id": "a", "function": {"name": "f", "arguments": "1"}}],
                [{"function": {"arguments": "2"}}],
                [{"id": "b", "function": {"name": "f", "arguments": "3"}}],
                [{"id": "a", "function": {"arguments": "4"}}],
            ],
            (ToolCall(0, "a", "f", "124"), ToolCall(1, "b", "f", "3")),
            id="without index by id",
        ),
        pytest.param(
            [[{"function": {"name": "f"}}, {"function": {"name": "f"}}]],
            (ToolCall(0, "", "f", ""), ToolCall(1, "", "f", "")),
            id="without index or id a name begins a call",
        ),
        pytest.param(
            [[{"function": {"arguments": "{}"}}]],
            (ToolCall(0, "", "", "{}"),),
            id="arguments alone",
        ),
        pytest.param(
            [[{"index": 3, "id": "a"}], [{"id": "b"}], [{"index": 1, "id": "c"}]],
            (ToolCall(3, "a", "", ""), ToolCall(4, "b", "", ""), ToolCall(1, "c", "", "")),
            id="in the order first seen",
        ),
        pytest.param(
            [[{"index": 0, "function": "x"}]], (ToolCall(0, "", "", ""),), id="function is text"
        ),
    ],
)
def test_tool_call_deltas_are_merged(
    events: list[list[dict[str, Any]]], calls: tuple[ToolCall, ...]
) -> None:
    assert calls_of(*events) == calls


@given(
    contents=st.lists(
        st.lists(st.text(st.characters(codec="utf-8")), min_size=1), min_size=1, max_size=3
    )
)
def test_streamed_and_whole_contents_are_read_alike(contents: list[list[str]]) -> None:
    builder = ReplyBuilder()
    for index, pieces in enumerate(contents):
        for piece in pieces:
            choice = {"index": index, "delta": {"content": piece}}
            builder.add(json.dumps({"choices": [choice]}).encode())
    messages = [{"message": {"content": "".join(pieces)}} for pieces in contents]

    whole = read_reply(json.dumps({"choices": messages}).encode())

    assert builder.reply() == whole
