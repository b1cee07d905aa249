import json
from typing import Any

import pytest

from proxy.wire.reply import read_reply
from proxy.wire.tap import MalformedBodyReply, StreamTap, read_body_head


def _chunk(delta: dict[str, Any], **choice: Any) -> bytes:
    document = {"choices": [{"index": 0, "delta": delta, "finish_reason": None} | choice]}
    return json.dumps(document).encode()


def _tap(*events: tuple[float, bytes]) -> StreamTap:
    tap = StreamTap()
    for instant, data in events:
        tap.take(data, instant)
    return tap


def test_empty_role_chunk_counts_for_first_response_but_not_for_first_token() -> None:
    tap = _tap(
        (0.112, _chunk({"role": "assistant", "content": ""})), (0.131, _chunk({"content": "Hi"}))
    )

    assert tap.first_response == 0.112
    assert tap.first_token == 0.131


@pytest.mark.parametrize(
    "delta",
    [
        {"content": "a"},
        {"reasoning": "a"},
        {"reasoning_content": "a"},
        {"refusal": "a"},
        {"tool_calls": [{"index": 0}]},
    ],
    ids=lambda delta: next(iter(delta)),
)
def test_any_material_is_a_first_token(delta: dict[str, Any]) -> None:
    tap = _tap((1.0, _chunk(delta)))

    assert tap.first_token == 1.0


@pytest.mark.parametrize(
    "delta",
    [{}, {"content": None}, {"content": ""}, {"tool_calls": []}, {"role": "assistant"}],
    ids=["empty", "null", "blank", "no_calls", "role"],
)
def test_empty_material_is_no_token(delta: dict[str, Any]) -> None:
    tap = _tap((1.0, _chunk(delta)))

    assert tap.first_token is None


def test_text_of_the_completions_surface_is_a_token() -> None:
    tap = _tap((1.0, b'{"choices":[{"index":0,"text":"Hi","finish_reason":null}]}'))

    assert tap.first_token == 1.0


def test_last_token_is_the_last_event_with_material_and_not_the_finish_chunk() -> None:
    tap = _tap(
        (1.0, _chunk({"content": "a"})),
        (2.0, _chunk({"content": "b"})),
        (3.0, _chunk({"content": ""}, finish_reason="stop")),
    )

    assert tap.last_token == 2.0
    assert tap.finished


def test_finish_chunk_that_carries_the_last_token_counts() -> None:
    tap = _tap(
        (1.0, _chunk({"content": "a"})), (2.0, _chunk({"content": "b"}, finish_reason="stop"))
    )

    assert tap.last_token == 2.0


def test_usage_chunk_gives_tokens_and_is_marked() -> None:
    usage = b'{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":6}}'

    tap = _tap((1.0, _chunk({"content": "a"})), (2.0, usage))

    assert (tap.prompt_tokens, tap.completion_tokens) == (9, 6)
    assert tap.usage_only


@pytest.mark.parametrize(
    "count",
    ["9" * 400, "9" * 5_000, str(2**53 + 1), "-1", "1.5", "1e300", '"7"', "true", "null"],
    ids=["400 digits", "5000 digits", "beyond", "negative", "half", "huge", "text", "true", "null"],
)
@pytest.mark.parametrize("extra", ["", r',"user":"\ud83d"'], ids=["fast reader", "slow reader"])
def test_what_can_be_no_token_count_reads_as_none(count: str, extra: str) -> None:
    usage = f'"usage":{{"prompt_tokens":3,"completion_tokens":{count}}}'
    body = f'{{"choices":[{{"finish_reason":"stop"}}],{usage}{extra}}}'.encode()

    tap = _tap((1.0, body))

    assert (tap.prompt_tokens, tap.completion_tokens, tap.finished) == (3, None, True)
    assert read_body_head(body) == (3, None, False)


@pytest.mark.parametrize("extra", ["", r',"user":"\ud83d"'], ids=["fast reader", "slow reader"])
def test_largest_token_count_is_exact(extra: str) -> None:
    body = f'{{"usage":{{"prompt_tokens":0,"completion_tokens":{2**53}}}{extra}}}'.encode()

    tap = _tap((1.0, body))

    assert (tap.prompt_tokens, tap.completion_tokens) == (0, 2**53)
    assert read_body_head(body) == (0, 2**53, False)


def test_usage_beside_choices_is_no_usage_chunk() -> None:
    event = b'{"choices":[{"delta":{"content":"b"}}],"usage":{"completion_tokens":2}}'

    tap = _tap((1.0, _chunk({"content": "a"})), (2.0, event))

    assert tap.completion_tokens == 2
    assert not tap.usage_only
    assert tap.last_token == 2.0


@pytest.mark.parametrize("colon", [":", ": ", " : ", ":\n", "\t:"], ids=repr)
def test_finish_is_seen_after_the_first_token_however_it_is_spelled(colon: str) -> None:
    end = f'{{"choices":[{{"delta":{{}},"finish_reason"{colon}"stop"}}]}}'.encode()

    tap = _tap((1.0, _chunk({"content": "a"})), (2.0, end))

    assert (tap.finished, tap.last_token) == (True, 1.0)


@pytest.mark.parametrize("colon", [":", ": ", " : "], ids=repr)
def test_null_is_no_finish_however_it_is_spelled(colon: str) -> None:
    event = f'{{"choices":[{{"delta":{{"content":"b"}},"finish_reason"{colon}null}}]}}'.encode()

    tap = _tap((1.0, _chunk({"content": "a"})), (2.0, event))

    assert (tap.finished, tap.last_token) == (False, 2.0)


