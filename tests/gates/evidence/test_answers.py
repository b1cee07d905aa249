import json

import pytest

from proxy.gates.evidence.answers import json_numbers, written_texts
from proxy.gates.evidence.findings import Finding, Kind, Span, Support
from proxy.wire.reply import Choice

PLACE = "choices[0].message.content"


def test_text_is_held_as_it_is() -> None:
    texts = written_texts(Choice(0, "It is 5."))

    assert (texts.text, texts.places) == ("It is 5.", (PLACE,))
    assert json_numbers(Choice(0, "It is 5.")).text == ""


def test_values_of_a_json_answer_stand_on_lines_of_their_own() -> None:
    choice = Choice(0, json.dumps({"a": ["x", True, None], "b": {"c/d": "y 5"}}))
    texts = written_texts(choice)
    finding = Finding(Kind.NUMBER, Support.MISSING, Span(5, 6), "5")

    placed = texts.placed(finding)

    assert texts.text == "x\n\ny 5"
    assert (placed.place, placed.span, placed.text) == (f"{PLACE}#/b/c~1d", Span(2, 3), "5")


def test_numbers_stand_beside_their_keys() -> None:
    choice = Choice(0, json.dumps({"wind_kmh": [31, 4.5], 'a"b': {"n": -2}, "t": True}))
    texts = json_numbers(choice)

    assert texts.text.split("\n\n") == ['"wind_kmh": 31', '"wind_kmh": 4.5', '"n": -2']
    assert texts.places[1] == f"{PLACE}#/wind_kmh/1"


@pytest.mark.parametrize("content", ["{broken", "[" * 100_000, None, ""])
def test_what_is_no_json_has_no_numbers(content: str | None) -> None:
    assert json_numbers(Choice(0, content)).text == ""


def test_finding_in_no_text_has_no_place_to_fall_out_of() -> None:
    texts = written_texts(Choice(0, '{"a": "x"}'))
    finding = Finding(Kind.NUMBER, Support.MISSING, Span(0, 1), "x")

    assert texts.placed(finding).place == f"{PLACE}#/a"
