import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.gates.text_path import InvalidPath, Key, parse_path, pointer, spelled

DOCUMENT = {
    "titel": "T",
    "größe": 3,
    "tags": ["a", "b"],
    "teile": [{"text": "eins"}, {"text": "zwei", "mehr": None}, 7],
    "a/b~c": {"x y": "tief"},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$.titel", [(("titel",), "T")]),
        ("$.größe", [(("größe",), 3)]),
        ("$.tags[*]", [(("tags", 0), "a"), (("tags", 1), "b")]),
        ("$.tags[1]", [(("tags", 1), "b")]),
        ("$.teile[*].text", [(("teile", 0, "text"), "eins"), (("teile", 1, "text"), "zwei")]),
        ("$['a/b~c'][\"x y\"]", [(("a/b~c", "x y"), "tief")]),
        ("$.teile[1].*", [(("teile", 1, "text"), "zwei"), (("teile", 1, "mehr"), None)]),
        ("$.tags[7]", []),
        ("$.titel.tiefer", []),
        ("$.titel[0]", []),
        ("$.tags.name", []),
        ("$.fehlt", []),
    ],
)
def test_path_leads_to_what_is_there(
    path: str, found: list[tuple[tuple[Key, ...], object]]
) -> None:
    assert list(parse_path(path).find(DOCUMENT)) == found


def test_escaped_quote_is_part_of_a_name() -> None:
    assert parse_path(r"$['it\'s']").steps == ("it's",)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("titel", "begins with `\\$`"),
        ("", "begins with `\\$`"),
        ("$", "whole document"),
        ("$.", "character 2: a member's name"),
        ("$.a..b", "character 4: there is no `..`"),
        ("$.a[?(@.b)]", "character 4: there are no filters"),
        ("$.a[-1]", "character 4: there are no negative indexes"),
        ("$.a[1", "character 4: the bracket is not closed"),
        ("$.a[01]", "character 4: a member's name, an index"),
        ("$.a b", "character 4: cannot be read"),
        ("$a", "character 2: cannot be read"),
    ],
)
def test_what_is_no_path_is_refused_with_the_place(path: str, why: str) -> None:
    with pytest.raises(InvalidPath, match=why):
        parse_path(path)


def test_keys_are_spelled_as_pointer_and_as_path() -> None:
    keys: tuple[Key, ...] = ("a/b~c", 1, "x y", "z")

    assert pointer(keys) == "/a~1b~0c/1/x y/z"
    assert spelled(keys) == "$['a/b~c'][1]['x y'].z"
    assert parse_path(spelled(keys)).steps == keys


def test_name_that_is_a_text_is_cut_short() -> None:
    keys: tuple[Key, ...] = ("x" * 65, "y" * 64)

    assert pointer(keys) == f"/{'x' * 64}…/{'y' * 64}"
    assert spelled(keys) == f"$['{'x' * 64}…'].{'y' * 64}"


NESTED = st.recursive(
    st.none() | st.integers() | st.sampled_from(["a", "b", "\u00e4", 'q"']),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "title", "\u00e4", 'q"']), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    document=NESTED,
    path=st.sampled_from(["$.a", "$.title", "$.a.b", "$.\u00e4", "$['q\"']", "$.*.a", "$[0].a"]),
    escapes=st.booleans(),
)
def test_path_that_is_found_may_be_in_the_text(document: Any, path: str, *, escapes: bool) -> None:
    read = parse_path(path)
    text = json.dumps(document, ensure_ascii=escapes)

    if any(read.find(document)):
        assert read.may_be_in(text)


def test_path_whose_name_is_not_there_is_not_in_the_text() -> None:
    assert not parse_path("$.a.title").may_be_in('{"a": {"titles": 1}}')
