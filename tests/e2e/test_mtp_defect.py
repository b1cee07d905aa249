"""The strict-JSON defect of real vLLM under MTP: the gate finds it, and nothing else, in the text.

What clients get is in `test_mtp_defect_surfaces.py`.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from proxy.errors import Fault
from proxy.gates.base import Repair, Result
from proxy.gates.strict_json import StrictJsonGate, StrictJsonOptions
from proxy.wire.reply import read_reply
from proxy.wire.request import Request, read_request
from tests.fakes.mtp_defect import Recording, as_mtp_sends, bad, good

PLACE: Final = "choices[0].message.content"
TWICE: Final = "the document begins twice"
REPAIRS: Final = (Repair.UNWRAP_FENCE, Repair.DROP_THINK_TAG, Repair.JSON_FROM_REASONING)
GATE: Final = StrictJsonGate(StrictJsonOptions())
MENDING_GATE: Final = StrictJsonGate(StrictJsonOptions(repair=REPAIRS))


def _as_object(one: Recording) -> dict[str, Any]:
    return one.asked | {"response_format": {"type": "json_object"}}


def _as_structured_outputs(one: Recording) -> dict[str, Any]:
    return one.request | {"structured_outputs": {"json": one.schema}}


def _as_structured_object(one: Recording) -> dict[str, Any]:
    return one.request | {"structured_outputs": {"json_object": True}}


# The ways in which the same answer can have been asked for as JSON.
ASKINGS: Final[tuple[Callable[[Recording], dict[str, Any]], ...]] = (
    lambda one: one.asked,
    _as_object,
    _as_structured_outputs,
    _as_structured_object,
)


def _params(named: dict[str, Recording]) -> list[Any]:
    return [pytest.param(one, id=name) for name, one in named.items()]


def _request(body: dict[str, Any]) -> Request:
    return read_request(json.dumps(body).encode())


def test_recordings_are_those_of_the_measured_starts() -> None:
    """The bad ones are all that the table in docs/cold-start.md counts, and four unsteered."""
    invalid = Counter((one.start, one.mtp, one.accept, one.steered) for one in bad().values())

    assert (len(bad()), len(good())) == (66, 51)
    assert invalid == {
        (2, 1, "0.7", True): 21 - 16,
        (2, 1, "1.0", True): 21 - 13,
        (3, 1, "0.7", True): 21 - 15,
        (3, 1, "1.0", True): 21 - 13,
        (4, 1, "0.7", True): 21 - 19,
        (4, 1, "1.0", True): 21 - 9,
        (7, 2, "0.7", True): 21 - 12,
        (7, 2, "1.0", True): 21 - 9,
        (3, 1, "1.0", False): 4,
    }
    assert all(one.thinking for one in bad().values())
    assert {one.think_end for one in bad().values() if one.steered} == {"draft"}


@pytest.mark.parametrize("one", _params(bad()))
def test_bad_answer_is_a_beginning_and_then_the_whole_document(one: Recording) -> None:
    """So the text itself says what the fault is: something stands before the document."""
    answer = one.content.lstrip()
    document = answer.removeprefix(one.repeated)

    assert one.repeated
    assert answer == one.repeated + document
    assert document.startswith(one.repeated)
    assert Draft202012Validator(one.schema).is_valid(json.loads(document))
    assert one.fault is Fault.LEADING_JUNK


@pytest.mark.parametrize("one", _params(good()))
def test_good_answer_is_the_document(one: Recording) -> None:
    assert Draft202012Validator(one.schema).is_valid(json.loads(one.content))
    assert (one.repeated, one.fault) == ("", None)


@pytest.mark.parametrize("one", _params(bad()))
def test_gate_finds_the_defect_however_json_was_asked_for_and_no_repair_hides_it(
    one: Recording,
) -> None:
    reply, requests = read_reply(one.raw), [_request(asking(one)) for asking in ASKINGS]

    verdicts = [gate.judge(reply, asked) for gate in (GATE, MENDING_GATE) for asked in requests]

    assert {(found.result, found.fault, found.place) for found in verdicts} == {
        (Result.FAIL, one.fault, PLACE)
    }
    assert all(TWICE in found.reason for found in verdicts)


@pytest.mark.parametrize("one", _params(good()))
def test_gate_passes_good_answers_of_the_same_engine(one: Recording) -> None:
    reply, requests = read_reply(one.raw), [_request(asking(one)) for asking in ASKINGS]

    verdicts = [MENDING_GATE.judge(reply, asked) for asked in requests]

    assert [(found.result, found.repaired) for found in verdicts] == [(Result.PASS, {})] * 4


@pytest.mark.parametrize("one", _params(bad()))
def test_watch_finds_the_defect_at_one_character_wherever_the_stream_is_cut(one: Recording) -> None:
    request, content = _request(one.asked), one.content
    cuts = [[content], as_mtp_sends(one), list(content)]
    cuts += [[content[:at], content[at:]] for at in range(1, len(content))]

    alarms = {_first_alarm(pieces, request) for pieces in cuts}

    assert len(alarms) == 1
    assert TWICE in (alarms.pop() or "")


@pytest.mark.parametrize("one", _params(good()))
def test_watch_is_silent_on_good_answers_wherever_they_are_cut(one: Recording) -> None:
    request, content = _request(one.asked), one.content
    cuts = [as_mtp_sends(one), list(content)]
    cuts += [[content[:at], content[at:]] for at in range(1, len(content))]

    assert {_first_alarm(pieces, request) for pieces in cuts} == {None}


def _first_alarm(pieces: Sequence[str], request: Request) -> str | None:
    watch = MENDING_GATE.watch(request)
    assert watch is not None
    verdicts = (watch.feed(0, piece) for piece in pieces)
    alarm = next((verdict for verdict in verdicts if verdict is not None), None)
    return alarm.reason if alarm else None
