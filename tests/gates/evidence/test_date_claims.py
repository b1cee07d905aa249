import pytest

from proxy.gates.evidence.answer_text import AnswerText
from proxy.gates.evidence.date_claims import date_findings
from proxy.gates.evidence.source_index import SourceIndex


def flagged(answer: str, source: str, asked: str = "") -> list[str]:
    found = date_findings(AnswerText(answer, []), SourceIndex(source), SourceIndex(asked))
    return [one.value for one in found if one.is_flag]


@pytest.mark.parametrize(
    ("answer", "source", "expected"),
    [
        ("am 01.01.2012", "seit dem 1. Januar 2012", []),
        ("seit Januar 2012", "seit dem 1. Januar 2012", []),
        ("am 1. Januar", "seit dem 1. Januar 2012", []),
        ("am 1. Januar 2012", "seit Januar 2012", ["2012-01-01"]),
        ("am 2. Januar 2012", "seit dem 1. Januar 2012", ["2012-01-02"]),
        ("am 1. Januar 2013", "seit dem 1. Januar 2012", ["2013-01-01"]),
        ("am 5. März 2020", "2020 begann es. Am 5. März war Schluss.", []),
        ("am 5. März 2021", "2020 begann es. Am 5. März war Schluss.", ["2021-03-05"]),
        ("on 10/05/2024", "am 5. Oktober 2024", []),
        ("um 14 Uhr", "at 2 pm", []),
        ("um 14 Uhr", "at 2:00", []),
        ("um 15 Uhr", "at 2:00", ["15:00"]),
        ("um 15 Uhr", "never", ["15:00"]),
        ("am Freitag", "am 3. Mai 2024", []),
        ("am Samstag", "am 3. Mai 2024", ["weekday 6"]),
        ("am Samstag", "am 30. Februar 2024, Montag", ["weekday 6"]),
        ("am Samstag", "irgendwann", []),
    ],
)
def test_date_is_borne_if_each_of_its_fields_is(
    answer: str, source: str, expected: list[str]
) -> None:
    assert flagged(answer, source) == expected


def test_what_was_asked_about_is_no_claim() -> None:
    assert flagged("am 1. Mai 2024 um 14 Uhr, Mittwoch", "", "1. Mai 2024, 14:00?") == []


def test_nearest_date_has_most_fields_in_common() -> None:
    source = "5. Mai 2020, 3. Juni 2024, 14:00, 18:00"
    answer = AnswerText("4. Juni 2024, 17:00", [])

    found = list(date_findings(answer, SourceIndex(source), SourceIndex("")))

    assert [one.nearest.of(source) for one in found if one.nearest] == ["3. Juni 2024", "14:00"]
