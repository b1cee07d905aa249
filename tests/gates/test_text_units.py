import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.gates.text_units import TextMeter, Unit, is_blank, whole

METER = TextMeter()
COUNTED = [unit for unit in Unit if unit is not Unit.TOKENS]
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"Grüße {FAMILY}\U0001f44d\U0001f3fd!", 9),
        ("e\u0301a\u0308", 2),
        ("\U0001f1e9\U0001f1ea\U0001f1e8\U0001f1ed", 2),
        ("각", 1),
        ("ab\u00adcd\u200bef", 6),
        ("a\r\nb", 3),
        ("  a b\n", 3),
        ("\u00ad a", 1),
    ],
    ids=["emoji", "marks", "flags", "jamo", "invisible", "line_end", "outer_blanks", "hidden_edge"],
)
def test_graphemes_are_what_a_reader_sees(text: str, count: int) -> None:
    assert METER.count(whole(text), Unit.GRAPHEMES) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [("a\u0308", 1), ("ä", 1), (FAMILY, 7), (" abc ", 3)],
    ids=["decomposed", "composed", "emoji", "outer_blanks"],
)
def test_characters_are_code_points_after_composing(text: str, count: int) -> None:
    assert METER.count(text, Unit.CHARACTERS) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Endlich da !!! :: \u2013 mehr Bus !", 4),
        ("Ab Montag fahren abends mehr Busse ins Tal.", 8),
        ("我们今天去图书馆学习", 6),
        ("E-Mail an den Rot-Kreuz-Helfer", 4),
        ("3,5 km \u2013 9.30 Uhr", 4),
        ("- eins - zwei", 2),
        ("___ *", 0),
        ("don't", 1),
        ("", 0),
    ],
    ids=[
        "signs",
        "plain",
        "chinese",
        "hyphens",
        "numbers",
        "dashes",
        "marks",
        "apostrophe",
        "none",
    ],
)
def test_words_hold_a_letter_or_digit(text: str, count: int) -> None:
    assert METER.count(text, Unit.WORDS) == count


def test_paragraphs_are_parted_by_blank_lines_and_lines_have_something_to_see() -> None:
    text = "\n\na\nb\n \n\n\nc\n\u200b\n"

    assert METER.count(text, Unit.PARAGRAPHS) == 2
    assert METER.count(text, Unit.LINES) == 3


def test_empty_text_has_none_of_anything() -> None:
    assert [METER.count(" \n", unit) for unit in COUNTED] == [0] * len(COUNTED)


@pytest.mark.parametrize(
    "text",
    ["", " \n\t", "\u00a0\u2003", "\u200b\u00ad\ufeff", "\u2800\u3164", "\u200d\ufe0f", "\x00\x1b"],
    ids=["nothing", "blanks", "wide", "invisible", "fillers", "joiners", "controls"],
)
def test_text_that_shows_nothing_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " 1 ", "。", "👍", "_", "\u200b-"])
def test_any_letter_digit_or_sign_is_not_blank(text: str) -> None:
    assert not is_blank(text)


def test_halves_of_pairs_are_joined_or_replaced() -> None:
    assert whole("\ud83d\udc4d x\ud83d\r\ny") == "👍 x\ufffd\ny"


@pytest.mark.parametrize(
    ("unit", "one", "many"),
    [
        (Unit.GRAPHEMES, "1 character", "2 characters"),
        (Unit.SENTENCES, "1 sentence", "2 sentences"),
    ],
)
def test_unit_is_named_as_a_model_understands_it(unit: Unit, one: str, many: str) -> None:
    assert (unit.of(1), unit.of(2)) == (one, many)


@given(st.text(), st.sampled_from(COUNTED))
def test_no_unit_is_smaller_than_a_character(text: str, unit: Unit) -> None:
    assert 0 <= METER.count(whole(text), unit) <= len(text)


@given(st.text(alphabet=" ab\n."), st.sampled_from(COUNTED))
def test_blanks_around_a_text_do_not_count(text: str, unit: Unit) -> None:
    assert METER.count(f"\n {text} \n\n", unit) == METER.count(text, unit)
