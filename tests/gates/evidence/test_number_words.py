import pytest

from proxy.gates.evidence.number_words import fraction_value, word_value


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("zwölf", 12),
        ("Einundzwanzig", 21),
        ("dreißig", 30),
        ("vierhundert", 400),
        ("hundert", 100),
        ("tausend", 1000),
        ("zweitausenddreihundertfünf", 2305),
        ("zweihunderttausend", 200_000),
        ("eintausend", 1000),
        ("hundertundeins", None),
        ("fünfundvierzig", 45),
        ("zweieinhalb", 2.5),
        ("anderthalb", 1.5),
        ("dritte", 3),
        ("siebten", 7),
        ("zwanzigsten", 20),
        ("zehnter", 10),
        ("heute", None),
        ("sekunde", None),
        ("hunderte", None),
        ("und", None),
        ("hund", None),
        ("xundzwanzig", None),
        ("zweixhundert", None),
        ("twelve", 12),
        ("third", 3),
        ("seventh", 7),
        ("one", None),
        ("ein", None),
        ("zwei" * 20, None),
    ],
)
def test_word_is_a_number_or_none(word: str, value: float | None) -> None:
    assert word_value(word) == value


@pytest.mark.parametrize(
    ("word", "value"), [("Hälfte", 0.5), ("quarters", 0.25), ("Drittel", 1 / 3), ("house", None)]
)
def test_word_is_a_fraction_or_none(word: str, value: float | None) -> None:
    assert fraction_value(word) == value
