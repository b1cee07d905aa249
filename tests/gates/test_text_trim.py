import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proxy.gates.text_markdown import MarkdownText
from proxy.gates.text_trim import SentenceTrimmer
from proxy.gates.text_units import TextMeter, Unit

METER = TextMeter()
TRIMMER = SentenceTrimmer(METER)
STRIP = MarkdownText().strip
PIECES = [
    "Ein Satz. ",
    "Noch einer! ",
    "z. B. ",
    "**fett.** ",
    "**offen. ",
    "[Link. da](http://a.b) ",
]
PIECES += [
    "`Code. da` ",
    "\n\n",
    "- ",
    "```\nx. y.\n```\n",
    "Ja? ",
    "«Gut. Ja.» ",
    "我们。",
    "<b>x.</b> ",
]
PIECES += ["| a. | b. |\n", "👍🏽! ", "e\u0301.\u0301 ", "http://a.b.c/d ", "offen"]
TEXT = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


def _trim(text: str, most: int, least: int = 1) -> str | None:
    def is_short(beginning: str) -> bool:
        return METER.count(beginning, Unit.GRAPHEMES) <= most

    def is_right(beginning: str) -> bool:
        return is_short(beginning) and METER.count(beginning, Unit.GRAPHEMES) >= least

    return TRIMMER.trim(text, is_short, is_right)


@pytest.mark.parametrize(
    ("text", "most", "trimmed"),
    [
        ("Eins ist da. Zwei ist da. Drei.", 25, "Eins ist da. Zwei ist da."),
        ("Eins ist da. Zwei ist da. Drei.", 24, "Eins ist da."),
        ("Am 27. Mai kam Dr. Huber. Dann ging er.", 26, "Am 27. Mai kam Dr. Huber."),
        ("Gut. Ein [Link. Er](http://a.b) da. Ende.", 30, "Gut."),
        ("Gut. Dann `a. b c d e` hier. Ende.", 20, "Gut."),
        ("Gut. Nun **Wort. Noch** mehr. Ende.", 25, "Gut."),
        ("Gut so.\n\n```\nEin. Zwei. Drei.\n```\nEnde.", 25, "Gut so."),
        ("我们今天去。图书馆。", 7, "我们今天去。"),
        ("**Eins.** Zwei. Drei vier.", 16, "**Eins.** Zwei."),
        ("Eins. Zwei.[^1] Drei.\n\n[1]: http://a.b", 12, "Eins."),
    ],
    ids=["fits", "next", "date", "link", "code", "emphasis", "fence", "chinese", "closed", "note"],
)
def test_text_ends_at_its_last_sentence_that_fits(text: str, most: int, trimmed: str) -> None:
    assert _trim(text, most) == trimmed


@pytest.mark.parametrize(
    ("text", "most", "least"),
    [
        ("Ein langer Satz ohne Ende", 10, 1),
        ("Ein langer Satz. Ende.", 10, 1),
        ("Ja. Ein langer Satz folgt.", 10, 5),
        ("<p>Ja. Ein langer Satz.</p>", 10, 1),
        ("Ja. Ein langer Satz \ud83d.", 10, 1),
    ],
    ids=["no_end", "none_fits", "below_minimum", "html", "half_a_pair"],
)
def test_text_without_a_right_beginning_is_left(text: str, most: int, least: int) -> None:
    assert _trim(text, most, least) is None


@given(TEXT, st.integers(1, 120))
def test_trimmed_text_is_a_beginning_within_the_limit(text: str, most: int) -> None:
    trimmed = _trim(text, most)

    assume(trimmed is not None)
    assert trimmed is not None
    assert text.startswith(trimmed)
    assert 1 <= METER.count(trimmed, Unit.GRAPHEMES) <= most
    assert METER.clusters(text)[: len(METER.clusters(trimmed))] == METER.clusters(trimmed)


@given(TEXT, st.integers(1, 120))
def test_reader_sees_the_same_beginning(text: str, most: int) -> None:
    trimmed = _trim(text, most)

    assume(trimmed is not None)
    assert trimmed is not None
    assert " ".join(STRIP(text).split()).startswith(" ".join(STRIP(trimmed).split()))
