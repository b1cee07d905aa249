import pytest

from proxy.wire.lenient import is_whole, text_of


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
