from typing import Any

import pytest

from proxy.wire.lenient import index_of, indexes_of, is_whole, text_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param("a", "a", id="string"),
        pytest.param([{"text": "a"}, "b", {"text": 1}, {}, 7], "ab", id="parts"),
        pytest.param([], "", id="no parts"),
        pytest.param(None, None, id="null"),
        pytest.param({"text": "a"}, None, id="object"),
    ],
)
def test_text_is_a_string_or_the_texts_of_its_parts(value: object, text: str | None) -> None:
    assert text_of(value) == text


@pytest.mark.parametrize(
    ("value", "whole"), [(0, True), (-1, True), (True, False), (1.0, False), ("1", False)]
)
def test_only_integers_are_whole(value: object, *, whole: bool) -> None:
    assert is_whole(value) is whole


@pytest.mark.parametrize(
    ("item", "index"),
    [({"index": 0}, 0), ({"index": 7}, 7), ({}, 3), ({"index": "1"}, 3), ({"index": True}, 3)],
    ids=repr,
)
def test_index_that_is_not_stated_is_the_position(item: dict[str, Any], index: int) -> None:
    assert index_of(item, 3) == index


@pytest.mark.parametrize(
    ("stated", "indexes"),
    [
        pytest.param([1, 0], [1, 0], id="as stated"),
        pytest.param([None, None], [0, 1], id="none stated"),
        pytest.param([0, 0, 5], [0, 1, 2], id="one stated twice"),
        pytest.param([1, None], [0, 1], id="one stated is another's position"),
        pytest.param([], [], id="no choices"),
    ],
)
def test_no_two_choices_of_a_body_share_an_index(
    stated: list[int | None], indexes: list[int]
) -> None:
    assert list(indexes_of([{"index": index} for index in stated])) == indexes
