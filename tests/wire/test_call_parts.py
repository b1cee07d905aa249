from typing import Any

import pytest

from proxy.wire.call_parts import CallAssembly, call_texts


def _piece(arguments: str = "", **members: Any) -> dict[str, Any]:
    name = members.pop("name", None)
    return {"function": {"name": name, "arguments": arguments}, **members}


def _assembled(*pieces: dict[str, Any]) -> list[tuple[int, str, str, str]]:
    assembly = CallAssembly()
    for piece in pieces:
        assembly.add(piece)
    return [(call.index, call.id, call.name, "".join(call.arguments)) for call in assembly.calls]


def test_pieces_with_one_index_are_one_call() -> None:
    calls = _assembled(_piece("{", index=0, id="a", name="look"), _piece("}", index=0, name="look"))

    assert calls == [(0, "a", "look", "{}")]


@pytest.mark.parametrize(
    "second",
    [
        pytest.param({"id": "b"}, id="new id"),
        pytest.param({"name": "listen"}, id="new name"),
        pytest.param({"index": 1}, id="new index"),
    ],
)
def test_new_call_has_the_next_position(second: dict[str, Any]) -> None:
    assembly = CallAssembly()

    positions = [assembly.add(piece).position for piece in (_piece(id="a"), _piece(**second))]

    assert positions == [0, 1]


def test_piece_without_index_continues_the_call_of_its_id_or_the_open_one() -> None:
    calls = _assembled(
        _piece("1", index=4, id="a"), _piece("2", id="b"), _piece("3", id="a"), _piece("4")
    )

    assert calls == [(4, "a", "", "134"), (5, "b", "", "2")]


@pytest.mark.parametrize(
    ("call", "texts"),
    [
        pytest.param({}, ("", "", ""), id="nothing"),
        pytest.param({"id": 1, "function": 2}, ("", "", ""), id="ill-typed"),
        pytest.param({"function": {"arguments": {"ü": 1}}}, ("", "", '{"ü": 1}'), id="object"),
        pytest.param({"id": "a", "function": {"name": "f", "arguments": "{"}}, ("a", "f", "{")),
    ],
)
def test_texts_of_a_call_are_read_leniently(
    call: dict[str, Any], texts: tuple[str, str, str]
) -> None:
    assert call_texts(call) == texts
