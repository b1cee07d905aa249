import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.gates.evidence.plain_text import plain_text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        pytest.param("plain", "plain", id="nothing to do"),
        pytest.param("1\u2019250", "1'250", id="apostrophe"),
        pytest.param("12\u00a0300", "12 300", id="no-break space"),
        pytest.param("3\u2011mal \u2013 \u22125", "3-mal - -5", id="dashes and minus"),
        pytest.param("12\u200b34", "1234", id="zero width in a number"),
        pytest.param("H\u00f6chst\u00adstand", "H\u00f6chststand", id="soft hyphen"),
        pytest.param("\u202e1234\u202c", "1234", id="right to left override"),
        pytest.param("\u0661\u0662\u0663", "123", id="Arabic digits"),
        pytest.param("\uff11\uff12", "12", id="wide digits"),
        pytest.param("m\u00b2 2019\u00b9", "m\u00b2 2019\u00b9", id="superscripts stay"),
        pytest.param("AT&amp;T &lt;5&nbsp;kg", "AT&T <5 kg", id="entities"),
        pytest.param("&nosuch; &amp", "&nosuch; &amp", id="no entity"),
        pytest.param("u\u0308ber", "\u00fcber", id="combining mark"),
        pytest.param("\ud800 5", "\ufffd 5", id="lone surrogate"),
        pytest.param("5 \ufb01nal", "5 final", id="ligature"),
        pytest.param("\u2708\ufe0f 5", "\u2708 5", id="variation selector"),
        pytest.param("a\u2028b", "a\nb", id="line separator"),
    ],
)
def test_text_is_made_plain(text: str, plain: str) -> None:
    assert plain_text(text).text == plain


def test_range_of_the_plain_text_is_told_in_the_text_as_it_was() -> None:
    text = "a&amp;b 12\u200b34 u\u0308 5"
    plain = plain_text(text)

    for word, own in (("12", "12"), ("1234", "12\u200b34"), ("\u00fc", "u\u0308"), ("5", "5")):
        start = plain.text.index(word)
        begin, end = plain.origin(start, start + len(word))
        assert text[begin:end] == own


def test_empty_range_has_a_place() -> None:
    assert plain_text("a&amp;b").origin(2, 2) == (6, 6)


@given(st.text(alphabet=st.sampled_from("ab1 &;amp\u200b\u0308\u00ad\u2019\ufb01\u00fc\n")))
def test_ranges_stay_inside_the_text(text: str) -> None:
    plain = plain_text(text)

    for at in range(len(plain.text)):
        start, end = plain.origin(at, at + 1)
        assert 0 <= start < end <= len(text)
