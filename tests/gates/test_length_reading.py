from typing import Any

import pytest

from proxy.gates.length_options import LengthOptions
from proxy.gates.length_reading import LengthReader, LengthReading
from proxy.gates.text_units import TextMeter
from proxy.wire.reply import Choice

METER = TextMeter()


def _reader(*targets: dict[str, Any], strip: str = "none") -> LengthReader:
    options = LengthOptions.model_validate({"targets": targets, "strip": strip})
    return LengthReader(options.targets, METER, options.strip)


def _read(reader: LengthReader, content: str, *, is_json: bool = False) -> LengthReading:
    return reader.read(Choice(0, content), is_json=is_json)


def test_each_limit_is_held_against_its_texts() -> None:
    reader = _reader(
        {"of": "$.teaser", "unit": "graphemes", "min": 20, "max": 80},
        {"of": "$.tags[*]", "unit": "graphemes", "max": 12},
        {"of": "$.fehlt", "unit": "words", "min": 3},
    )
    content = '{"teaser":"  \\n\\t","tags":["bus","sehr-langes-schlagwort-hier"]}'

    reading = _read(reader, content, is_json=True)

    assert reading.texts == 3
    assert [finding.name for finding in reading.findings] == ["$.teaser", "$.tags[1]"]


@pytest.mark.parametrize(
    ("strip", "content"),
    [
        ("markdown", "**Kurz** und [gut](https://example.org/lang)"),
        ("html", "<p>Kurz und <b>gut</b></p>"),
        ("none", "Kurz und gut"),
    ],
)
def test_markup_that_is_stripped_does_not_count(strip: str, content: str) -> None:
    reader = _reader({"of": "text", "unit": "graphemes", "min": 12, "max": 12}, strip=strip)

    assert _read(reader, content).findings == ()


def test_markup_without_text_is_blank() -> None:
    reader = _reader({"of": "text", "unit": "graphemes", "min": 1}, strip="html")

    (finding,) = _read(reader, "<p> <br></p>").findings

    assert finding.complaint == "is blank but needs at least 1 character"


def test_tokens_are_asked_for_and_blank_texts_are_not() -> None:
    reader = _reader({"of": "text", "unit": "tokens", "min": 2, "max": 9}, strip="markdown")

    asked = _read(reader, "**Hallo** Welt")
    blank = _read(reader, " \n")

    assert [one.found.text for one in asked.asked] == ["Hallo Welt"]
    assert (asked.findings, blank.asked) == ((), ())
    assert len(blank.findings) == 1


def test_half_a_pair_of_surrogates_is_one_character() -> None:
    reader = _reader({"of": "text", "unit": "graphemes", "max": 3})

    assert _read(reader, "a\ud83db").findings == ()


@pytest.mark.parametrize(
    ("text", "maxima", "all_limits"),
    [("eins zwei", True, True), ("eins", True, False), ("eins zwei drei vier", False, False)],
)
def test_text_is_held_against_the_limits_of_whole_texts(
    text: str, *, maxima: bool, all_limits: bool
) -> None:
    reader = _reader(
        {"of": "text", "unit": "words", "min": 2, "max": 3},
        {"of": "text", "unit": "tokens", "max": 1},
        {"of": "$.a", "unit": "words", "max": 1},
    )

    assert reader.holds(text, minimum=False) is maxima
    assert reader.holds(text, minimum=True) is all_limits
