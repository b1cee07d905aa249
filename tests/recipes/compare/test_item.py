from hypothesis import given
from hypothesis import strategies as st

from proxy.recipes.compare.item import item_lines


def test_long_sentence_is_one_item_in_lines_that_fit() -> None:
    lines = item_lines("word " * 40)

    assert [line[:6] for line in lines] == ["- word", "  word", "  word"]
    assert max(map(len, lines)) <= 100


def test_long_word_stays_whole() -> None:
    assert item_lines("a-" * 80) == ["- " + "a-" * 80]


@given(st.lists(st.from_regex(r"[a-z-]{1,120}", fullmatch=True), min_size=1))
def test_no_word_is_lost(words: list[str]) -> None:
    lines = item_lines(" ".join(words))

    assert " ".join(lines).split()[1:] == words
