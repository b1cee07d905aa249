import json
from typing import Any

import pytest

from proxy.gates.reply_texts import ReplyText, string_values, texts_of_choice
from proxy.wire.reply import Choice

PLACE = "choices[0].message.content"


@pytest.mark.parametrize(
    "content",
    ["Ulm liegt an der Donau.", "", "[1] Stadtarchiv", '{"titel": "Ul', "[" * 100_000, '"Ulm"'],
    ids=["prose", "empty", "mark", "cut", "deep", "string"],
)
def test_content_that_is_no_object_is_one_text(content: str) -> None:
    assert texts_of_choice(Choice(0, content)) == [ReplyText(PLACE, content)]


def test_reply_without_content_has_an_empty_text() -> None:
    assert texts_of_choice(Choice(0, None)) == [ReplyText(PLACE, "")]


def test_string_values_of_a_json_answer_are_its_texts() -> None:
    document = {"titel": "Ulm", "n": 7, "a/b": [{"~": "x"}, "y", None, True]}

    texts = texts_of_choice(Choice(1, json.dumps(document)))

    assert texts == [
        ReplyText("choices[1].message.content#/titel", "Ulm"),
        ReplyText("choices[1].message.content#/a~1b/0/~0", "x"),
        ReplyText("choices[1].message.content#/a~1b/1", "y"),
    ]


def test_deep_document_needs_no_stack() -> None:
    document: Any = "x"
    for _ in range(5000):
        document = [document]

    assert [text for _, text in string_values(document)] == ["x"]
