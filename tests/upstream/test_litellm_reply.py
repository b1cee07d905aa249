import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from proxy.errors import BadReply, Fault, TimedOut
from proxy.upstream.litellm_reply import Chunks, StreamedReply, WholeReply


@dataclass
class _Choice:
    finish_reason: str | None = None


@dataclass
class _Chunk:
    text: str
    choices: list[_Choice] = field(default_factory=list)

    def model_dump_json(self, *, warnings: bool) -> str:
        assert not warnings
        return json.dumps({"text": self.text})


class _Stream:
    """As litellm's: items are given out, exceptions among them raised; None is silence."""

    def __init__(self, *items: _Chunk | Exception | None, finish: str | None = "stop") -> None:
        self._items = list(items)
        self.received_finish_reason = finish
        self.closed = False

    async def __anext__(self) -> _Chunk:
        if not self._items:
            raise StopAsyncIteration
        item = self._items.pop(0)
        if item is None:
            await asyncio.Event().wait()
        if isinstance(item, Exception):
            raise item
        assert item is not None
        return item

    async def aclose(self) -> None:
        self.closed = True


async def _reply(stream: _Stream, idle_seconds: float = 60) -> tuple[StreamedReply, list[Chunks]]:
    chunks = Chunks(stream)
    dropped: list[Chunks] = []
    return StreamedReply(chunks, await chunks.next_event(), idle_seconds, dropped.append), dropped


async def _all(reply: StreamedReply | WholeReply) -> Sequence[bytes]:
    pieces: list[bytes] = []
    while piece := await reply.chunk():
        pieces.append(piece)
    return pieces


async def test_chunks_are_events_and_the_end_is_done() -> None:
    reply, _ = await _reply(_Stream(_Chunk("a"), _Chunk("b\nc", [_Choice("stop")])))

    assert await _all(reply) == [
        b'data: {"text": "a"}\n\n',
        b'data: {"text": "b\\nc"}\n\n',
        b"data: [DONE]\n\n",
    ]
    assert reply.is_stream


async def test_finish_that_the_provider_never_sent_is_withheld_with_the_end() -> None:
    stream = _Stream(_Chunk("a"), _Chunk("", [_Choice("stop")]), finish=None)
    reply, _ = await _reply(stream)

    assert await _all(reply) == [b'data: {"text": "a"}\n\n']
    assert stream.closed


async def test_silence_between_chunks_is_a_timeout_of_its_own_code() -> None:
    reply, _ = await _reply(_Stream(_Chunk("a"), None), idle_seconds=0.001)
    await reply.chunk()

    with pytest.raises(TimedOut) as silent:
        await reply.chunk()

    assert silent.value.code == Fault.UPSTREAM_IDLE


async def test_silence_that_litellm_notices_first_has_the_same_code() -> None:
    reply, _ = await _reply(_Stream(_Chunk("a"), TimeoutError()))
    await reply.chunk()

    with pytest.raises(TimedOut) as silent:
        await reply.chunk()

    assert silent.value.code == Fault.UPSTREAM_IDLE


async def test_error_in_the_middle_is_a_bad_reply_that_quotes_nothing() -> None:
    reply, _ = await _reply(_Stream(_Chunk("a"), ValueError("the prompt")))
    await reply.chunk()

    with pytest.raises(BadReply) as broken:
        await reply.chunk()

    assert "prompt" not in broken.value.message


async def test_left_reply_hands_its_chunks_over_to_be_closed() -> None:
    reply, dropped = await _reply(_Stream(_Chunk("a"), _Chunk("b")))

    with reply:
        await reply.chunk()

    assert len(dropped) == 1
    assert not dropped[0].over


async def test_whole_reply_is_one_piece() -> None:
    with WholeReply(404, (), b"{}") as reply:
        pieces = await _all(reply)

    assert pieces == [b"{}"]
    assert (reply.status, reply.is_stream) == (404, False)
