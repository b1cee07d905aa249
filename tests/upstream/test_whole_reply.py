from proxy.upstream.whole_reply import WholeReply


async def test_reply_comes_in_one_piece_and_is_then_over() -> None:
    with WholeReply(200, b"{}") as reply:
        first, rest = await reply.chunk(), await reply.chunk()

    assert (first, rest) == (b"{}", b"")
    assert reply.is_over


def test_reply_is_json_and_no_stream() -> None:
    reply = WholeReply(404, b"{}")

    assert reply.status == 404
    assert not reply.is_stream
    assert not reply.is_over
    assert dict(reply.headers) == {"content-type": "application/json"}
