import pytest

from proxy.demo.answer import UnreadableAnswer, read_answer


def test_content_and_vendor_fields_are_told_apart() -> None:
    answer = read_answer(b'{"id":"x","choices":[{"message":{"content":"hi"},"logprobs":null}]}')

    assert answer.first.message.content == "hi"


def test_tool_call_reads_like_a_call() -> None:
    call = b'{"id":"1","function":{"name":"weather","arguments":"{}"}}'
    answer = read_answer(b'{"choices":[{"message":{"content":null,"tool_calls":[%s]}}]}' % call)

    assert [str(call) for call in answer.first.message.tool_calls or ()] == ["weather({})"]


def test_chunk_without_choices_has_an_empty_first_choice() -> None:
    assert read_answer(b'{"choices":[],"usage":{}}').first.delta.content is None


@pytest.mark.parametrize("code", [b'"not_json"', b"502"], ids=["text", "number"])
def test_error_names_code_and_message(code: bytes) -> None:
    answer = read_answer(b'{"error":{"message":"no","type":"t","code":%s}}' % code)

    assert str(answer.error) == f"{code.decode().strip(chr(34))}: no"


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"[]",
        b'{"choices":[{"message":"hi"}]}',
        b'{"choices":[{"message":{"content":1}}]}',
    ],
    ids=["html", "array", "text_message", "number_content"],
)
def test_other_bytes_are_unreadable(body: bytes) -> None:
    with pytest.raises(UnreadableAnswer, match="not an answer"):
        read_answer(body)
