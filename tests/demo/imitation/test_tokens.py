from hypothesis import given
from hypothesis import strategies as st

from proxy.demo.imitation.tokens import pieces_of, token_id


@given(st.text())
def test_tokens_joined_are_the_text(text: str) -> None:
    pieces = pieces_of(text)

    assert "".join(pieces) == text
    assert all(pieces)
    assert all(0 <= token_id(piece) < 151_000 for piece in pieces)


def test_equal_pieces_have_equal_ids() -> None:
    assert token_id(" gate") == token_id(" gate") != token_id(" lock")
