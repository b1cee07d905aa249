import json
from typing import Any

import pytest

from proxy.demo.imitation.asked import WrongRequest, read_asked
from tests.fakes.imitation import CITY, STRICT, TOOL, asked, chat


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "validation error"),
        (b'{"messages": []}', "`messages` is missing or empty"),
        (b"[]", "validation error"),
        (b'{"messages": 3}', "validation error"),
        (json.dumps(chat(n=2)).encode(), "one choice"),
        (json.dumps(chat(max_tokens=0)).encode(), "at least 1"),
        (b"[" * 100_000, "validation error"),
        (b"\xff", "validation error"),
    ],
    ids=["cut", "empty", "list", "type", "two choices", "no tokens", "deep", "bytes"],
)
def test_request_that_cannot_be_answered_says_why(body: bytes, message: str) -> None:
    with pytest.raises(WrongRequest, match=message):
        read_asked(body, chat=True)


def test_completion_needs_a_prompt() -> None:
    assert read_asked(b'{"prompt": "Locks"}', chat=False).question == "Locks"
    with pytest.raises(WrongRequest, match="`prompt`"):
        read_asked(b"{}", chat=False)


def test_question_is_the_first_of_the_user() -> None:
    later = [{"role": "assistant", "content": "no"}, {"role": "user", "content": "again"}]
    first = {"role": "user", "content": [{"type": "text", "text": "first"}, {"type": "image_url"}]}

    request = asked(messages=[{"role": "system", "content": "s"}, first, *later])

    assert request.question == "first"


@pytest.mark.parametrize(
    ("members", "thinks"),
    [
        ({}, True),
        ({"chat_template_kwargs": {"enable_thinking": False}}, False),
        ({"chat_template_kwargs": {"enable_thinking": True}}, True),
    ],
)
def test_thinking_is_on_unless_it_is_turned_off(members: dict[str, Any], thinks: bool) -> None:
    assert asked(**members).thinks == thinks


def test_schema_is_the_demanded_one() -> None:
    assert asked(response_format=STRICT).schema == CITY
    assert asked(response_format={"type": "json_object"}).schema == {"type": "object"}
    assert asked().schema is None
    with pytest.raises(WrongRequest, match="schema"):
        _ = asked(response_format={"type": "json_schema"}).schema


@pytest.mark.parametrize(
    ("choice", "called"),
    [
        (None, "weather"),
        ("auto", "weather"),
        ("none", None),
        ({"type": "function", "function": {"name": "other"}}, "other"),
        ({"type": "function", "function": {"name": "absent"}}, None),
    ],
)
def test_tool_is_the_named_or_the_first_one(choice: object, called: str | None) -> None:
    tools = [TOOL, {"type": "function", "function": {"name": "other"}}]

    function = asked(tools=tools, tool_choice=choice).called

    assert (function.name if function else None) == called


def test_longer_prompt_has_more_tokens() -> None:
    assert asked("one two").prompt_tokens < asked("one two three").prompt_tokens
