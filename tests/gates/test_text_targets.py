import pytest

from proxy.gates.text_path import InvalidPath
from proxy.gates.text_targets import Content, FoundText, TextTarget, is_judged
from proxy.wire.reply import Choice, ToolCall

JSON = '{"titel":"T","n":7,"tags":["a",null,"b"]}'


def _found(of: str, content: str | None, *, is_json: bool) -> list[FoundText]:
    return list(TextTarget(of).find(Content(Choice(2, content), is_json=is_json)))


def test_field_has_a_place_for_the_client_and_a_name_for_the_model() -> None:
    place = "choices[2].message.content#/titel"

    assert _found("$.titel", JSON, is_json=True) == [FoundText(place, "$.titel", "T")]


def test_whole_text_is_meant_only_where_no_json_was_promised() -> None:
    place = "choices[2].message.content"

    assert _found("text", "Hallo", is_json=False) == [FoundText(place, "Your text", "Hallo")]
    assert _found("text", JSON, is_json=True) == []
    assert _found("$.titel", JSON, is_json=False) == []


def test_absent_content_is_an_empty_text() -> None:
    assert [found.text for found in _found("text", None, is_json=False)] == [""]


@pytest.mark.parametrize(
    ("of", "content"),
    [
        ("$.fehlt", JSON),
        ("$.n", JSON),
        ("$.tags", JSON),
        ("$.tags[1]", JSON),
        ("$.titel", "kein JSON"),
        ("$.titel", "[" * 100_000),
    ],
    ids=["absent", "number", "list", "null", "no_json", "too_deep"],
)
def test_what_is_no_text_is_passed_over(of: str, content: str) -> None:
    assert _found(of, content, is_json=True) == []


def test_every_item_is_a_text_of_its_own() -> None:
    assert [found.name for found in _found("$.tags[*]", JSON, is_json=True)] == [
        "$.tags[0]",
        "$.tags[2]",
    ]


@pytest.mark.parametrize("of", ["content", "$", "$.a..b"])
def test_anything_else_is_no_target(of: str) -> None:
    with pytest.raises(InvalidPath, match="neither `text` nor a path"):
        TextTarget(of)


@pytest.mark.parametrize(
    ("choice", "judged"),
    [
        (Choice(0, "x", finish_reason="stop"), True),
        (Choice(0, "x", finish_reason="length"), True),
        (Choice(0, None, refusal="no"), False),
        (Choice(0, "x", finish_reason="content_filter"), False),
        (Choice(0, "x", tool_calls=(ToolCall(0, "c", "f", "{}"),)), False),
    ],
    ids=["answer", "cut", "refusal", "filtered", "call"],
)
def test_only_answers_are_judged(choice: Choice, *, judged: bool) -> None:
    assert is_judged(choice) is judged
