import re

import pytest

from proxy.gates.evidence.derived import Material, derive
from proxy.gates.evidence.quantities import quantities
from proxy.gates.evidence.source_index import SourceIndex


def operation(answer: str, source: str) -> str | None:
    one = quantities(answer, set(re.findall(r"[^\W\d_]+", answer)))[0]
    index = SourceIndex(source)
    material = Material(index.quantities, index.clock_times, index.text)
    found = derive(one, answer, material)
    return found.operation if found else None


TRAIN = "Abfahrt 7.02 Uhr, Ankunft 9.11 Uhr"
GUESTS = "2022 kamen 1'098 Gäste, dann 1'247 Gäste"


@pytest.mark.parametrize(
    ("answer", "source", "expected"),
    [
        pytest.param("129 Minuten dauert es", TRAIN, "09:11 - 07:02", id="times"),
        pytest.param("129 Minuten", TRAIN, None, id="times without a cue"),
        pytest.param("130 Minuten dauert es", TRAIN, None, id="other time"),
        pytest.param("12 Tage dauert es", "7, 5", None, id="days have no clock"),
        pytest.param("81 Jahre alt", "1920 bis 2001", "2001 - 1920", id="years"),
        pytest.param("82 Jahre alt", "1920 bis 2001", None, id="other years"),
        pytest.param("2345 zusammen", GUESTS, "1'098 + 1'247", id="sum"),
        pytest.param("149 mehr", GUESTS, "1'247 - 1'098", id="difference"),
        pytest.param("2345", GUESTS, None, id="sum without a cue"),
        pytest.param("60 kg insgesamt", "10 kg, 20 kg, 30 kg", "10 kg + 20 kg + 30 kg", id="row"),
        pytest.param("61 kg insgesamt", "10 kg, 20 kg, 30 kg", None, id="other sum"),
        pytest.param("ein Drittel davon", "412 von 1247", "412 / 1247", id="fraction"),
        pytest.param("75 Prozent der 48", "48 Leute, 36 Frauen", "36 / 48", id="share"),
        pytest.param("14 Prozent mehr", GUESTS, "1'247 / 1'098 - 1", id="growth"),
        pytest.param("75 Prozent davon", "48 kg, 36 kg", None, id="share of no count"),
        pytest.param("33 % davon", "3 Linien, 1 Bus", "1 / 3", id="share with all its digits"),
        pytest.param("30 % davon", "3 Linien, 1 Bus", None, id="share whose zero counts"),
        pytest.param("10 % Rabatt", "Telefon 555, 4567", None, id="share that is only near"),
        pytest.param(
            "0,4 Prozentpunkte mehr", "von 4,1 auf 4,5 Prozent", "4,5 Prozent - 4,1", id="points"
        ),
        pytest.param("0,4 Prozent höher", "von 4,1 auf 4,5 Prozent", None, id="no points"),
        pytest.param(
            "1,5 Prozent waren es zuvor",
            "um 0,25 Prozentpunkte auf 1,25 Prozent",
            "1,25 Prozent + 0,25 Prozentpunkte",
            id="moved by points",
        ),
        pytest.param(
            "1,6 Prozent waren es zuvor", "um 0,25 Prozentpunkte auf 1,25 Prozent", None, id="not"
        ),
        pytest.param("60 Franken, je 5", "12 Karten zu 5 Franken", "12 x 5 Franken", id="product"),
        pytest.param("61 Franken, je 5", "12 Karten zu 5 Franken", None, id="other product"),
    ],
)
def test_value_follows_by_an_operation_that_the_sentence_names(
    answer: str, source: str, expected: str | None
) -> None:
    found = operation(answer, source)

    assert found == expected or (found and expected and set(found) == set(expected))
