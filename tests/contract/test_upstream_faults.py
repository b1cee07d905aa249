import pytest

from proxy.contract.attempt import Attempt
from proxy.contract.upstream_faults import (
    client_status,
    may_repeat,
    refuse_unreadable,
    too_large,
    was_accepted,
)
from proxy.errors import BadReply, Fault, TimedOut, Unreachable, UpstreamError
from proxy.telemetry.outcome import AttemptStep
from tests.fakes.lane import FakeReply

OVERFLOW = b'{"error":{"message":"This model\'s maximum context length is 8192 tokens."}}'


def _attempt(
    status: int = 200, body: bytes = b"", error: UpstreamError | None = None, *, cold: bool = False
) -> Attempt:
    attempt = Attempt(1, AttemptStep.FIRST, began=0.0, cold=cold)
    attempt.status, attempt.body, attempt.error = status, body, error
    return attempt


@pytest.mark.parametrize(
    ("attempt", "again"),
    [
        (_attempt(error=Unreachable("x")), True),
        (_attempt(error=BadReply("x")), True),
        (_attempt(error=TimedOut("x")), False),
        (_attempt(error=too_large(1, "reply")), False),
        (_attempt(502), True),
        (_attempt(503), True),
        (_attempt(500, cold=True), True),
        (_attempt(500), False),
        (_attempt(500, OVERFLOW, cold=True), False),
        (_attempt(504), False),
        (_attempt(400), False),
        (_attempt(429), False),
    ],
)
def test_fault_is_repeated_only_where_nothing_was_generated(attempt: Attempt, again: bool) -> None:
    assert may_repeat(attempt) is again


@pytest.mark.parametrize(
    ("status", "body", "shown"),
    [(500, OVERFLOW, 400), (500, b"down", 500), (404, OVERFLOW, 404)],
)
def test_context_overflow_is_the_client_s_fault(status: int, body: bytes, shown: int) -> None:
    assert client_status(_attempt(status, body)) == shown


@pytest.mark.parametrize(
    ("status", "judged"),
    [(301, False), (307, True), (101, False), (999, False), (600, False), (204, True), (201, True)],
)
def test_reply_that_must_not_be_handed_on_is_refused(status: int, judged: bool) -> None:
    with pytest.raises(BadReply, match=str(status)) as refused:
        refuse_unreadable(FakeReply(status=status), judged=judged)

    assert refused.value.code == Fault.UPSTREAM_BAD_REPLY


@pytest.mark.parametrize(
    ("status", "judged"), [(200, True), (204, False), (304, False), (404, True), (503, True)]
)
def test_other_replies_are_not_refused(status: int, judged: bool) -> None:
    refuse_unreadable(FakeReply(status=status), judged=judged)


def test_compressed_reply_is_refused_only_where_a_gate_must_read_it() -> None:
    gzip = FakeReply(headers=[("content-encoding", "GZIP")])

    refuse_unreadable(gzip, judged=False)
    with pytest.raises(BadReply, match="compressed"):
        refuse_unreadable(gzip, judged=True)


def test_identity_is_no_compression() -> None:
    refuse_unreadable(FakeReply(headers=[("content-encoding", "identity")]), judged=True)


@pytest.mark.parametrize(
    ("attempt", "accepted"),
    [
        (_attempt(), True),
        (_attempt(error=Unreachable("x")), False),
        (_attempt(error=BadReply("x")), True),
        (_attempt(error=TimedOut("x")), True),
        (_attempt(502), False),
        (_attempt(503), False),
        (_attempt(503, OVERFLOW), True),
        (_attempt(500, cold=True), True),
        (_attempt(504), True),
        (_attempt(429), True),
    ],
)
def test_call_was_accepted_unless_it_reached_no_engine(attempt: Attempt, accepted: bool) -> None:
    assert was_accepted(attempt) is accepted
