import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.demo.imitation.prose import clipped, prose, words_of_length
from tests.fakes.imitation import chance


@pytest.mark.parametrize("words", [1, 20, 300])
def test_text_has_about_so_many_words(words: int) -> None:
    text = prose(words, chance(1))

    assert words <= len(text.split()) < words + 20
    assert text.endswith(".")


@given(st.integers(0, 300), st.integers(0, 300), st.integers())
def test_length_in_characters_is_kept(least: int, more: int, seed: int) -> None:
    text = words_of_length(least, least + more, chance(seed))

    assert least <= len(text) <= least + more


@given(st.text(max_size=80), st.integers(0, 20), st.integers(0, 40))
def test_clipped_text_is_never_too_long(text: str, least: int, more: int) -> None:
    assert len(clipped(text, least, least + more)) <= least + more


def test_text_is_clipped_at_a_word_where_it_can_be() -> None:
    assert clipped("a good seal matters", 4, 12) == "a good seal"
    assert clipped("a good seal matters", 12, 12) == "a good seal."
