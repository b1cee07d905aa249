import json
from typing import Any

import pytest

from proxy.gates.call_history import broken_history


def _places(*arguments: Any) -> list[str]:
    calls = [{"function": {"name": "look", "arguments": each}} for each in arguments]
    messages = [{"role": "user", "content": "Hi."}, {"role": "assistant", "tool_calls": calls}]
    return list(broken_history(json.dumps(messages).encode()))


def test_place_of_a_cut_call_is_told() -> None:
    assert _places("{}", '{"a":"b') == ["messages[1].tool_calls[1].function.arguments"]


@pytest.mark.parametrize("arguments", [" ", "{'a':1}", "[" * 100_000], ids=["blank", "", "deep"])
def test_what_no_json_reader_takes_is_broken(arguments: str) -> None:
    assert len(_places(arguments)) == 1


@pytest.mark.parametrize("arguments", ["", None, {"a": 1}, '{"a":1}', "NaN", "7"])
def test_what_vllm_reads_is_not_broken(arguments: Any) -> None:
    assert _places(arguments) == []


@pytest.mark.parametrize(
    "messages",
    [
        b"",
        b'[{"content":"Hi."}]',
        b'"tool_calls"',
        b'[7,{"tool_calls":null},{"tool_calls":[7,{},{"function":7}]}]',
    ],
    ids=["absent", "no-calls", "no-list", "ill-typed"],
)
def test_history_without_calls_is_sound(messages: bytes) -> None:
    assert list(broken_history(messages)) == []


def test_lone_surrogates_do_not_hide_a_broken_call() -> None:
    messages = rb'["\ud83d",{"tool_calls":[{"function":{"arguments":"{"}}]}]'

    assert list(broken_history(messages)) == ["messages[1].tool_calls[0].function.arguments"]
