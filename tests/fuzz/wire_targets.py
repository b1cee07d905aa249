"""What must hold of the wire for any bytes. Each target takes bytes and fails by an exception."""

import zlib
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import Any

from msgspec.structs import astuple

from proxy.wire.reply import Choice, MalformedReply, Reply, ReplyBuilder, read_reply
from proxy.wire.request import MalformedBody, Request, read_request
from proxy.wire.rewrite import NewContent, body_with_content, events_with_content
from proxy.wire.splice import items_of, members_of, with_items, with_members
from proxy.wire.sse import Event, EventTooLarge, SseParser
from proxy.wire.tap import MalformedBodyReply, StreamTap, read_body_head
from tests.fuzz.independent import read_plain, read_sse

PLENTY = 1 << 20
MOST_CUTS = 8
DEEP = 250
RAW_MEMBERS = ("response_format", "structured_outputs", "chat_template_kwargs", "messages", "tools")
CHANGES: dict[str, bytes | None] = {"model": b'"m"', "n": None, "seed": b"7", 'a"\n': b"[{}]"}


def luck_of(data: bytes) -> Random:
    """Random choices that are always the same for the same data."""
    return Random(zlib.crc32(data))  # noqa: S311 - no secret


def cuts_of(data: bytes, length: int) -> list[tuple[int, int]]:
    luck = luck_of(data)
    edges = sorted(luck.randint(0, length) for _ in range(luck.randint(0, MOST_CUTS)))
    return list(zip([0, *edges], [*edges, length], strict=True))


def sse(data: bytes) -> None:
    """Any split gives the events of the slow reader, and exactly the limit is kept."""
    expected = read_sse(data)
    some = [data[begin:end] for begin, end in cuts_of(data, len(data))]
    single = [data[at : at + 1] for at in range(len(data))]

    for chunks in ([data], some, single):
        events = [astuple(event) for event in _events(chunks, PLENTY)]
        assert events == expected, (chunks, events, expected)
        assert b"".join(raw for raw, *_ in expected) == data
        for limit in (0, 12, 48):
            is_too_large = any(len(raw) > limit for raw, *_ in expected)
            assert _exceeds(chunks, limit) == is_too_large, (chunks, limit)


def events(data: bytes) -> None:
    """Lines as the data of events: each is taken or malformed, and the reply adds them up."""
    builder, tap = ReplyBuilder(), StreamTap()
    contents: dict[int, str] = {}
    has_choices, has_all = False, True
    for line in data.split(b"\n"):
        tap.take(line, 0.0)
        if line == b"[DONE]":
            continue
        try:
            delta = builder.add(line)
        except MalformedReply:
            has_all = False
            continue
        has_choices = has_choices or delta.has_choices
        for index, piece in delta.contents:
            contents[index] = contents.get(index, "") + piece
    reply = builder.reply()

    assert {each.index: each.content for each in reply.choices if each.content} == contents
    assert tap.done == (b"[DONE]" in data.split(b"\n"))
    assert not has_all or tap.first_response is None or has_choices


def reply(data: bytes) -> None:
    """A body is read exactly when it is an object whose choices are objects."""
    try:
        document = read_plain(data)
    except ValueError:
        document = None
    is_reply = isinstance(document, dict) and _has_sound_choices(document)

    read, head = _read_or_none(data), _head_or_none(data)

    if _may_be_deep(data):
        return
    assert (read is not None) == is_reply, document
    assert head is not None or not isinstance(document, dict)
    if read is not None and head is not None:
        assert head[2] == (read.error is not None)
        _check_body_rewrite(data, read)


def request(data: bytes) -> None:
    """A body is read only when it is one JSON object; else the fault names a member or is true."""
    body = data.removeprefix(b"\xef\xbb\xbf")
    try:
        document = read_plain(body)
    except ValueError:
        document = None
    try:
        read = read_request(data)
    except MalformedBody as malformed:
        names_a_member = bool(malformed.param)
    else:
        if not _may_be_deep(data):
            assert isinstance(document, dict)
            _check_members(read, document)
        return
    assert names_a_member or not isinstance(document, dict) or _may_be_deep(data)


def splice(data: bytes) -> None:
    """Changes of members and items do to the bytes what they do to the values."""
    try:
        document = read_plain(data)
    except ValueError:
        document = None
    if _may_be_deep(data):
        return
    changes = dict(CHANGES)
    if isinstance(document, dict):
        changes |= {name: luck_of(data).choice([None, b"{}"]) for name in [*document][:1]}
        _check_members_change(data, document, changes)
    else:
        _refuses(lambda: with_members(data, changes))
        _refuses(lambda: members_of(data))
    if isinstance(document, list):
        assert [read_plain(item) for item in items_of(data)] == document
        assert read_plain(with_items(data, [b"{}", b"[]"])) == [*document, {}, []]
        assert with_items(data, []) == data
    else:
        _refuses(lambda: items_of(data))
        _returns_or_refuses(data)


