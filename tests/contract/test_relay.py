import pytest

from proxy.contract.exchange import Exchange
from proxy.contract.job import Limits
from proxy.contract.policy import Mode, StreamMode
from proxy.errors import BadReply, TimedOut
from proxy.gates.base import Result
from proxy.telemetry.engine_start import FirstAnswer
from proxy.telemetry.outcome import Endpoint, Outcome
from proxy.wire.request import Request
from tests.fakes.job import STREAMED, FakeClient, job_of, new_engine
from tests.fakes.lane import FakeLane, FakeReply, replying
from tests.fakes.policies import FakeGate, failed, policy, rule
from tests.fakes.upstream import Scripted, chunk, completion, stream

PASSING = policy(rule(FakeGate(verdict=failed())), stream=StreamMode.PASS)
OBSERVING = policy(rule(FakeGate(verdict=failed()), mode=Mode.OBSERVE))
EVENTS = "text/event-stream"
ERROR_EVENT = b'data: {"error":{"message":"x"}}\n\n'


async def test_end_of_a_passing_stream_is_withheld_and_becomes_an_error_event() -> None:
    reply = stream(["nonsense"], usage=None)
    client = FakeClient()
    exchange = Exchange(job_of(FakeLane([replying(reply)]), PASSING, STREAMED), client)

    await exchange.run()

    record = exchange.record()
    assert client.body.startswith(b"".join(reply.pieces[:-2]))
    assert b'"not_json"' in client.body
    assert b"[DONE]" not in client.body
    assert b'"finish_reason":"stop"' not in client.body
    assert (record.outcome, record.status) == (Outcome.REJECTED, 200)


async def test_end_of_a_good_passing_stream_comes_after_the_verdict() -> None:
    reply = stream(["x"], usage=None)
    made = policy(rule(FakeGate()), stream=StreamMode.PASS)
    client = FakeClient()

    await Exchange(job_of(FakeLane([replying(reply)]), made, STREAMED), client).run()

    assert client.pieces[-1] == b"".join(reply.pieces[-2:])
    assert client.body == b"".join(reply.pieces)


async def test_whole_reply_in_place_of_a_passing_stream_is_not_sent_before_its_verdict() -> None:
    client = FakeClient()
    lane = FakeLane([replying(completion("nonsense"))])

    await Exchange(job_of(lane, PASSING, STREAMED), client).run()

    assert client.status == 422
    assert b"nonsense" not in client.body


@pytest.mark.parametrize(
    "scripted",
    [
        Scripted((b"data: {}\n\ndata: nonsense\n\n",), content_type=EVENTS),
        Scripted((b'{"choices":7}',)),
    ],
    ids=["event", "choices"],
)
async def test_what_an_enforced_gate_cannot_read_does_not_pass(scripted: Scripted) -> None:
    client = FakeClient()
    lane = FakeLane([replying(scripted), replying(scripted)])

    await Exchange(job_of(lane, PASSING, STREAMED), client).run()

    assert client.status == 502
    assert b"upstream_bad_reply" in client.body


async def test_observed_body_is_sent_first_and_still_certifies_the_engine() -> None:
    engine, told = new_engine()
    made = policy(rule(FakeGate(), mode=Mode.OBSERVE))
    client = FakeClient()
    exchange = Exchange(job_of(FakeLane([replying(completion())]), made, engine=engine), client)

    await exchange.run()

    assert exchange.record().verdicts[0].result == Result.PASS
    assert told.answers == [FirstAnswer.VALID]
    assert not engine.is_cold


@pytest.mark.parametrize(
    "reply",
    [Scripted((b'{"choices":7}',)), Scripted((b'{"error":{}}',), status=400)],
    ids=["no_completion", "refused"],
)
async def test_observing_gate_lets_pass_what_it_cannot_read(reply: Scripted) -> None:
    client = FakeClient()
    exchange = Exchange(job_of(FakeLane([replying(reply)]), OBSERVING), client)

    await exchange.run()

    assert client.body == reply.pieces[0]
    assert exchange.record().verdicts == ()


async def test_observing_gate_lets_a_stream_pass_that_it_cannot_read() -> None:
    pieces = (b"data: nonsense\n\n", chunk({"content": "a"}, "stop"), b"data: [DONE]\n\n")
    reply = replying(Scripted(pieces, content_type=EVENTS))
    client = FakeClient()
    exchange = Exchange(job_of(FakeLane([reply]), OBSERVING, STREAMED), client)

    await exchange.run()

    assert client.body == b"".join(pieces)
    assert exchange.record().verdicts == ()


