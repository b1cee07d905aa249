import json
from dataclasses import replace
from typing import Any

import pytest

from proxy.contract.policy import Vary
from proxy.contract.steps import Draft, Variation, body_for
from proxy.telemetry.outcome import AttemptStep
from proxy.wire.reply import Choice, ToolCall
from proxy.wire.request import read_request
from tests.fakes.policies import ATTEMPTS

DRAFT = Draft(Choice(0, '{"a":'), "Close the object.")
VARIATION = Variation(ATTEMPTS.vary)
BODY = (
    b'{ "model":"Qwen/Qwen3.6-35B-A3B-FP8","temperature":0.0, "x_vendor":1.0e+2,'
    b'"messages":[{"role":"system","content":"S"},{"role":"user","content":"U"}] }'
)


def _made(step: AttemptStep, body: bytes = BODY, variation: Variation = VARIATION) -> Any:
    return json.loads(body_for(step, body, read_request(body), variation, DRAFT))


@pytest.mark.parametrize("step", [AttemptStep.SAME, AttemptStep.COLD, AttemptStep.UPSTREAM_FAULT])
def test_repetition_is_identical_to_the_byte(step: AttemptStep) -> None:
    assert body_for(step, BODY, read_request(BODY), VARIATION, DRAFT) == BODY


def test_vary_sets_seed_raises_temperature_and_turns_thinking_off() -> None:
    made = _made(AttemptStep.VARY)

    assert isinstance(made["seed"], int)
    assert made["temperature"] == 0.3
    assert made["chat_template_kwargs"] == {"enable_thinking": False}


def test_vary_leaves_every_other_byte() -> None:
    made = body_for(AttemptStep.VARY, BODY, read_request(BODY), VARIATION, DRAFT)

    assert b'"x_vendor":1.0e+2' in made


def test_vary_never_lowers_a_temperature_and_sets_none_where_none_was() -> None:
    warm = BODY.replace(b"0.0", b"0.9")
    none = BODY.replace(b'"temperature":0.0, ', b"")

    assert _made(AttemptStep.VARY, warm)["temperature"] == 0.9
    assert "temperature" not in _made(AttemptStep.VARY, none)


def test_each_vary_has_another_seed() -> None:
    assert _made(AttemptStep.VARY)["seed"] != _made(AttemptStep.VARY)["seed"]


@pytest.mark.parametrize(
    "chosen",
    [
        b'"chat_template_kwargs":{"enable_thinking":true}',
        b'"chat_template_kwargs":{"thinking_budget":5}',
        b'"reasoning_effort":"high"',
    ],
    ids=["on", "budget", "effort"],
)
def test_vary_respects_the_client_s_choice_of_thinking(chosen: bytes) -> None:
    body = BODY.replace(b'"x_vendor":1.0e+2', chosen)

    made = _made(AttemptStep.VARY, body)

    assert made.get("chat_template_kwargs") == json.loads(body).get("chat_template_kwargs")


def test_vary_keeps_other_template_arguments() -> None:
    body = BODY.replace(b'"x_vendor":1.0e+2', b'"chat_template_kwargs":{"tone":"dry"}')

    made = _made(AttemptStep.VARY, body)

    assert made["chat_template_kwargs"] == {"tone": "dry", "enable_thinking": False}


def test_thinking_switch_is_not_sent_to_other_models() -> None:
    body = BODY.replace(b"Qwen/Qwen3.6-35B-A3B-FP8", b"tiny")

    assert "chat_template_kwargs" not in _made(AttemptStep.VARY, body)


def test_recipe_tells_the_model_of_a_request_by_an_alias() -> None:
    body = BODY.replace(b"Qwen/Qwen3.6-35B-A3B-FP8", b"main")
    variation = Variation(ATTEMPTS.vary, recipe_model="Qwen/Qwen3.6-35B-A3B-FP8")

    made = _made(AttemptStep.VARY, body, variation)

    assert made["chat_template_kwargs"] == {"enable_thinking": False}


def test_vary_changes_only_what_the_policy_names() -> None:
    nothing = Vary(fresh_seed=False, min_temperature=None, thinking_off=False)

    assert _made(AttemptStep.VARY, variation=Variation(nothing)) == json.loads(BODY)


def test_reask_appends_draft_and_correction_as_one_exchange() -> None:
    made = _made(AttemptStep.REASK)

    assert made["messages"][:2] == json.loads(BODY)["messages"]
    assert made["messages"][2:] == [
        {"role": "assistant", "content": '{"a":'},
        {"role": "user", "content": "Close the object."},
    ]


def test_reask_writes_tool_calls_as_text() -> None:
    call = ToolCall(0, "c1", "get_weather", '{"city":"Ulm"}')
    draft = replace(DRAFT, choice=Choice(0, None, tool_calls=(call,)))

    made = json.loads(body_for(AttemptStep.REASK, BODY, read_request(BODY), VARIATION, draft))

    assert made["messages"][2] == {"role": "assistant", "content": 'get_weather({"city":"Ulm"})'}


@pytest.mark.parametrize("choice", [None, Choice(0, None)], ids=["no_reply", "no_content"])
def test_reask_of_an_empty_draft_keeps_turns_alternating(choice: Choice | None) -> None:
    draft = replace(DRAFT, choice=choice)

    made = json.loads(body_for(AttemptStep.REASK, BODY, read_request(BODY), VARIATION, draft))

    assert [turn["role"] for turn in made["messages"]] == ["system", "user", "assistant", "user"]


def test_reask_of_a_lone_surrogate_can_be_sent() -> None:
    draft = replace(DRAFT, choice=Choice(0, "\ud83d"))

    made = body_for(AttemptStep.REASK, BODY, read_request(BODY), VARIATION, draft)

    assert b"\\ud83d" in made
