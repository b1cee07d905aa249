import json

import pytest

from proxy.demo.imitation.answer import Answer, CallMade
from proxy.demo.imitation.damage import damaged
from proxy.demo.imitation.faults import MadeFault

JSON = '{"title": "A lock", "teaser": "It is 110 metres long."}'
GOOD = Answer(JSON)
CALLING = Answer(None, "", (CallMade("call-1", "weather", '{"city": "Marren"}'),), "tool_calls")


@pytest.mark.parametrize(
    ("fault", "begin"),
    [
        (MadeFault.DOUBLED_BRACE, "{{"),
        (MadeFault.THINK_TAG, "</think>"),
        (MadeFault.FENCED, "```json\n{"),
        (MadeFault.NOT_JSON, "Of course."),
    ],
)
def test_json_gets_a_bad_beginning(fault: MadeFault, begin: str) -> None:
    content = damaged(GOOD, fault).content or ""

    assert content.startswith(begin)
    with pytest.raises(ValueError, match=r"Exp"):
        json.loads(content)


def test_unfinished_json_ends_in_its_midst() -> None:
    content = damaged(GOOD, MadeFault.UNFINISHED).content or ""

    assert JSON.startswith(content)
    assert len(content) < len(JSON)


def test_runaway_is_a_long_run_of_white_space() -> None:
    assert (damaged(GOOD, MadeFault.WHITESPACE_RUNAWAY).content or "").endswith("\n" * 100)


def test_last_text_of_a_document_becomes_too_long() -> None:
    document = json.loads(damaged(GOOD, MadeFault.TOO_LONG).content or "")

    assert document["title"] == "A lock"
    assert len(document["teaser"]) > 40


def test_number_is_put_where_another_stood() -> None:
    document = json.loads(damaged(GOOD, MadeFault.UNSUPPORTED_NUMBER).content or "")

    assert document["teaser"] == "It is 48317 metres long."
    assert damaged(Answer("Boats."), MadeFault.UNSUPPORTED_NUMBER).content == "Boats. 48317"


def test_document_without_a_text_stays_as_it_is() -> None:
    assert damaged(Answer("[1]"), MadeFault.TOO_LONG).content == "[1]"


def test_mangled_arguments_are_no_json() -> None:
    call = damaged(CALLING, MadeFault.MANGLED_ARGUMENTS).calls[0]

    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(call.arguments)


def test_call_in_text_leaves_no_call() -> None:
    answer = damaged(CALLING, MadeFault.CALL_IN_TEXT)

    assert (answer.calls, answer.finish_reason) == ((), "stop")
    assert "<tool_call>" in (answer.content or "")
    assert '"Marren"' in (answer.content or "")


@pytest.mark.parametrize("fault", [None, MadeFault.SERVER_ERROR, MadeFault.STREAM_CUT])
def test_fault_of_the_transport_changes_no_answer(fault: MadeFault | None) -> None:
    assert damaged(GOOD, fault) == GOOD
    assert damaged(CALLING, fault) == CALLING
