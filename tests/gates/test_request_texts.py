import json
from typing import Any

import pytest

from proxy.gates.request_texts import MessageText, texts_of
from proxy.wire.request import Request


def _texts(*messages: Any) -> list[MessageText]:
    return list(texts_of(Request(b"", messages=json.dumps(messages).encode())))


def test_texts_are_told_with_place_and_role() -> None:
    call: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": []}
    old = {"role": "function", "name": "look", "content": "12 Grad"}

    assert _texts({"role": "user", "content": "Wetter?"}, call, old) == [
        MessageText("messages[0].content", "user", "Wetter?"),
        MessageText("messages[2].content", "tool", "12 Grad"),
    ]


def test_text_parts_are_joined_by_line_ends() -> None:
    image = {"type": "image_url", "image_url": {"url": "x"}}
    parts = [{"type": "text", "text": "a"}, image, {"type": "text", "text": "b"}, "c"]

    assert [each.text for each in _texts({"role": "user", "content": parts})] == ["a\nb\nc"]


@pytest.mark.parametrize(
    "messages",
    [
        b"",
        b"7",
        b"[7]",
        b'[{"role":"user"}]',
        b'[{"role":"user","content":[{"type":"image_url"}]}]',
        b'[{"role":7,"content":"x"}]',
        b"[" * 100_000,
    ],
    ids=["absent", "no-list", "no-message", "no-content", "no-text", "no-role", "deep"],
)
def test_unreadable_messages_have_no_text(messages: bytes) -> None:
    assert list(texts_of(Request(b"", messages=messages))) == []


def test_half_a_surrogate_pair_hides_no_text() -> None:
    request = Request(b"", messages=rb'[{"role":"user","content":"\ud83d Ulm"}]')

    assert [each.text for each in texts_of(request)] == ["\ud83d Ulm"]
