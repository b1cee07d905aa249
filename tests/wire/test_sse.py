"""Events are cut from a stream by WHATWG's rules, however the bytes arrive."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from proxy.wire.sse import DONE, Event, EventTooLarge, SseParser, comment, event

PLENTY = 1 << 20
SEPARATORS = b"\xe2\x80\xa8\xe2\x80\xa9\xc2\x85\x0b\x0c\x1e"  # U+2028, U+2029, NEL, VT, FF, RS

LINES = st.sampled_from(
    [
        b"data: {}",
        b"data:x",
        b"data:  x",
        b"data",
        b"data: [DONE]",
        b"event: ping",
        b"event",
        b"id: 1",
        b": comment",
        b"data: \xe2\x80\xa8\xe2\x80\xa9\xc2\x85",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbfdata: x",
        b"nonsense",
    ]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r", b"\n\n", b"\r\n\r\n", b"\r\r", b"\n\r", b""])
STREAMS = st.lists(st.one_of(LINES, ENDS, st.binary(max_size=3)), max_size=24).map(b"".join)


def events_of(chunks: Sequence[bytes], limit_bytes: int = PLENTY) -> list[Event]:
    parser = SseParser(limit_bytes)
    events = [found for chunk in chunks for found in parser.feed(chunk)]
    return events + parser.finish()


def split(stream: bytes, cuts: Sequence[int]) -> list[bytes]:
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    return [stream[start:end] for start, end in pairwise(edges)]


def reference(stream: bytes) -> list[tuple[bytes, bytes | None, bytes, bool]]:
    """A slow reader that walks whole lines; the leftover is cut unless a blank line ends it."""
    found: list[tuple[bytes, bytes | None, bytes, bool]] = []
    raw, data, name = b"", None, b""
    for line in stream.splitlines(keepends=True):
        bare = line.rstrip(b"\r\n")
        text = bare.removeprefix(b"\xef\xbb\xbf") if not found and not raw else bare
        raw += line
        field, _, value = text.partition(b":")
        value = value[1:] if value[:1] == b" " else value
        if field == b"data":
            data = value if data is None else data + b"\n" + value
        if field == b"event":
            name = value
        if not bare:
            found.append((raw, data, name, False))
            raw, data, name = b"", None, b""
    return [*found, (raw, data, name, True)] if raw else found


@given(stream=STREAMS, cuts=st.lists(st.integers(0, 200), max_size=12))
def test_any_split_gives_the_same_events(stream: bytes, cuts: list[int]) -> None:
    assert events_of(split(stream, cuts)) == events_of([stream])


@given(stream=STREAMS)
def test_single_bytes_give_the_same_events(stream: bytes) -> None:
    single = [stream[at : at + 1] for at in range(len(stream))]

    assert events_of(single) == events_of([stream])


@given(stream=st.one_of(STREAMS, st.binary()))
def test_events_agree_with_a_naive_reader(stream: bytes) -> None:
    assert [astuple(found) for found in events_of([stream])] == reference(stream)


@given(stream=st.one_of(STREAMS, st.binary()), cuts=st.lists(st.integers(0, 200), max_size=12))
def test_raws_join_to_the_input(stream: bytes, cuts: list[int]) -> None:
    assert b"".join(found.raw for found in events_of(split(stream, cuts))) == stream


@given(data=st.lists(st.binary().map(lambda line: line.replace(b"\r", b"")), min_size=1))
def test_written_data_is_read_back(data: list[bytes]) -> None:
    text = b"\n".join(data)

    assert [found.data for found in events_of([event(text)])] == [text]


@pytest.mark.parametrize(
    ("stream", "data"),
    [
        pytest.param(b"data: x\n\n", b"x", id="one leading blank is dropped"),
        pytest.param(b"data:x\n\n", b"x", id="no leading blank"),
        pytest.param(b"data:  x\n\n", b" x", id="second leading blank is data"),
        pytest.param(b"data: a\ndata: b\n\n", b"a\nb", id="several data lines"),
        pytest.param(b"data\n\n", b"", id="field name without colon"),
        pytest.param(b"data:\n\n", b"", id="empty data"),
        pytest.param(b"data: a:b\n\n", b"a:b", id="colon in data"),
        pytest.param(b"\xef\xbb\xbfdata: x\n\n", b"x", id="byte order mark at the start"),
        pytest.param(b": hi\n\n", None, id="comment"),
        pytest.param(b"id: 7\nretry: 10\n\n", None, id="no data line"),
        pytest.param(b"Data: x\n\n", None, id="field names are case-sensitive"),
        pytest.param(b" data: x\n\n", None, id="indented field name is another field"),
        pytest.param(b": hi\ndata: x\n\n", b"x", id="comment before data"),
        pytest.param(b"data: a\r\ndata: b\n\r\n", b"a\nb", id="mixed line ends"),
        pytest.param(b"data: a\rdata: b\r\r\n", b"a\nb", id="lone CR ends a line"),
        pytest.param(b"data: " + SEPARATORS + b"\n\n", SEPARATORS, id="other separators are data"),
    ],
)
def test_block_is_one_event(stream: bytes, data: bytes | None) -> None:
    assert events_of([stream]) == [Event(stream, data)]


def test_event_field_is_the_name() -> None:
    assert events_of([b"event: a\nevent:b\ndata: x\n\n"])[0].name == b"b"


def test_byte_order_mark_counts_only_at_the_start() -> None:
    first, second = events_of([b"data: x\n\n", b"\xef\xbb\xbfdata: y\n\n"])

    assert (first.data, second.data) == (b"x", None)


def test_blank_line_alone_is_an_event_without_data() -> None:
    events = events_of([b"\n\r\ndata: x\n\n\n"])

    assert events == [
        Event(b"\n", None),
        Event(b"\r\n", None),
        Event(b"data: x\n\n", b"x"),
        Event(b"\n", None),
    ]


def test_crlf_split_between_chunks_is_one_line_end() -> None:
    parser = SseParser(PLENTY)

    early = parser.feed(b"data: a\r")
    late = parser.feed(b"\ndata: b\r\n\r\n")

    assert (early, late) == ([], [Event(b"data: a\r\ndata: b\r\n\r\n", b"a\nb")])


def test_last_cr_waits_for_the_next_byte() -> None:
    parser = SseParser(PLENTY)

    early = parser.feed(b"data: a\r\r")
    late = parser.feed(b"\n")

    assert (early, late) == ([], [Event(b"data: a\r\r\n", b"a")])


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param(b"\r", id="blank line"),
        pytest.param(b"data: x\r\r", id="CR CR"),
        pytest.param(b"data: x\n\r", id="LF CR"),
        pytest.param(b"data: x\r\n\r", id="CRLF CR"),
    ],
)
def test_last_cr_of_an_ended_stream_is_a_line_end(stream: bytes) -> None:
    assert [found.cut for found in events_of([stream])] == [False]


@pytest.mark.parametrize(
    ("stream", "data"),
    [
        pytest.param(b"data: [DONE]\n", b"[DONE]", id="one line end"),
        pytest.param(b"data: [DONE]\r", b"[DONE]", id="one CR"),
        pytest.param(b"data: [DONE]", b"[DONE]", id="no line end"),
        pytest.param(b"dat", None, id="half a field name"),
        pytest.param(b"\xef\xbb\xbf", None, id="byte order mark alone"),
    ],
)
def test_leftover_is_cut_and_its_data_is_read(stream: bytes, data: bytes | None) -> None:
    assert events_of([stream]) == [Event(stream, data, cut=True)]


def test_nothing_is_left_after_whole_events() -> None:
    parser = SseParser(PLENTY)
    parser.feed(b"data: x\n\n")

    assert parser.finish() == []


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([b"data: 4567\n\n"], id="one plain event"),
        pytest.param([b"id: 45678\n", b"\n"], id="complete"),
        pytest.param([b"data: 456789"], id="incomplete"),
        pytest.param([b"id: 4567", b"8", b"9", b"0"], id="in pieces"),
        pytest.param([b"data: 4\r\n\r", b"\n"], id="CRLF"),
        pytest.param([b"id: 4\n\n", b"id: 3456789"], id="second event"),
    ],
)
def test_event_beyond_the_limit_is_refused(chunks: list[bytes]) -> None:
    with pytest.raises(EventTooLarge):
        events_of(chunks, limit_bytes=10)


def test_limit_bounds_one_event_and_not_a_chunk() -> None:
    events = events_of([b"data: 78\n\n" * 100], limit_bytes=10)

    assert [found.data for found in events] == [b"78"] * 100


def test_long_event_in_tiny_chunks_is_read_whole() -> None:
    stream = b"data: " + b"x" * 200_000 + b"\r\n\r\n"

    events = events_of([stream[at : at + 4] for at in range(0, len(stream), 4)])

    assert events == [Event(stream, stream[6:-4])]


def test_done_is_an_event() -> None:
    assert events_of([DONE]) == [Event(DONE, b"[DONE]")]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param(event(b"{}"), b"data: {}\n\n", id="data"),
        pytest.param(event(b"{}", b"ping"), b"event: ping\ndata: {}\n\n", id="name"),
        pytest.param(event(b"a\r\nb\rc\n"), b"data: a\ndata: b\ndata: c\ndata: \n\n", id="lines"),
        pytest.param(comment("still waiting"), b": still waiting\n\n", id="comment"),
        pytest.param(comment("a\nb"), b": a\n: b\n\n", id="comment of two lines"),
    ],
)
def test_writer_keeps_to_the_format(written: bytes, expected: bytes) -> None:
    assert written == expected
