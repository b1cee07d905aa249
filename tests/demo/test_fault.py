from collections.abc import Sequence
from types import TracebackType
from typing import Self

import pytest
from typing_extensions import override

from proxy.demo.fault import FAULT_HEADER, BrokenBrace, FaultyLane
from proxy.upstream.lane import Call, Headers, Lane, UpstreamReply

BODY = b'{"choices":[{"message":{"role":"assistant","content":"{\\n \\"a\\": {}}"}}]}'
CHANGED = b'{"choices":[{"message":{"role":"assistant","content":"[\\n \\"a\\": {}}"}}]}'
STREAM = (
    b'data: {"choices":[{"delta":{"role":"assistant","content":null}}]}\n\n'
    b'data: {"choices":[{"delta":{"content":""}}]}\n\n'
    b'data: {"choices":[{"delta":{"content":" {"}}]}\n\n'
    b'data: {"choices":[{"delta":{"content":"{}}"}}]}\n\n'
)
CHANGED_STREAM = STREAM.replace(b'" {"', b'" ["')


class FakeReply(UpstreamReply):
    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = list(pieces)
        self.left = False

    @property
    @override
    def status(self) -> int:
        return 200

    @property
    @override
    def headers(self) -> Headers:
        return [("content-type", "application/json")]

    @property
    @override
    def is_stream(self) -> bool:
        return False

    @property
    @override
    def is_over(self) -> bool:
        return False

    @override
    async def chunk(self) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""

    @override
    def __enter__(self) -> Self:
        return self

    @override
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.left = True


class FakeLane(Lane):
    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.replies: list[FakeReply] = []
        self.closed = False

    @property
    @override
    def name(self) -> str:
        return "main"

    @property
    @override
    def speaks_vllm(self) -> bool:
        return True

    @override
    async def open(self, call: Call) -> UpstreamReply:
        self.calls.append(call)
        self.replies.append(FakeReply([BODY[:40], BODY[40:]]))
        return self.replies[-1]

    @override
    async def close(self) -> None:
        self.closed = True


def call_with(*headers: tuple[str, str]) -> Call:
    return Call("POST", "/v1/chat/completions", headers, b"{}")


async def read(lane: Lane, call: Call) -> bytes:
    read = b""
    with await lane.open(call) as reply:
        while piece := await reply.chunk():
            read += piece
    return read


@pytest.mark.parametrize(
    ("sent", "received"), [(BODY, CHANGED), (STREAM, CHANGED_STREAM)], ids=["body", "stream"]
)
def test_one_byte_changes_wherever_the_bytes_are_cut(sent: bytes, received: bytes) -> None:
    for cut in range(len(sent) + 1):
        fault = BrokenBrace()

        changed = fault.change(sent[:cut]) + fault.change(sent[cut:])

        assert changed == received


def test_byte_by_byte_changes_the_same_byte() -> None:
    fault = BrokenBrace()

    changed = b"".join(fault.change(BODY[place : place + 1]) for place in range(len(BODY)))

    assert changed == CHANGED


def test_brace_after_a_long_beginning_is_found() -> None:
    beginning = b'{"id":"' + b"x" * 1000 + b'",'
    fault = BrokenBrace()

    changed = fault.change(beginning) + fault.change(BODY[1:])

    assert changed == beginning + CHANGED[1:]


@pytest.mark.parametrize(
    "body",
    [
        b'{"choices":[{"message":{"content":"prose"}}]}',
        b'{"choices":[{"message":{"content":null}}]}',
        b'{"choices":[{"message":{"reasoning_content":"{}"}}]}',
        b"",
    ],
    ids=["prose", "null", "reasoning", "empty"],
)
def test_reply_without_an_opening_brace_is_unchanged(body: bytes) -> None:
    assert BrokenBrace().change(body) == body


async def test_first_attempt_is_changed_and_the_second_is_not() -> None:
    lane = FaultyLane(FakeLane())
    call = call_with(("x-request-id", "a"), (FAULT_HEADER, "once"))

    first, second = await read(lane, call), await read(lane, call)

    assert (first, second) == (CHANGED, BODY)


async def test_another_labelled_request_has_its_own_first_attempt() -> None:
    lane = FaultyLane(FakeLane())
    await read(lane, call_with(("x-request-id", "a"), (FAULT_HEADER, "once")))

    other = await read(lane, call_with(("x-request-id", "b"), (FAULT_HEADER, "once")))

    assert other == CHANGED


@pytest.mark.parametrize(
    "headers", [(), ((FAULT_HEADER, "never"),)], ids=["no_header", "other_value"]
)
async def test_unlabelled_request_passes_unchanged(headers: tuple[tuple[str, str], ...]) -> None:
    inner = FakeLane()
    call = call_with(*headers)

    received = await read(FaultyLane(inner), call)

    assert received == BODY
    assert inner.calls == [call]


async def test_label_never_reaches_the_upstream() -> None:
    inner = FakeLane()

    await read(FaultyLane(inner), call_with((FAULT_HEADER, "once"), ("accept", "*/*")))

    assert inner.calls[0].headers == [("accept", "*/*")]


async def test_lane_and_reply_look_like_the_ones_inside() -> None:
    inner = FakeLane()
    lane = FaultyLane(inner)

    with await lane.open(call_with((FAULT_HEADER, "once"))) as reply:
        seen = (lane.name, reply.status, reply.headers, reply.is_stream)
    await lane.close()

    assert seen == ("main", 200, [("content-type", "application/json")], False)
    assert inner.replies[0].left
    assert inner.closed
