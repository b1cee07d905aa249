from hypothesis import given
from hypothesis import strategies as st

from proxy.recipes.show.printable import printable


def test_plain_text_stays_as_it_is() -> None:
    assert printable("Größe — 8 × 3") == "Größe — 8 × 3"  # noqa: RUF001


def test_what_steers_a_terminal_stands_as_its_code() -> None:
    assert printable("a\x1b[2Jb\nc\u202ed\ud800") == r"a\x1b[2Jb\nc\u202ed\ud800"


@given(st.text())
def test_any_text_comes_out_printable(text: str) -> None:
    assert printable(text).isprintable()
