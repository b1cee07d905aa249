import re

import pytest

from proxy.gates.evidence.comparison import compare
from proxy.gates.evidence.findings import Rounding, Support
from proxy.gates.evidence.hedges import hedge_at
from proxy.gates.evidence.quantities import quantities
from proxy.gates.evidence.source_index import SourceIndex


def support(answer: str, source: str, rounding: Rounding = Rounding.HEDGED) -> str:
    (one,) = quantities(answer, set(re.findall(r"[^\W\d_]+", answer)))
    hedge = hedge_at(answer, one.start, one.end)
    return compare(one, hedge, SourceIndex(source), rounding).support


@pytest.mark.parametrize(
    ("answer", "source", "expected"),
    [
        ("1250 Stück", "1'250 Stück", Support.EXACT),
        ("1.234 m", "1234 m", Support.EXACT),
        ("12", "12 Stunden", Support.EXACT),
        ("12 Stunden", "Dauer: 12", Support.EXACT),
        ("1,2 Gramm", "1,2 kg", Support.UNIT_MISMATCH),
        ("35 Euro", "35 Franken", Support.UNIT_MISMATCH),
        ("35 Prozentpunkte", "35 %", Support.UNIT_MISMATCH),
        ("35 Personen", "35 %", Support.UNIT_MISMATCH),
        ("35 %", "35 Personen", Support.EXACT),
        ("389 Igel", "412 Igel und 389 Vögel", Support.UNIT_MISMATCH),
        ("389 Igel", "412 Igel und 389 kleine Igel", Support.EXACT),
        ("5 Grad", "-5 °C", Support.UNIT_MISMATCH),
        ("-5 Grad", "-5 °C", Support.EXACT),
        ("1200 Gramm", "1,2 kg", Support.CONVERTED),
        ("6,2 Meilen", "10 km", Support.CONVERTED),
        ("8 Meilen", "10 km", Support.MISSING),
        ("-20 °C", "-4 °F", Support.CONVERTED),
        ("ein Drittel", "33,3 %", Support.ROUNDED),
        ("zwei Drittel", "63 %", Support.ROUNDED),
        ("zwei Drittel", "zwei Drittel", Support.EXACT),
        ("zwei Drittel", "sieben Zehntel", Support.ROUNDED),
        ("zwei Drittel", "30 %", Support.MISSING),
        ("rund 60 Prozent", "63 %", Support.ROUNDED),
        ("60 Prozent", "63 %", Support.MISSING),
        ("rund 60 Prozent", "71 %", Support.MISSING),
        ("fast 9 Millionen", "8,96 Millionen", Support.ROUNDED),
        ("fast 9 Millionen", "9,2 Millionen", Support.MISSING),
        ("über 300", "317", Support.ROUNDED),
        ("über 300", "299", Support.MISSING),
        ("rund 10 kg", "9,8", Support.ROUNDED),
        ("rund 2100", "im Jahr 2080", Support.MISSING),
        ("rund 2000", "1985 Stück", Support.ROUNDED),
        ("rund 60", "zwei Drittel", Support.MISSING),
        ("rund 0,7", "zwei Drittel", Support.MISSING),
        ("zwei Drittel", "0,66", Support.MISSING),
        ("1950s", "1957", Support.ROUNDED),
        ("1950s", "1'955 Stück", Support.MISSING),
        ("3 Billion", "3 Milliarden", Support.EXACT),
        ("3 Billion", "3 Billionen", Support.EXACT),
        ("60er", "1957", Support.MISSING),
        ("90er", "1994", Support.ROUNDED),
        ("20. Jahrhundert", "1957", Support.ROUNDED),
        ("19. Jahrhundert", "1957", Support.MISSING),
        ("42 µg/l", "42 mg/l", Support.UNIT_MISMATCH),
        ("höchstens 50 mg/l", "40 mg/l", Support.MISSING),
    ],
)
def test_support_of_a_value(answer: str, source: str, expected: Support) -> None:
    assert support(answer, source) == expected


@pytest.mark.parametrize(
    ("rounding", "answer", "expected"),
    [
        (Rounding.EXACT, "rund 60 Prozent", Support.MISSING),
        (Rounding.FREE, "60 Prozent", Support.ROUNDED),
        (Rounding.FREE, "61 Prozent", Support.MISSING),
    ],
)
def test_policy_says_which_rounded_values_count(
    rounding: Rounding, answer: str, expected: Support
) -> None:
    assert support(answer, "63 %", rounding) == expected
