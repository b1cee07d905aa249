import asyncio
from collections.abc import Iterable

import pytest

from proxy.errors import BodyTooLarge
from proxy.routes.asgi import (
    AsgiClient,
    ClientGone,
    Message,
    Receive,
    forwarded_headers,
    header,
    read_body,
)


def _receive(*messages: Message) -> Receive:
    left = list(messages)

    async def receive() -> Message:
        if not left:
            await asyncio.get_running_loop().create_future()
        return left.pop(0)

    return receive


def _body(piece: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": piece, "more_body": more}


async def _read(receive: Receive, headers: Iterable[tuple[bytes, bytes]] = ()) -> bytes:
    return await read_body(receive, headers, limit_bytes=8)


async def test_body_in_pieces_is_joined() -> None:
    assert await _read(_receive(_body(b"ab", more=True), _body(b"", more=True), _body(b"c"))) == (
        b"abc"
    )


async def test_message_without_a_body_is_an_empty_one() -> None:
    assert await _read(_receive({"type": "http.request"})) == b""


async def test_length_beyond_the_limit_is_refused_unread() -> None:
    with pytest.raises(BodyTooLarge):
        await _read(_receive(), [(b"content-length", b"9")])


async def test_pieces_beyond_the_limit_are_refused() -> None:
    with pytest.raises(BodyTooLarge):
        await _read(_receive(_body(b"12345", more=True), _body(b"6789")))


async def test_client_that_leaves_before_its_body_is_gone() -> None:
    with pytest.raises(ClientGone):
        await _read(_receive(_body(b"1", more=True), {"type": "http.disconnect"}))


def test_header_is_the_first_of_its_name() -> None:
    assert header([(b"a", b"1"), (b"a", b"2")], b"a") == "1"
    assert header([], b"a") is None


@pytest.mark.parametrize("with_key", [True, False])
def test_keys_of_the_proxy_stay_here(with_key: bool) -> None:
    given = [(name, b"k") for name in (b"authorization", b"x-api-key", b"api-key", b"x-other")]

    names = [name for name, _ in forwarded_headers(given, "r", with_key=with_key)]

    kept = ["authorization", "x-api-key", "api-key"] if with_key else []
    assert names == [*kept, "x-other", "x-request-id"]


@pytest.mark.parametrize(
    ("value", "sent"),
    [("Köln →".encode(), "Köln →".encode()), (b"K\xf6ln", "Köln".encode())],
    ids=["utf8", "latin1"],
)
def test_text_of_a_header_reaches_the_upstream_readable(value: bytes, sent: bytes) -> None:
    headers = dict(forwarded_headers([(b"x-city", value)], "r", with_key=True))

    assert headers["x-city"].encode() == sent


async def test_reply_carries_id_length_and_repeated_headers_as_they_came() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    client = AsgiClient(send, "r-1")
    cookies = [("set-cookie", "a=1"), ("set-cookie", "b=2"), ("x-request-id", "theirs")]
    await client.reply(200, [*cookies, ("x-raw", "\udce9 →")], b"{}")

    assert sent[0]["headers"] == [
        (b"set-cookie", b"a=1"),
        (b"set-cookie", b"b=2"),
        (b"x-raw", b"\xe9 " + "→".encode()),
        (b"x-request-id", b"r-1"),
        (b"content-length", b"2"),
    ]
    assert client.started
    assert client.ended


async def test_reply_that_could_not_be_written_has_not_started() -> None:
    async def send(_: Message) -> None:
        raise RuntimeError("Invalid HTTP header value.")

    client = AsgiClient(send, "r-1")

    for write in (client.start(200, []), client.end(), client.reply(200, [], b"")):
        with pytest.raises(RuntimeError):
            await write
    assert not client.started
    assert not client.ended
