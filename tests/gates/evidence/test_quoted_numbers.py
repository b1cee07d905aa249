import pytest

from proxy.gates.evidence.quoted_numbers import has_numbers_of


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("Der Umbau dauert acht Monate.", "weil der Umbau so lange dauert"),
        ("Der Umbau kostet 12'500 Franken.", "kostet 12 500 Franken"),
        ("Es waren 3,5 Millionen Euro.", "3'500'000 Euro"),
        ("Zwölf Busse fahren.", "12 Busse"),
        ("Am 3. März 2024 beginnt der Bau.", "Baubeginn ist am 03.03.2024"),
        ("Es sind 20 Prozent mehr.", "um 20 % mehr"),
        ("Bei -5 Grad und 3 Stunden.", "bei -5 Grad"),
        ("Die Firma verkauft ein Werk.", "eine Firma"),
        ("Die Firma verkauft beide Werke.", "die zwei Werke"),
        ("Am 3. März 2024 beginnt der Bau.", "am 3. März"),
        ("Version 4.17.2 ist da.", "in 4.17.2"),
        ("Das Modell RX-482 ist da.", "RX-482 ist da"),
    ],
    ids=[
        "none",
        "grouped",
        "scaled",
        "word",
        "date",
        "unit",
        "sign",
        "article",
        "pair",
        "year more",
        "version",
        "name",
    ],
)
def test_numbers_are_there_however_they_are_written(quote: str, claim: str) -> None:
    assert has_numbers_of(quote, claim)


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("Der Umbau ist teuer.", "kostet 12'500 Franken"),
        ("Der Umbau kostet 12'500 Franken.", "kostet 12'400 Franken"),
        ("Es waren 3,5 Millionen Euro.", "3,5 Milliarden Euro"),
        ("Es waren 3,46 Millionen Euro.", "3,5 Millionen Euro"),
        ("Es sind 120 Minuten.", "2 Stunden"),
        ("Es sind 20 Kilogramm.", "20 Tonnen"),
        ("Es sind 20 Leute.", "20 Prozent"),
        ("Bei 5 Grad ruht der Bau.", "bei -5 Grad"),
        ("Am 3. März 2024 beginnt der Bau.", "am 03.03.2025"),
        ("Am 3. März 2024 beginnt der Bau.", "am 4. März"),
        ("Am 3. März beginnt der Bau.", "am 3. März 2024"),
        ("Version 4.17.2 ist da.", "in 4.17.3"),
        ("Das Modell RX-482 ist da.", "RX-483 ist da"),
        ("12 und 13 Busse", "12, 13 und 14 Busse"),
    ],
    ids=[
        "none",
        "digit",
        "scale",
        "rounded",
        "converted",
        "unit",
        "no unit",
        "sign",
        "year",
        "day",
        "year less",
        "version",
        "name",
        "one of three",
    ],
)
def test_number_that_is_not_exactly_there_is_missed(quote: str, claim: str) -> None:
    assert not has_numbers_of(quote, claim)
