import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.gates.text_sentences import SentenceSplitter
from proxy.gates.text_units import whole

SPLITTER = SentenceSplitter()
PIECES = ["a", "Wort ", ". ", "! ", "«", "»", "z. B. ", "3. ", "Mai ", "\n\n", "。", "x" * 900, "„"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Am 27. Mai kam Dr. Müller, d. h. er kam z. B. aus St. Gallen. Das war gut!", 2),
        ("Am 3. Okt. ging er. Um 7.02 Uhr kam sie.", 2),
        ("Das kostet 3 Mio. Franken. Danach nichts.", 2),
        ("Prof. Dr. Meier u. a. sagten: «Ja! Genau.» Das stimmt.", 2),
        ("Mr. Smith, e.g. the U.S. one, paid $3.50. He left at 5 p.m. on Monday.", 2),
        ("See Fig. 2. No. 5 is alive.", 2),
        ("我们今天去图书馆。你呢\uff1f好\uff01", 3),
        ("Is it? Yes!! No...", 3),
        ("Kein Punkt am Ende", 1),
        ("!!! ... ??", 0),
        ("", 0),
    ],
    ids=[
        "german",
        "date",
        "millions",
        "quotation",
        "english",
        "figure",
        "chinese",
        "signs",
        "open",
        "no_words",
        "none",
    ],
)
def test_abbreviations_end_no_sentence(text: str, count: int) -> None:
    assert SPLITTER.count(text) == count


def test_sentences_are_counted_across_windows() -> None:
    text = "Das ist ein Satz, der z. B. hier endet. " * 1000

    assert SPLITTER.count(text) == 1000


def test_sentence_longer_than_a_window_is_one() -> None:
    assert SPLITTER.count("Wort " * 5000 + "Ende. Und noch einer.") == 2


def test_quotations_that_never_end_are_read_all_the_same() -> None:
    assert SPLITTER.count("«" * 60_000 + " Ja.") >= 1


@given(st.text() | st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_ends_rise_to_the_end_of_the_text(given_text: str) -> None:
    text = whole(given_text)

    ends = list(SPLITTER.ends(text))

    assert ends == sorted(set(ends))
    assert ends[-1:] == ([len(text)] if text else [])
