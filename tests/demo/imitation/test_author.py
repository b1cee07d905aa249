import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from proxy.demo.imitation.author import Author
from tests.fakes.imitation import CITY, STRICT, TOOL, asked, chance

NO_THINKING = {"enable_thinking": False}


def test_text_is_of_the_length_that_was_asked_for() -> None:
    answer = Author(chance()).answer(asked("A text of 40 words.", chat_template_kwargs=NO_THINKING))

    assert 40 <= len((answer.content or "").split()) <= 60
    assert (answer.reasoning, answer.finish_reason) == ("", "stop")


def test_thinking_comes_first_where_it_is_on() -> None:
    assert Author(chance()).answer(asked()).reasoning


def test_json_satisfies_the_schema() -> None:
    answer = Author(chance()).answer(asked(response_format=STRICT))

    assert Draft202012Validator(CITY).is_valid(json.loads(answer.content or ""))


def test_call_satisfies_the_tool_s_schema() -> None:
    answer = Author(chance()).answer(asked(tools=[TOOL]))

    assert answer.content is None
    assert answer.finish_reason == "tool_calls"
    assert [call.name for call in answer.calls] == ["weather"]
    assert Draft202012Validator(CITY).is_valid(json.loads(answer.calls[0].arguments))


@pytest.mark.parametrize("members", [{}, {"response_format": STRICT}, {"tools": [TOOL]}])
def test_same_chance_writes_the_same_answer(members: dict[str, Any]) -> None:
    first, again = (Author(chance(5)).answer(asked(**members)) for _ in range(2))

    assert first == again
