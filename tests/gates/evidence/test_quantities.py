import re

import pytest

from proxy.gates.evidence.quantities import quantities
from proxy.gates.evidence.quantity import Quantity


def found(text: str) -> list[Quantity]:
    return quantities(text, set(re.findall(r"[^\W\d_]+", text)))


def told(text: str) -> list[tuple[str, float, str]]:
    return [
        (text[one.start : one.end], one.value, one.unit.kind if one.unit else one.noun)
        for one in found(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8,96 Mio. CHF", [("8,96 Mio. CHF", 8.96e6, "CHF")]),
        ("$3.5bn in cash", [("$3.5bn", 3.5e9, "USD")]),
        ("€14.2m", [("€14.2m", 14.2e6, "EUR")]),
        ("14 m hoch", [("14 m", 14, "length")]),
        ("14m hoch", [("14m", 14, "length")]),
        ("Fr. 5.-", [("Fr. 5", 5, "CHF")]),
        ("eine Million Menschen", [("eine Million", 1e6, "Menschen")]),
        ("drei Millionen Franken", [("drei Millionen Franken", 3e6, "CHF")]),
        ("zwei Billionen Euro", [("zwei Billionen Euro", 2e12, "EUR")]),
        ("3\u00bd Stunden", [("3\u00bd Stunden", 3.5, "time")]),
        ("\u00bd Liter", [("\u00bd Liter", 0.5, "volume")]),
        ("im 20. Jahrhundert", [("20. Jahrhundert", 20, "months")]),
        ("die 36 Personen", [("36", 36, "Personen")]),
        ("the 7th edition", [("7th", 7, "edition")]),
        ('{"wind_kmh": 31, "name_x": "4"}', [("31", 31, "speed"), ("4", 4, "")]),
        ("ein Dutzend Eier", [("ein Dutzend", 12, "Eier")]),
    ],
)
def test_number_has_its_scale_and_unit(text: str, expected: list[tuple[str, float, str]]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize("text", ["-5 °C", "minus 5 Grad", "minus fünf Grad"])
def test_minus_is_a_sign_before_a_number(text: str) -> None:
    (one,) = found(text)

    assert (one.is_negative, one.value) == (True, 5)


@pytest.mark.parametrize("text", ["1-5 kg", "Covid-5", "(a)-5"])
def test_hyphen_is_none(text: str) -> None:
    assert not any(one.is_negative for one in found(text))


def test_decades_years_shares_and_ordinals_are_told_apart() -> None:
    decade, year, share, ordinal = found("1990s, 1985, two thirds, 3rd")

    assert (decade.is_decade, decade.is_share) == (True, False)
    assert (year.is_year, share.is_share, share.is_year) == (True, True, False)
    assert ordinal.is_ordinal