def test_finish_beside_an_unfinished_choice_is_seen() -> None:
    event = b'{"choices":[{"index":0,"finish_reason":null},{"index":1,"finish_reason":"stop"}]}'

    tap = _tap((1.0, _chunk({"content": "a"})), (2.0, event))

    assert tap.finished


def test_stream_of_several_choices_is_finished_when_each_of_them_is() -> None:
    tap = StreamTap(choices=2)
    finished = []

    for index in (0, 0, 1):
        tap.take(_chunk({"content": "a"}, index=index, finish_reason="stop"), 1.0)
        finished.append(tap.finished)

    assert finished == [False, False, True]


@pytest.mark.parametrize("index", ["", '"index":null,', '"index":"a",'], ids=repr)
def test_choices_without_an_index_are_told_apart_by_position(index: str) -> None:
    choice = f'{{{index}"delta":{{}},"finish_reason":"stop"}}'
    tap = StreamTap(choices=2)

    tap.take(f'{{"choices":[{choice}]}}'.encode(), 1.0)
    after_one = tap.finished
    tap.take(f'{{"choices":[{choice},{choice}]}}'.encode(), 2.0)

    assert (after_one, tap.finished) == (False, True)


def test_member_names_quoted_inside_content_are_content() -> None:
    text = 'say "usage" and "finish_reason":"stop" and "error"'

    tap = _tap((1.0, _chunk({"content": "a"})), (2.0, _chunk({"content": text})))

    assert not tap.finished
    assert not tap.error
    assert tap.last_token == 2.0


def test_error_object_is_seen() -> None:
    tap = _tap((1.0, _chunk({"content": "a"})), (2.0, b'{"error":{"message":"x","code":500}}'))

    assert tap.error


def test_done_marks_the_end() -> None:
    tap = _tap((1.0, b"[DONE]"))

    assert tap.done
    assert not tap.finished


def test_token_ids_of_the_first_event_are_counted() -> None:
    tap = _tap((1.0, _chunk({"content": "ab"}, token_ids=[5, 6])))

    assert tap.first_token_ids == 2


@pytest.mark.parametrize("data", [b"nonsense", b"[1]", b'{"choices":1}', b""], ids=repr)
def test_garbage_says_nothing_and_breaks_nothing(data: bytes) -> None:
    tap = _tap((1.0, data))

    assert tap.first_response is None
    assert not tap.finished


def test_half_a_surrogate_pair_hides_no_token_and_no_end() -> None:
    tap = _tap(
        (1.0, rb'{"choices":[{"index":0,"delta":{"content":"\ud83d"}}]}'),
        (2.0, rb'{"choices":[{"index":0,"delta":{"content":"\ude00"},"finish_reason":"stop"}]}'),
    )

    assert (tap.first_token, tap.last_token, tap.finished) == (1.0, 2.0, True)


def test_body_head_reads_usage() -> None:
    body = b'{"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":2}}'

    assert read_body_head(body) == (4, 2, False)


def test_body_head_sees_an_error_object() -> None:
    assert read_body_head(b'{"error":{"message":"x"}}') == (None, None, True)


@pytest.mark.parametrize(
    ("body", "head"),
    [
        pytest.param(b'{"usage":{"prompt_tokens":"many"}}', (None, None, False), id="a text"),
        pytest.param(b'{"usage":{"prompt_tokens":true}}', (None, None, False), id="a boolean"),
        pytest.param(b'{"usage":[1]}', (None, None, False), id="an array"),
        pytest.param(
            b'{"usage":{"prompt_tokens":1.5,"completion_tokens":2}}', (None, 2, False), id="beside"
        ),
        pytest.param(b'{"usage":5,"error":{"message":"x"}}', (None, None, True), id="an error"),
    ],
)
def test_body_head_passes_over_a_usage_it_cannot_read(
    body: bytes, head: tuple[int | None, int | None, bool]
) -> None:
    assert read_body_head(body) == head


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(rb'{"choices":[{"message":{"content":"\ud83d"}}]}', id="in a value"),
        pytest.param(rb'{"\ude00":1}', id="in a name"),
        pytest.param(rb'{"a":"\ud83d\u0041"}', id="before a letter"),
    ],
)
def test_body_head_passes_over_half_a_surrogate_pair(body: bytes) -> None:
    whole = body[:-1] + b',"usage":{"prompt_tokens":4,"completion_tokens":2}}'

    assert read_body_head(whole) == (4, 2, False)


@pytest.mark.parametrize("error", ["null", '""', "{}", "{ }", "[]", "false", "0"])
def test_error_member_that_says_nothing_is_none(error: str) -> None:
    body = f'{{"choices":[],"error":{error}}}'.encode()

    assert read_body_head(body) == (None, None, False)
    assert not _tap((1.0, body)).error
    assert read_reply(body).error is None


@pytest.mark.parametrize("error", ['"x"', "1", "true", '{"code":1e400}', r'"\ud83d"'])
def test_error_member_that_says_anything_is_one(error: str) -> None:
    body = f'{{"choices":[],"error":{error}}}'.encode()

    assert read_body_head(body) == (None, None, True)
    assert read_reply(body).error is not None


@pytest.mark.parametrize(
    "body",
    [b"<html>", b"[1]", b"", b'"text"', b'{"usage":{"prompt_tokens":"x"},"a":NaN}', b"\xff"],
    ids=repr,
)
def test_body_that_is_no_object_is_malformed(body: bytes) -> None:
    with pytest.raises(MalformedBodyReply):
        read_body_head(body)
