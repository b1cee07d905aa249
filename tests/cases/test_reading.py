"""Reading a reply as a client does."""

import pytest

from tests.cases.reading import is_strict_json, read_told

STREAM = "text/event-stream"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_line_ends_and_comments_change_nothing(end: str) -> None:
    lines = [": hi", "", 'data:{"choices":[{"index":1,', 'data: "delta":{"content":"é"}}]}', ""]

    told = read_told((end.join([*lines, "data: [DONE]", "", ""])).encode(), STREAM)

    assert told.content == {1: "é"}
    assert told.done


def test_event_without_its_blank_line_is_not_read() -> None:
    assert not read_told(b"data: [DONE]\n", STREAM).done


@pytest.mark.parametrize(
    "text",
    ['{"a":1,"a":2}', "NaN", '"\\ud83d"', "{} {}", '"a\nb"', ""],
    ids=["doubled_key", "not_finite", "half_a_pair", "two_documents", "raw_control", "empty"],
)
def test_what_lenient_readers_take_is_not_strict(text: str) -> None:
    assert is_strict_json(text) == (False, None)


def test_document_is_strict_json() -> None:
    assert is_strict_json(' {"a": [1, "\\ud83d\\ude80"]} ') == (True, {"a": [1, "🚀"]})
