from hypothesis import given
from hypothesis import strategies as st

from proxy.launch.log_lines import LINE_BYTES, LineSplitter


def test_progress_bar_is_many_lines() -> None:
    splitter = LineSplitter()

    lines = splitter.feed(b"\rshards: 0%\rshards: 50%\nnext")

    assert lines == ["shards: 0%", "shards: 50%"]
    assert splitter.end() == ["next"]


def test_endless_line_takes_no_more_memory_than_a_line() -> None:
    splitter = LineSplitter()
    for _ in range(10):
        splitter.feed(b"x" * LINE_BYTES)

    (line,) = splitter.feed(b"\n")

    assert len(line) == LINE_BYTES


def test_bytes_that_are_no_text_are_read_all_the_same() -> None:
    assert LineSplitter().feed(b"a\xff\n") == ["a\N{REPLACEMENT CHARACTER}"]


@given(st.binary(max_size=200), st.lists(st.integers(1, 7), max_size=40))
def test_any_cutting_gives_the_same_lines(text: bytes, sizes: list[int]) -> None:
    pieces, rest = [], text
    for size in sizes:
        pieces.append(rest[:size])
        rest = rest[size:]
    splitter = LineSplitter()

    lines = [line for piece in [*pieces, rest] for line in splitter.feed(piece)]

    whole = LineSplitter()
    assert lines + splitter.end() == whole.feed(text) + whole.end()
