import json

from proxy.contract.probe_options import DEFAULT_SCHEMA, Question
from proxy.contract.served_model import ServedModel

SERVED = ServedModel("tiny")


def test_request_asks_the_served_model_for_strict_json() -> None:
    request = Question().request(SERVED, 1)

    wanted = json.loads(request.response_format)
    assert request.model == "tiny"
    assert not request.stream
    assert wanted["json_schema"]["strict"] is True
    assert wanted["json_schema"]["schema"] == DEFAULT_SCHEMA


def test_request_names_no_model_where_nothing_tells_it() -> None:
    assert "model" not in json.loads(Question().request(ServedModel(), 1).body)


def test_case_takes_the_place_of_its_word_in_the_prompt() -> None:
    question = Question("Say {case}, and {case} again.")

    assert b"Say 7, and 7 again." in question.request(SERVED, 7).messages


def test_prompt_without_the_word_has_the_case_before_it() -> None:
    (message,) = json.loads(Question("Which city?").request(SERVED, 7).messages)

    assert message == {"role": "user", "content": "Case 7.\nWhich city?"}


def test_two_cases_are_two_requests() -> None:
    question = Question("Which city?")

    assert question.request(SERVED, 1).body != question.request(SERVED, 2).body


def test_answer_gets_at_most_half_of_a_short_context() -> None:
    question = Question(max_tokens=2048)

    assert question.request(ServedModel("tiny", 1000), 1).token_limit == 500
    assert question.request(ServedModel("tiny", 262_144), 1).token_limit == 2048


def test_further_members_are_part_of_the_request() -> None:
    members = {"temperature": 0, "chat_template_kwargs": {"enable_thinking": False}, "model": "x"}

    request = Question(members=members).request(SERVED, 1)

    assert request.temperature == 0
    assert json.loads(request.chat_template_kwargs) == {"enable_thinking": False}
    assert request.model == "x"
