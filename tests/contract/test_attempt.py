from dataclasses import replace

import pytest

from proxy.contract.attempt import Attempt
from proxy.contract.judging import Judged
from proxy.errors import BadReply
from proxy.gates.base import Result, Verdict
from proxy.telemetry.outcome import AttemptResult, AttemptStep
from proxy.wire.sse import Event
from tests.fakes.policies import failed, rule

PASSED = Verdict("strict_json", Result.PASS)


def _attempt(verdict: Verdict | None = None, *, enforced: bool = True) -> Attempt:
    attempt = Attempt(2, AttemptStep.VARY, began=1.0, ended=3.0, status=200)
    if verdict is not None:
        attempt.judged = (Judged(rule(), verdict, enforced),)
    return attempt


@pytest.mark.parametrize(
    ("attempt", "result"),
    [
        (_attempt(), AttemptResult.RELAYED),
        (_attempt(PASSED), AttemptResult.VALID),
        (_attempt(failed()), AttemptResult.INVALID),
        (_attempt(failed(), enforced=False), AttemptResult.RELAYED),
        (replace(_attempt(), status=404), AttemptResult.UPSTREAM_FAULT),
        (replace(_attempt(), error=BadReply("x")), AttemptResult.UPSTREAM_FAULT),
        (replace(_attempt(), abandoned=True), AttemptResult.ABANDONED),
    ],
    ids=["relayed", "valid", "invalid", "observed", "refused", "broken", "abandoned"],
)
def test_record_says_how_the_attempt_came_out(attempt: Attempt, result: AttemptResult) -> None:
    record = attempt.record()

    assert (record.number, record.step, record.seconds) == (2, AttemptStep.VARY, 2.0)
    assert record.result is result


def test_faults_are_those_of_gates_and_of_the_upstream() -> None:
    attempt = replace(_attempt(failed()), error=BadReply("x"))

    assert attempt.record().faults == ("not_json", "upstream_bad_reply")


def test_error_of_the_server_is_a_fault() -> None:
    attempt = replace(_attempt(), status=500, is_server_fault=True)

    assert attempt.record().faults == ("upstream_bad_reply",)


def test_first_response_counts_only_where_the_upstream_replied() -> None:
    good = replace(_attempt(), first_byte=1.5)

    assert good.record().ttfr_seconds == pytest.approx(0.5)
    assert replace(good, status=500).record().ttfr_seconds is None
    assert replace(good, error=BadReply("x")).record().ttfr_seconds is None


def test_tokens_of_a_stream_without_usage_are_estimated_by_its_events() -> None:
    attempt = replace(_attempt(), events=[Event(b"", b"")] * 4)

    before = attempt.spent_tokens
    attempt.tap.completion_tokens = 9

    assert (before, attempt.spent_tokens) == (4, 9)
