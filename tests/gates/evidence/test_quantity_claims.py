import pytest

from proxy.gates.evidence.answer_text import AnswerText
from proxy.gates.evidence.findings import Finding, Kind, Rounding, Span, Support
from proxy.gates.evidence.nearest import NearestSentences
from proxy.gates.evidence.quantity_claims import quantity_findings
from proxy.gates.evidence.source_index import SourceIndex

RECIPE = "4 Personen: 400 g Kartoffeln, 250 g Teigwaren."


def findings(answer: str, source: str, asked: str = "") -> list[Finding]:
    index = SourceIndex(source)
    nearest = NearestSentences(index, answer)
    text = AnswerText(answer, [Span(0, len(answer))])
    return list(quantity_findings(text, index, SourceIndex(asked), nearest, Rounding.HEDGED))


@pytest.mark.parametrize(
    ("answer", "source", "kind", "support"),
    [
        ("400 g", RECIPE, Kind.NUMBER, Support.EXACT),
        ("0,4 kg", RECIPE, Kind.NUMBER, Support.CONVERTED),
        ("rund 390 g", "389 g", Kind.NUMBER, Support.ROUNDED),
        ("650 g insgesamt", RECIPE, Kind.NUMBER, Support.DERIVED),
        ("650 g", RECIPE, Kind.NUMBER, Support.MISSING),
        ("400 kg", RECIPE, Kind.UNIT, Support.UNIT_MISMATCH),
        ("1999", "2000", Kind.DATE, Support.MISSING),
        ("1980s", "2000", Kind.DATE, Support.MISSING),
        ("minus 5 °C", "5 °C", Kind.UNIT, Support.UNIT_MISMATCH),
    ],
)
def test_quantity_has_its_kind_and_support(
    answer: str, source: str, kind: Kind, support: Support
) -> None:
    (found,) = findings(answer, source)

    assert (found.kind, found.support) == (kind, support)


def test_sentence_that_counts_anew_scales_the_rest() -> None:
    found = findings("Für 8 Personen 800 g Kartoffeln und 501 g Teigwaren", RECIPE)

    assert [(one.support, one.operation) for one in found] == [
        (Support.DERIVED, "4 x 2"),
        (Support.DERIVED, "400 g x 2"),
        (Support.MISSING, ""),
    ]


def test_one_two_and_what_was_asked_about_are_no_claims() -> None:
    assert findings("2 Dinge, zwei, 77 Leute", "nichts", asked="77?") == []


@pytest.mark.parametrize("answer", ["1.900 Stipendien", "1,5 Leute", "1½ Leute"])
def test_number_that_may_be_more_than_two_is_a_claim(answer: str) -> None:
    (found,) = findings(answer, "1400 Stipendien")

    assert found.is_flag


@pytest.mark.parametrize(
    ("answer", "source", "is_flag"),
    [
        ("Es gibt vier Gründe:", "Keine.", False),
        ("Es gibt vier Gründe.", "Keine.", True),
        ("Es gibt fünf Gründe:", "Keine.", True),
        ("Man braucht drei Zutaten", "Man braucht Mehl, Milch und Eier.", False),
        ("Man braucht 3 Zutaten", "Man braucht Mehl, Milch und Eier.", True),
        ("Man braucht sechs Zutaten", "Man braucht Mehl, Milch und Eier.", True),
        ("Man braucht drei Zutaten", "- Mehl\n- Milch\n- Eier", False),
        ("Man braucht drei kg", "- Mehl\n- Milch\n- Eier", True),
    ],
)
def test_count_of_what_is_listed_is_derived(answer: str, source: str, *, is_flag: bool) -> None:
    index = SourceIndex(source)
    text = AnswerText(answer, [Span(0, len(answer))], list_lengths={4})
    nearest = NearestSentences(index, answer)

    (found,) = quantity_findings(text, index, SourceIndex(""), nearest, Rounding.HEDGED)

    assert found.is_flag is is_flag
    assert is_flag or found.operation.endswith("things are listed")


def test_missing_quantity_has_the_nearest_sentence() -> None:
    source = "Die Hörnli wiegen viel. " * 30 + "Die Kartoffeln wiegen 400 g."
    (found,) = findings("Die Kartoffeln wiegen 410 g", source)

    assert found.nearest is not None
    assert found.nearest.of(source) == "Die Kartoffeln wiegen 400 g."


def test_operands_come_from_near_sentences_where_there_are_many() -> None:
    source = "Es sind 7 Igel. " * 30 + "Die Hunde: 12 gross, 30 klein."
    (found,) = findings("Die Hunde sind zusammen 42", source)

    assert found.operation == "12 + 30"


def test_source_without_words_in_common_has_no_nearest_sentence() -> None:
    (found,) = findings("33 Katzen", "")

    assert found.nearest is None
