import json
from typing import Any

import pytest

from proxy.wire.rewrite_calls import CallRewriter, calls_with_arguments


def test_arguments_go_to_their_position_and_the_rest_stays() -> None:
    calls = b'[7, {"id": "a",  "big": 1e400, "function": {"name": "f"}}, {"id":"b","function":2}]'

    edited = calls_with_arguments(calls, {1: "{}"})

    assert edited == (
        b'[7,{"id": "a",  "big": 1e400, "function": {"name": "f"}},'
        b'{"id":"b","function":{"arguments":"{}"}}]'
    )


def test_missing_arguments_are_added() -> None:
    edited = calls_with_arguments(b'[{"function":{"name":"f"}}]', {0: '{"ü":1}'})

    assert json.loads(edited) == [{"function": {"name": "f", "arguments": '{"ü":1}'}}]


def _piece(arguments: str, **members: Any) -> bytes:
    return json.dumps([{"index": 0, "function": {"arguments": arguments}, **members}]).encode()


def test_first_piece_bears_all_and_later_ones_go() -> None:
    rewriter = CallRewriter({0: "{}"})

    edited = [rewriter.edited(piece) for piece in (_piece("", id="a"), _piece("nu"), _piece("ll"))]

    assert edited == [_piece("{}", id="a"), None, None]


@pytest.mark.parametrize("old", ["x", ""])
def test_later_piece_with_an_id_stays_without_arguments(old: str) -> None:
    rewriter = CallRewriter({0: "{}"})
    rewriter.edited(_piece("x", id="a"))

    assert rewriter.edited(_piece(old, id="a")) == _piece("", id="a")


def test_pieces_of_other_calls_stay_byte_for_byte() -> None:
    rewriter = CallRewriter({1: "{}"})
    other = b'[ 7, {"index":0, "function":{"arguments":"{\\u007d"}} ]'

    assert rewriter.edited(other) == other


def test_dropped_piece_leaves_its_neighbours() -> None:
    rewriter = CallRewriter({0: "{}"})
    rewriter.edited(_piece("x"))

    edited = rewriter.edited(b'[{"index":0,"function":{"arguments":"y"}},{"index":1,"id":"b"}]')

    assert edited == b'[{"index":1,"id":"b"}]'
