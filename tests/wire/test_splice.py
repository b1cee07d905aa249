"""Members change in the bytes of an object; every other byte stays."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.splice import TooMany, items_of, members_of, with_items, with_members

TEXT = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(['"', "\\", "{", "]\n"])
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(["a", "b", "stream", "größe", '"', "\ud800"]) | TEXT
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=5)


@st.composite
def spellings(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> tuple[Any, bytes]:
    value = draw(values)
    indent = draw(st.sampled_from([None, 0, 2, "\t"]))
    blank = draw(st.sampled_from(["", " ", "\n ", "\r\n\t"]))
    text = json.dumps(
        value,
        ensure_ascii=draw(st.booleans()) or "\\ud800" in json.dumps(value),
        indent=indent,
        separators=(blank + "," + blank, blank + ":" + blank),
    )
    return value, f"{blank}{text}{blank}".encode()


@given(
    spelling=spellings(OBJECTS),
    changes=st.dictionaries(NAMES, st.tuples(st.booleans(), VALUES), max_size=3),
)
def test_result_reads_as_the_changed_object(
    spelling: tuple[dict[str, Any], bytes], changes: dict[str, tuple[bool, Any]]
) -> None:
    expected, body = spelling
    raw = {
        name: json.dumps(new).encode() if sets else None for name, (sets, new) in changes.items()
    }

    changed = with_members(body, raw)

    kept = {name: old for name, old in expected.items() if name not in changes or changes[name][0]}
    assert json.loads(changed) == kept | {
        name: new for name, (sets, new) in changes.items() if sets
    }


@given(spelling=spellings(OBJECTS), name=NAMES)
def test_untouched_members_keep_their_bytes_and_order(
    spelling: tuple[dict[str, Any], bytes], name: str
) -> None:
    _, body = spelling
    before = members_of(body)

    after = members_of(with_members(body, {name: b"1.0e+2"}))

    assert after == before | {name: b"1.0e+2"}
    assert list(after) == list(before | {name: b""})


@given(spelling=spellings(OBJECTS))
def test_no_change_keeps_every_byte(spelling: tuple[dict[str, Any], bytes]) -> None:
    _, body = spelling

    assert with_members(body, {}) == body
    assert with_members(body, members_of(body)) == body


@given(spelling=spellings(st.lists(VALUES, max_size=5)))
def test_items_read_as_the_array(spelling: tuple[list[Any], bytes]) -> None:
    expected, array = spelling

    assert [json.loads(item) for item in items_of(array)] == expected


@given(spelling=spellings(st.lists(VALUES, max_size=3)), more=st.lists(VALUES, max_size=3))
def test_appended_items_come_last(spelling: tuple[list[Any], bytes], more: list[Any]) -> None:
    expected, array = spelling

    longer = with_items(array, [json.dumps(item).encode() for item in more])

    assert json.loads(longer) == expected + more


@given(body=st.binary(max_size=20) | st.text('{}[]",:1 a\\', max_size=12).map(str.encode))
def test_what_is_no_object_is_refused(body: bytes) -> None:
    try:
        is_object = isinstance(json.loads(body.decode()), dict)
    except ValueError:
        is_object = False

    if is_object:
        assert json.loads(with_members(body, {"new": b"1"}))["new"] == 1
    else:
        with pytest.raises(ValueError):  # noqa: PT011 - whatever the reason
            with_members(body, {"new": b"1"})


@pytest.mark.parametrize(
    ("body", "changes", "expected"),
    [
        pytest.param(b"{}", {"a": b"1"}, b'{"a":1}', id="empty object"),
        pytest.param(b" { } ", {"a": b"1"}, b' {"a":1 } ', id="blank object"),
        pytest.param(b"{ }", {"a": None}, b"{ }", id="absent member removed"),
        pytest.param(b'{"a": 1}', {"b": b"2"}, b'{"a": 1,"b":2}', id="new member last"),
        pytest.param(b'{"a":1, "b":2}', {"a": b"[3]"}, b'{"a":[3], "b":2}', id="value in place"),
        pytest.param(b'{ "a":1, "b":2 }', {"a": None}, b'{ "b":2 }', id="first removed"),
        pytest.param(b'{"a":1, "b":2, "c":3}', {"b": None}, b'{"a":1, "c":3}', id="inner removed"),
        pytest.param(b'{"a":1, "b":2\n}', {"b": None}, b'{"a":1\n}', id="last removed"),
        pytest.param(b'{"a":1}', {"a": None}, b"{}", id="only member removed"),
        pytest.param(b'{"a":1}', {"a": None, "b": b"2"}, b'{"b":2}', id="removed and added"),
        pytest.param(b'{"a":1,"b":2,"a":3}', {"a": b"4"}, b'{"a":4,"b":2}', id="duplicate set"),
        pytest.param(b'{"a":1,"b":2,"a":3}', {"a": None}, b'{"b":2}', id="duplicate removed"),
        pytest.param(b'{"a":1,"a":2}', {"b": b"3"}, b'{"a":1,"a":2,"b":3}', id="duplicate kept"),
        pytest.param(b'{"str\\u0065am":true}', {"stream": b"false"}, b'{"str\\u0065am":false}',
                     id="escaped name"),
        pytest.param(b'{"x":"\\"a\\":1}","a":2}', {"a": b"3"}, b'{"x":"\\"a\\":1}","a":3}',
                     id="name inside a string"),
        pytest.param(b'{"x":{"a":[{"a":1}]},"a":2}', {"a": None}, b'{"x":{"a":[{"a":1}]}}',
                     id="name inside another object"),
        pytest.param(b'{"n":1.0e+2,"m":-0,"l":1e400}', {"z": b"0"},
                     b'{"n":1.0e+2,"m":-0,"l":1e400,"z":0}', id="number spellings"),
        pytest.param('{"ü":"ö"}'.encode(), {"ü": '"ä"'.encode()}, '{"ü":"ä"}'.encode(), id="UTF-8"),
        pytest.param(b'{"x":"\\ud800"}', {"a": b'"\\udfff"'}, b'{"x":"\\ud800","a":"\\udfff"}',
                     id="lone surrogates"),
    ],
)  # fmt: skip
def test_bytes_around_a_change_stay(
    body: bytes, changes: dict[str, bytes | None], expected: bytes
) -> None:
    assert with_members(body, changes) == expected


def test_integer_of_any_length_survives() -> None:
    body = b'{"n":' + b"9" * 10_000 + b"}"

    assert with_members(body, {"n": None, "m": b"1"}) == b'{"m":1}'
    assert members_of(body) == {"n": b"9" * 10_000}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param(b"", "an object", id="empty"),
        pytest.param(b"[]", "an object", id="array"),
        pytest.param(b'\xef\xbb\xbf{"a":1}', "an object", id="byte order mark"),
        pytest.param(b"{", "a member name", id="unclosed"),
        pytest.param(b'{"a":1,}', "a member name", id="comma before the end"),
        pytest.param(b'{,"a":1}', "a member name", id="comma before the first"),
        pytest.param(b"{1:2}", "a member name", id="name is no string"),
        pytest.param(b'{"a" 1}', "a colon", id="no colon"),
        pytest.param(b'{"a":1', "a comma", id="unclosed after a value"),
        pytest.param(b'{"a":1 "b":2}', "a comma", id="no comma"),
        pytest.param(b'{"a":}', "Expecting value", id="no value"),
        pytest.param(b'{"a":1} x', "Extra data", id="trailing text"),
        pytest.param(b'{"a":NaN}', "NaN", id="not finite"),
        pytest.param(b'{"a":"\xff"}', "utf-8", id="not UTF-8"),
        pytest.param(b'{"a":"x\ny"}', "control character", id="raw control character"),
        pytest.param(b'{"a":' + b"[" * 100_000, "too deeply", id="nested too deeply"),
    ],
)
def test_broken_object_is_refused(body: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        with_members(body, {"a": b"2"})


@pytest.mark.parametrize("array", [b"", b"[", b"]", b"{}", b"1]", b"[1"])
def test_array_without_brackets_is_refused(array: bytes) -> None:
    with pytest.raises(ValueError, match="array"):
        with_items(array, [b"1"])


@pytest.mark.parametrize("array", [b"{}", b"[1 2]", b"[1,]", b"[1] x", b"[1"])
def test_items_of_a_broken_array_are_refused(array: bytes) -> None:
    with pytest.raises(ValueError, match=r"Expecting|Extra"):
        items_of(array)


def test_object_of_ten_thousand_members_is_the_largest_that_is_scanned() -> None:
    members = b",".join(b'"%d":1' % number for number in range(10_000))

    assert len(members_of(b"{" + members + b"}")) == 10_000
    with pytest.raises(TooMany, match="more than 10,000 members"):
        members_of(b"{" + members + b',"more":1}')


def test_scan_stops_at_the_member_that_is_too_many() -> None:
    body = b"{" + b'"a":1,' * 10_000 + b"no JSON"

    with pytest.raises(TooMany, match="more than 10,000 members"):
        with_members(body, {"a": b"2"})


def test_members_of_inner_objects_are_not_counted() -> None:
    inner = b"{" + b",".join([b'"a":1'] * 10_001) + b"}"

    assert members_of(b'{"x":' + inner + b"}") == {"x": inner}


def test_array_of_a_hundred_thousand_items_is_the_largest_that_is_scanned() -> None:
    items = b"1" + b",1" * 99_999

    assert len(items_of(b"[" + items + b"]")) == 100_000
    with pytest.raises(TooMany, match="more than 100,000 items"):
        items_of(b"[" + items + b",no JSON")


def test_more_than_a_hundred_thousand_items_are_not_appended() -> None:
    with pytest.raises(TooMany, match="more than 100,000 items"):
        with_items(b"[]", [b"1"] * 100_001)