def rewrite(data: bytes) -> None:
    """New content arrives in the choice that it is for, and nothing else changes."""
    recorded = _events([data], PLENTY)
    try:
        before = _assembled(recorded)
    except MalformedReply:
        return
    contents = _new_contents(before, luck_of(data))

    raws = events_with_content(recorded, contents)

    after = _assembled(_events([b"".join(raws)], PLENTY))
    assert after == _expected(before, contents), (before, after, raws)


def _events(chunks: list[bytes], limit_bytes: int) -> list[Event]:
    parser = SseParser(limit_bytes)
    return [event for chunk in chunks for event in parser.feed(chunk)] + parser.finish()


def _exceeds(chunks: list[bytes], limit_bytes: int) -> bool:
    try:
        _events(chunks, limit_bytes)
    except EventTooLarge:
        return True
    return False


def _assembled(recorded: list[Event]) -> Reply:
    builder = ReplyBuilder()
    for event in recorded:
        if event.data is not None and event.data != b"[DONE]":
            builder.add(event.data)
    return builder.reply()


def _new_contents(before: Reply, luck: Random) -> dict[int, NewContent]:
    """New content or new arguments for most choices, as a repair never gives both."""
    contents = {}
    for choice in before.choices:
        called = range(len(choice.tool_calls))
        if luck.random() < 0.6:
            contents[choice.index] = NewContent('{"a":"\n"}', clear_reasoning=luck.random() < 0.5)
        elif called:
            contents[choice.index] = NewContent(None, arguments={luck.choice(called): '{"b":1}'})
    return contents


def _expected(before: Reply, contents: dict[int, NewContent]) -> Reply:
    return Reply(
        tuple(_changed(choice, contents) for choice in before.choices), before.usage, before.error
    )


def _changed(choice: Choice, contents: dict[int, NewContent]) -> Choice:
    new = contents.get(choice.index)
    if new is None:
        return choice
    reasoning = "" if new.clear_reasoning else choice.reasoning
    content = choice.content if new.content is None else new.content
    calls = tuple(
        replace(call, arguments=new.arguments.get(position, call.arguments))
        for position, call in enumerate(choice.tool_calls)
    )
    return replace(choice, content=content, reasoning=reasoning, tool_calls=calls)


def _may_be_deep(data: bytes) -> bool:
    """Whether the depth of nesting, not the grammar, may decide."""
    return data.count(b"[") + data.count(b"{") > DEEP


def _read_or_none(data: bytes) -> Reply | None:
    try:
        return read_reply(data)
    except MalformedReply:
        return None


def _head_or_none(data: bytes) -> tuple[int | None, int | None, bool] | None:
    try:
        return read_body_head(data)
    except MalformedBodyReply:
        return None


def _has_sound_choices(document: dict[str, Any]) -> bool:
    choices = document.get("choices")
    return choices is None or (
        isinstance(choices, list) and all(isinstance(choice, dict) for choice in choices)
    )


def _check_body_rewrite(data: bytes, before: Reply) -> None:
    contents = _new_contents(before, luck_of(data))
    after = read_reply(body_with_content(data, contents))
    assert after == _expected(before, contents), (before, after)


def _check_members(read: Request, document: dict[str, Any]) -> None:
    for name in RAW_MEMBERS:
        raw: bytes = getattr(read, name)
        assert (read_plain(raw) if raw else None) == document.get(name)
    if isinstance(document.get("model"), str):
        model = document["model"].encode("utf-8", "replace").decode()
        assert read.model == model
    if isinstance(document.get("stream"), bool):
        assert read.stream is document["stream"]
    if isinstance(document.get("n"), tuple):
        assert read.n == Decimal(document["n"][0])


def _check_members_change(
    data: bytes, document: dict[str, Any], changes: dict[str, bytes | None]
) -> None:
    expected = {name: value for name, value in document.items() if name not in changes}
    expected |= {name: read_plain(new) for name, new in changes.items() if new is not None}
    assert with_members(data, {}) == data
    assert read_plain(with_members(data, changes)) == expected
    assert {name: read_plain(raw) for name, raw in members_of(data).items()} == document


def _refuses(call: Callable[[], object]) -> None:
    try:
        call()
    except ValueError:
        return
    raise AssertionError("what is not JSON was accepted")


def _returns_or_refuses(data: bytes) -> None:
    try:
        with_items(data, [b"{}"])
    except ValueError:
        return
