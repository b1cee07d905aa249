import pytest

from proxy.gates.evidence.quotations import is_quoted_from, quotation_form, quotations


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Er sagte: „Wir sind da.“ Und ging.", ["Wir sind da."]),
        ("“We are here”, «nous sommes là», »wir sind da«", [
            "We are here", "nous sommes là", "wir sind da",
        ]),
        ('a "one two three" b', ["one two three"]),
        ("\u2039eins zwei drei\u203a", ["eins zwei drei"]),
        ("the «Nature Medicine» paper", []),
        ('5" screens and 6" ones', []),
        ("„never closed", []),
    ],
)  # fmt: skip
def test_passages_of_three_words_are_quotations(text: str, found: list[str]) -> None:
    assert [span.of(text) for span in quotations(text)] == found


SOURCE = quotation_form(
    "Sie sagte: «Wir haben das, *soweit* ich weiss, nie behauptet - 3 Mal nicht [4].» Ende."
)


@pytest.mark.parametrize(
    ("quotation", "is_there"),
    [
        ("Wir haben das, soweit ich weiß, nie behauptet", True),
        ("wir haben das, soweit ich weiss", True),
        ("Wir haben das […] nie behauptet", True),
        ("Wir haben das (...) nie behauptet", True),
        ("Wir haben [sie] nie behauptet", True),
        ("nie behauptet [...] Wir haben das", False),
        ("Wir haben das nie behauptet", False),
        ("ir haben das", False),
        ("4 Mal nicht", False),
        ("nie behauptet - 3 Mal nicht [5]", True),
        ("…", True),
    ],
)
def test_quotation_stands_in_the_source_word_for_word(quotation: str, is_there: bool) -> None:
    assert is_quoted_from(quotation, SOURCE) is is_there


def test_no_changed_digit_is_accepted() -> None:
    source = quotation_form("In 2019 were 1,204 of 36 sold.")

    for place, sign in enumerate("In 2019 were 1,204 of 36 sold"):
        if sign.isdigit():
            text = "In 2019 were 1,204 of 36 sold"
            changed = text[:place] + str((int(sign) + 1) % 10) + text[place + 1 :]
            assert not is_quoted_from(changed, source)
