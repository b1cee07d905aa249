from proxy.telemetry.outcome import AttemptStep, Endpoint
from tests.fakes.job import job_of
from tests.fakes.lane import FakeLane
from tests.fakes.policies import policy


def test_repeated_calls_say_which_attempt_they_are() -> None:
    job = job_of(FakeLane())

    first = job.call(b"a", 1, AttemptStep.FIRST)
    second = job.call(b"b", 2, AttemptStep.VARY)

    assert first.headers == [("x-request-id", "r-1")]
    assert second.headers == [("x-request-id", "r-1"), ("x-sluicegate-attempt", "2; vary")]


def test_request_without_a_policy_is_asked_once() -> None:
    assert job_of(FakeLane()).attempts.max_attempts == 1
    assert job_of(FakeLane(), policy()).attempts.max_attempts == 3


def test_only_chat_and_completions_are_streams_of_chunks() -> None:
    read = [e for e in Endpoint if job_of(FakeLane(), endpoint=e).reads_events]

    assert read == [Endpoint.CHAT, Endpoint.COMPLETIONS]
