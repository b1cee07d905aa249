from typing import Any

import pytest

from proxy.contract.engine_answer import answer_of
from proxy.contract.judging import Judged
from proxy.errors import Fault
from proxy.gates.base import Repair, Repaired, Result, Verdict
from proxy.upstream.sample import Answer
from proxy.wire.request import Request
from tests.fakes.policies import FakeGate, failed, rule

ASKED = Request(b'{"model":"m","messages":[]}')
NOTHING = Answer(valid=None)


def _answer(verdict: Verdict, request: Request = ASKED) -> Answer:
    return answer_of(request, [Judged(rule(FakeGate(verdict.gate)), verdict, enforced=True)])


def _passed(**more: Any) -> Verdict:
    return Verdict("strict_json", Result.PASS, **more)


def test_answer_that_passes_as_it_was_sent_is_valid() -> None:
    assert _answer(_passed()) == Answer(valid=True)


@pytest.mark.parametrize(
    ("repair", "fault"),
    [
        (Repair.UNWRAP_FENCE, Fault.LEADING_JUNK),
        (Repair.DROP_THINK_TAG, Fault.LEADING_JUNK),
        (Repair.JSON_FROM_REASONING, Fault.IN_REASONING),
    ],
)
def test_repaired_answer_was_not_valid(repair: Repair, fault: Fault) -> None:
    verdict = _passed(repaired={0: Repaired("{}", (repair,))})

    assert _answer(verdict) == Answer(valid=False, fault=fault)


def test_answer_that_fails_is_invalid_with_its_fault() -> None:
    assert _answer(failed(Fault.LEADING_JUNK)) == Answer(valid=False, fault=Fault.LEADING_JUNK)


@pytest.mark.parametrize("fault", [Fault.TRUNCATED, Fault.TOO_LARGE, Fault.TOO_DEEP])
def test_answer_that_a_limit_ended_says_nothing(fault: Fault) -> None:
    assert _answer(failed(fault)) == NOTHING


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"stop":["}"]}', NOTHING),
        (b'{"stop":"}"}', NOTHING),
        (b'{"stop_token_ids":[7]}', NOTHING),
        (b'{"stop":null}', Answer(valid=False, fault=Fault.UNFINISHED)),
        (b'{"stop":[]}', Answer(valid=False, fault=Fault.UNFINISHED)),
        (b"{}", Answer(valid=False, fault=Fault.UNFINISHED)),
        (b"not JSON", Answer(valid=False, fault=Fault.UNFINISHED)),
    ],
)
def test_unfinished_answer_to_a_request_that_names_stops_says_nothing(
    body: bytes, expected: Answer
) -> None:
    assert _answer(failed(Fault.UNFINISHED), Request(body)) == expected


@pytest.mark.parametrize("result", [Result.SKIP, Result.ERROR])
def test_answer_without_a_verdict_says_nothing(result: Result) -> None:
    assert _answer(Verdict("strict_json", result)) == NOTHING


def test_other_gates_say_nothing_about_strict_json() -> None:
    assert _answer(failed(gate="tool_calls")) == NOTHING
    assert answer_of(ASKED, ()) == NOTHING
