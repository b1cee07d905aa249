import asyncio
from collections.abc import Iterable

import pytest
from typing_extensions import override

from proxy.http_transport import HeadWithBody

HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


class Recorded(asyncio.Transport):
    """What reaches the connection, a write each."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 9)})
        self.writes: list[bytes] = []

    @override
    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append(bytes(data))

    @override
    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.write(b"".join(list_of_data))

    @override
    def write_eof(self) -> None:
        self.writes.append(b"<eof>")

    @override
    def close(self) -> None:
        self.writes.append(b"<closed>")


@pytest.fixture
async def recorded() -> Recorded:
    return Recorded()


@pytest.fixture
async def transport(recorded: Recorded) -> HeadWithBody:
    return HeadWithBody(recorded, asyncio.get_running_loop())


async def test_head_and_body_are_one_write(recorded: Recorded, transport: HeadWithBody) -> None:
    transport.write(HEAD)
    transport.write(b"body")
    transport.write(b"more")
    await asyncio.sleep(0)

    assert recorded.writes == [HEAD + b"body", b"more"]


async def test_head_of_a_stream_that_has_not_begun_leaves_in_the_next_turn(
    recorded: Recorded, transport: HeadWithBody
) -> None:
    transport.write(HEAD)
    await asyncio.sleep(0)
    assert recorded.writes == [HEAD]

    transport.write(b"first event")

    assert recorded.writes == [HEAD, b"first event"]


async def test_body_that_looks_like_a_head_keeps_its_place(
    recorded: Recorded, transport: HeadWithBody
) -> None:
    for data in (HEAD, b"a", HEAD, b"b"):
        transport.write(data)
    transport.write(HEAD)
    transport.write(HEAD)
    await asyncio.sleep(0)

    assert b"".join(recorded.writes) == HEAD + b"a" + HEAD + b"b" + HEAD + HEAD


@pytest.mark.parametrize(("end", "mark"), [("close", b"<closed>"), ("write_eof", b"<eof>")])
async def test_head_leaves_before_the_connection_ends(
    recorded: Recorded, transport: HeadWithBody, end: str, mark: bytes
) -> None:
    transport.write(HEAD)
    getattr(transport, end)()
    await asyncio.sleep(0)

    assert recorded.writes == [HEAD, mark]


async def test_everything_else_is_the_transport_s_own(
    recorded: Recorded, transport: HeadWithBody
) -> None:
    assert transport.get_extra_info("peername") == recorded.get_extra_info("peername")
