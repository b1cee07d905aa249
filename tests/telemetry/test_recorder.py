import asyncio
import logging

import pytest

from proxy.telemetry.outcome import Endpoint, Outcome
from proxy.telemetry.record import RecentRequests, RequestRecord
from proxy.telemetry.recorder import Recorder


def _record(name: str) -> RequestRecord:
    return RequestRecord(name, 0.0, Endpoint.CHAT, Outcome.PASSED, 200)


class _Broken:
    def add(self, record: RequestRecord) -> None:
        raise OverflowError(f"a prompt of {record.id}")


async def test_description_is_made_after_a_moment() -> None:
    recent = RecentRequests()
    recorder = Recorder([recent])

    recorder.add(lambda: _record("a"))
    at_once = recent.get("a")
    async with asyncio.timeout(5):
        while recent.get("a") is None:  # noqa: ASYNC110 - a batch has no event
            await asyncio.sleep(0.01)

    assert at_once is None


async def test_flush_records_everything_at_once_and_once() -> None:
    recent = RecentRequests()
    described: list[str] = []
    recorder = Recorder([recent])

    def describe() -> RequestRecord:
        described.append("a")
        return _record("a")

    recorder.add(describe)
    recorder.flush()
    recorder.flush()

    assert recent.get("a")
    assert described == ["a"]


async def test_many_are_written_some_at_a_time_in_their_order() -> None:
    written: list[str] = []

    class Sink:
        def add(self, record: RequestRecord) -> None:
            written.append(record.id)

    recorder = Recorder([Sink()])
    names = [str(number) for number in range(200)]
    for name in names:
        recorder.add(lambda name=name: _record(name))  # type: ignore[misc]
    seen: set[int] = set()
    async with asyncio.timeout(5):
        while len(written) < len(names):
            await asyncio.sleep(0)
            seen.add(len(written))

    assert written == names
    assert len(seen) > 10


async def test_sink_that_raises_costs_the_others_nothing() -> None:
    recent = RecentRequests()
    recorder = Recorder([_Broken(), recent])

    recorder.add(lambda: _record("a"))
    recorder.add(lambda: _record("b"))
    recorder.flush()

    assert recent.get("a")
    assert recent.get("b")
    assert recorder.failed == 2


async def test_description_that_raises_costs_the_others_nothing() -> None:
    recent = RecentRequests()
    recorder = Recorder([recent])

    recorder.add(lambda: _record(str(1 / float("0"))))
    recorder.add(lambda: _record("b"))
    recorder.flush()

    assert recent.get("b")
    assert recorder.failed == 1


async def test_failures_are_logged_once_a_flush_by_type_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    recorder = Recorder([_Broken(), _Broken()])

    with caplog.at_level(logging.ERROR):
        recorder.add(lambda: _record("a"))
        recorder.flush()
        recorder.flush()

    assert caplog.messages == ["Records failed 2 times: OverflowError"]


async def test_failures_are_told_to_whoever_counts_them() -> None:
    told: list[int] = []
    recorder = Recorder([_Broken()], told.append)

    recorder.add(lambda: _record("a"))
    recorder.add(lambda: _record("b"))
    recorder.flush()

    assert told == [2]