async def test_error_event_that_is_relayed_ends_the_stream_once() -> None:
    pieces = (chunk({"content": "a"}), ERROR_EVENT, b"data: [DONE]\n\n")
    client = FakeClient()
    exchange = Exchange(
        job_of(FakeLane([replying(Scripted(pieces, content_type=EVENTS))]), None, STREAMED), client
    )

    await exchange.run()

    assert client.body == b"".join(pieces)
    assert exchange.record().outcome is Outcome.UPSTREAM_FAILED


async def test_connection_that_breaks_after_done_has_ended_the_stream() -> None:
    reply = stream(["a"], usage=None)
    client = FakeClient()
    broken = replying(reply, BadReply("The upstream broke off."))
    exchange = Exchange(job_of(FakeLane([broken]), None, STREAMED), client)

    await exchange.run()

    assert client.body == b"".join(reply.pieces)
    assert client.ended
    assert exchange.record().outcome is Outcome.PASSED


async def test_stream_of_a_surface_that_is_not_read_is_copied_as_it_comes() -> None:
    pieces = (b"event: response.created\n", b"data: {}\n\n", b"whatever")
    client = FakeClient()
    reply = replying(Scripted(pieces, content_type=EVENTS))
    job = job_of(FakeLane([reply]), None, STREAMED, endpoint=Endpoint.RESPONSES)

    await Exchange(job, client).run()

    assert client.pieces == [*pieces, b""]
    assert reply.closed == 1


async def test_copied_stream_beyond_the_limit_ends_in_an_error_event() -> None:
    client = FakeClient()
    reply = replying(Scripted([b"x" * 100] * 20, content_type=EVENTS))
    job = job_of(
        FakeLane([reply]), None, STREAMED, endpoint=Endpoint.MESSAGES, limits=Limits(1000, 1000)
    )

    await Exchange(job, client).run()

    assert b'"too_large"' in client.body
    assert client.ended


async def test_empty_stream_is_repeated_and_then_a_502() -> None:
    empty = Scripted((), content_type=EVENTS)
    client = FakeClient()
    lane = FakeLane([replying(empty), replying(empty)])

    await Exchange(job_of(lane, PASSING, STREAMED), client).run()

    assert client.status == 502
    assert len(lane.calls) == 2


async def test_error_event_before_anything_was_sent_is_repeated_once_then_relayed() -> None:
    scripted = Scripted((ERROR_EVENT,), content_type=EVENTS)
    client = FakeClient()
    lane = FakeLane([replying(scripted), replying(scripted)])

    await Exchange(job_of(lane, OBSERVING, STREAMED), client).run()

    assert client.body == ERROR_EVENT
    assert len(lane.calls) == 2


async def test_stream_of_comments_alone_goes_through_and_ends_in_an_error() -> None:
    scripted = Scripted((b": ping\n\n",), content_type=EVENTS)
    client = FakeClient()

    await Exchange(job_of(FakeLane([replying(scripted)]), None, STREAMED), client).run()

    assert client.body.startswith(b": ping\n\ndata: ")
    assert b"stream_unfinished" in client.body


async def test_usage_chunks_with_choices_are_not_hidden() -> None:
    usage = (
        b'data: {"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":1}}\n\n'
    )
    pieces = (usage, chunk({}, "stop"), b"data: [DONE]\n\n")
    client = FakeClient()
    reply = replying(Scripted(pieces, content_type=EVENTS))

    await Exchange(job_of(FakeLane([reply]), None, STREAMED), client).run()

    assert client.body == b"".join(pieces)


async def test_idle_upstream_in_a_stream_is_a_timeout() -> None:
    reply = FakeReply(
        (chunk({"content": "a"}),), is_stream=True, error=TimedOut("silent"), headers=()
    )
    client = FakeClient()
    exchange = Exchange(job_of(FakeLane([reply]), OBSERVING, STREAMED), client)

    await exchange.run()

    assert exchange.record().outcome is Outcome.TIMED_OUT
    assert b"timeout_error" in client.body


async def test_look_up_without_a_body_is_relayed() -> None:
    client = FakeClient()
    reply = replying(Scripted((b'{"data":[]}',)))

    await Exchange(
        job_of(FakeLane([reply]), None, Request(b""), endpoint=Endpoint.OTHER), client
    ).run()

    assert client.body == b'{"data":[]}'


async def test_error_beside_usage_is_not_hidden_with_it() -> None:
    event = b'data: {"choices":[],"usage":{"prompt_tokens":1},"error":{"message":"x"}}\n\n'
    client = FakeClient()
    lane = FakeLane([replying(Scripted((event,), content_type=EVENTS))])

    await Exchange(job_of(lane, None, STREAMED), client).run()

    assert client.body == event
    assert client.ended
