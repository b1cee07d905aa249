import pytest

from proxy.errors import Fault
from proxy.telemetry.engine_start import (
    AskedBy,
    EngineStartRecord,
    FirstAnswer,
    SampleRole,
    StartSource,
)
from proxy.telemetry.outcome import AttemptStep
from proxy.upstream.sample import Answer, Dispatch, EngineStart, Sample, with_answer

VALID, INVALID, NOTHING = Answer(valid=True), Answer(valid=False, fault="not_json"), Answer(None)
RECORD = EngineStartRecord("main", "1", StartSource.METRICS, 1.0)


class Requests:
    """Sends requests to one engine start and takes their answers."""

    def __init__(self) -> None:
        self.sample = Sample()
        self.record = RECORD

    def send(self, step: str = "first", after: Dispatch | None = None) -> Dispatch:
        follows = after.request_sample if after else None
        role = self.sample.role_of(follows)
        sent = Dispatch(
            start=EngineStart(1),
            cold=True,
            by=AskedBy.REQUEST,
            step=step,
            role=role,
            follows=None if role else follows,
            outages=0,
        )
        if sent.is_sample:
            self.sample.holder = sent
        return sent

    def answer(self, sent: Dispatch, answer: Answer) -> None:
        self.record = with_answer(self.record, self.sample, sent, answer, now=7.0)


def test_first_request_is_the_sample_and_others_meanwhile_are_concurrent() -> None:
    requests = Requests()

    first, second = requests.send(), requests.send()
    requests.answer(first, INVALID)
    third = requests.send()

    roles = [first.role, second.role, third.role]
    assert roles == [SampleRole.FIRST, SampleRole.CONCURRENT, None]


def test_valid_sample_certifies_and_has_no_fault() -> None:
    requests = Requests()

    requests.answer(requests.send(), VALID)

    assert requests.record.first_answer is FirstAnswer.VALID
    assert requests.record.first_by is AskedBy.REQUEST
    assert requests.record.first_fault is None
    assert requests.record.certified_at == 7.0


def test_invalid_sample_keeps_its_fault_and_what_cured_it() -> None:
    requests = Requests()

    first = requests.send()
    requests.answer(first, INVALID)
    second = requests.send("cold", after=first)
    requests.answer(second, INVALID)
    third = requests.send("vary", after=second)
    requests.answer(third, VALID)

    record = requests.record
    assert (record.first_answer, record.first_fault) == (FirstAnswer.INVALID, "not_json")
    assert (record.retry_step, record.retry_valid, record.cured_by) == ("cold", False, "vary")
    assert record.certified_at == 7.0


def test_record_holds_plain_texts_and_no_members_of_closed_sets() -> None:
    requests = Requests()

    first = requests.send()
    requests.answer(first, Answer(valid=False, fault=Fault.LEADING_JUNK))
    requests.answer(requests.send(AttemptStep.VARY, after=first), VALID)

    record = requests.record
    texts = (record.first_fault, record.retry_step, record.cured_by)
    assert texts == ("leading_junk", "vary", "vary")
    assert [type(text) for text in texts] == [str] * 3


def test_retry_that_is_valid_at_once_is_the_cure() -> None:
    requests = Requests()

    first = requests.send()
    requests.answer(first, INVALID)
    requests.answer(requests.send("cold", after=first), VALID)

    record = requests.record
    assert (record.retry_step, record.retry_valid, record.cured_by) == ("cold", True, "cold")


def test_retry_without_a_verdict_is_none() -> None:
    requests = Requests()

    first = requests.send()
    requests.answer(first, INVALID)
    second = requests.send("upstream_fault", after=first)
    requests.answer(second, NOTHING)
    requests.answer(requests.send("vary", after=second), VALID)

    record = requests.record
    assert (record.retry_step, record.retry_valid, record.cured_by) == ("vary", True, "vary")


def test_other_requests_cure_nothing_but_certify() -> None:
    requests = Requests()

    first, concurrent = requests.send(), requests.send()
    requests.answer(first, INVALID)
    requests.answer(requests.send("same", after=concurrent), VALID)

    assert requests.record.certified_at == 7.0
    assert requests.record.retry_step is None
    assert requests.record.cured_by is None


def test_attempt_after_a_valid_sample_is_no_cure() -> None:
    requests = Requests()

    first = requests.send()
    requests.answer(first, VALID)
    requests.answer(requests.send("reask", after=first), VALID)

    assert requests.record.retry_step is None


def test_sample_without_a_verdict_passes_to_the_next() -> None:
    requests = Requests()

    first = requests.send()
    requests.answer(first, NOTHING)
    second = requests.send("upstream_fault", after=first)
    requests.answer(second, VALID)

    assert second.role is SampleRole.FIRST
    assert requests.record.first_answer is FirstAnswer.VALID
    assert requests.record.retry_step is None


@pytest.mark.parametrize(
    ("taken", "expected"), [(False, FirstAnswer.INVALID), (True, FirstAnswer.UNKNOWN)]
)
def test_late_verdict_is_the_samples_unless_another_holds_it(
    taken: bool, expected: FirstAnswer
) -> None:
    requests = Requests()
    first = requests.send()
    requests.answer(first, NOTHING)
    if taken:
        requests.send()

    requests.answer(first, INVALID)

    assert requests.record.first_answer is expected


def test_sample_is_judged_once() -> None:
    requests = Requests()
    first = requests.send()

    requests.answer(first, INVALID)
    requests.answer(first, VALID)
    requests.answer(first, NOTHING)

    assert requests.record.first_answer is FirstAnswer.INVALID
    assert requests.send().role is None


def test_expected_verdict_makes_later_requests_not_concurrent() -> None:
    requests = Requests()
    first = requests.send()

    requests.sample.expect(first)

    assert requests.send().role is None
