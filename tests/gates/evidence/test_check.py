import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.gates.evidence.check import MOST_CLAIMS, EvidenceCheck
from proxy.gates.evidence.findings import TYPED, Finding, Kind, Rounding, Support
from proxy.gates.evidence.source_index import SourceIndex
from tests.gates.evidence.details import CASES

PAIRS = [(source, answer, flags) for source, some in CASES.items() for answer, flags in some]


def flagged(
    answer: str, source: str, asked: str = "", check: EvidenceCheck | None = None
) -> list[Finding]:
    found = (check or EvidenceCheck()).findings(answer, source, asked)
    return [one for one in found if one.is_flag]


@pytest.mark.parametrize(("source", "answer", "expected"), PAIRS)
def test_details_that_a_source_does_not_bear_are_flagged(
    source: str, answer: str, expected: list[str]
) -> None:
    found = flagged(answer, source, check=EvidenceCheck(kinds=TYPED))

    assert [one.span.of(answer) for one in found] == expected


ENGLISH = "The sensor was tested by the team in the lab with 36 people."


def test_answer_in_another_language_is_held_to_values_only() -> None:
    answer = "Der Sensor wurde von Marlee Matlin mit 37 Leuten nicht getestet, weil es regnete."

    assert [one.kind for one in flagged(answer, ENGLISH)] == [Kind.NUMBER]


def test_language_that_a_policy_does_not_name_is_held_to_typed_details_only() -> None:
    answer = "The sensor was not tested by Marlee Matlin with 37 people. «We saw it fail»"
    check = EvidenceCheck(languages=("de",))

    kinds = [one.kind for one in flagged(answer, ENGLISH, check=check)]

    assert kinds == [Kind.NUMBER, Kind.QUOTATION]


def test_answer_without_a_language_is_read_in_that_of_the_source() -> None:
    assert [one.kind for one in flagged("Kelli Clarkson", ENGLISH)] == [Kind.NAME, Kind.NEW_WORDS]


@pytest.mark.parametrize("kind", [Kind.NUMBER, Kind.VERSION, Kind.NAME, Kind.QUOTATION])
def test_only_wanted_kinds_are_looked_for(kind: Kind) -> None:
    answer = "In v2.1.0 the Marlee Matlin said «we all know it» to 37 people."

    found = flagged(answer, ENGLISH, check=EvidenceCheck(kinds=frozenset({kind})))

    assert [one.kind for one in found] == [kind]


def test_bare_year_is_a_number_for_those_who_do_not_look_for_dates() -> None:
    for kinds, kind in (({Kind.NUMBER}, Kind.NUMBER), ({Kind.DATE, Kind.NUMBER}, Kind.DATE)):
        check = EvidenceCheck(kinds=frozenset(kinds))

        assert [one.kind for one in flagged("In 1999", ENGLISH, check=check)] == [kind]


def test_what_was_asked_about_is_no_claim() -> None:
    assert flagged("Marlee Matlin met 37 people.", ENGLISH, "Did Marlee Matlin meet 37?") == []


def test_sentence_that_says_what_is_missing_has_no_new_words() -> None:
    assert flagged("The source does not say anything about that.", ENGLISH) == []


def test_findings_are_in_the_order_of_their_places_in_the_texts_as_they_were() -> None:
    source = "Es&nbsp;waren&nbsp;36 Leute. Preis: 5\u200b0 Franken."
    answer = "Preis:&nbsp;5\u200b0 Franken, 3\u200b6 Leute, 9\u200b9 Katzen"

    found = EvidenceCheck(kinds=TYPED).findings(answer, source)

    assert [one.span.of(answer) for one in found] == ["5\u200b0 Franken", "3\u200b6", "9\u200b9"]
    assert [one.nearest.of(source) for one in found[:2] if one.nearest] == [
        "5\u200b0 Franken",
        "36",
    ]


def test_passing_findings_are_listed_with_their_support() -> None:
    found = EvidenceCheck(kinds=TYPED).findings("0,4 kg, rund 30, 25 Leute", "400 g, 31, 25 Leute")

    assert [one.support for one in found] == [Support.CONVERTED, Support.ROUNDED, Support.EXACT]


def test_rounding_is_the_policy_s() -> None:
    check = EvidenceCheck(rounding=Rounding.EXACT)

    assert [one.kind for one in flagged("rund 30 Leute", "31 Leute", check=check)] == [Kind.NUMBER]


def test_too_many_claims_are_not_all_listed() -> None:
    answer = " ".join(str(number) for number in range(10_000, 10_000 + 2 * MOST_CLAIMS))
    report = EvidenceCheck(kinds=TYPED).report(answer, SourceIndex("none"), SourceIndex(""))

    assert not report.is_complete
    assert len(report.findings) == MOST_CLAIMS


def test_source_of_too_many_figures_proves_no_number_missing() -> None:
    report = EvidenceCheck().report("77", SourceIndex("1 " * 100_000), SourceIndex(""))

    assert (report.findings, report.is_complete) == ((), False)
    assert EvidenceCheck().report("", SourceIndex("1 " * 100_000), SourceIndex("")).is_complete


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        pytest.param("1" * 60_000, "1" * 60_000, id="digits"),
        pytest.param("1 " * 30_000, "2 " * 30_000, id="many numbers"),
        pytest.param("1." * 30_000, "1," * 30_000, id="separators"),
        pytest.param("-a" * 30_000, "a-" * 30_000, id="dashes"),
        pytest.param("a_" * 30_000, "a." * 30_000, id="underscores"),
        pytest.param("a@" * 30_000, "@" * 60_000, id="addresses"),
        pytest.param("\u201e" * 60_000, '"a b c ' * 10_000, id="quotations never closed"),
        pytest.param("```\n" * 15_000, "~~~\n" * 15_000, id="fences"),
        pytest.param("1\u200b" * 30_000, "\u202e1\u202c" * 20_000, id="invisible signs"),
        pytest.param("a" + "\u0301" * 60_000, "&amp;" * 12_000, id="marks and entities"),
        pytest.param("twenty-" * 8_000, "twenty-one " * 6_000, id="number words"),
        pytest.param("weil " * 12_000, "um zu " * 10_000, id="causes"),
        pytest.param("Mai 5 " * 10_000, "Mai 6 " * 10_000, id="dates"),
        pytest.param("\ud800 12", "\udfff 13", id="lone surrogates"),
    ],
)
def test_hostile_texts_are_gone_through(answer: str, source: str) -> None:
    report = EvidenceCheck().report(answer, SourceIndex(source), SourceIndex(source))

    assert len(report.findings) <= 8 * MOST_CLAIMS


WORDS = """
1 2. 3,5 1'250 12:30 2024-05-03 Q3 v2.1 B38 kg % \u20ac $ Mio. rund fast nicht weil zwei dritte half
[1] \u201e \u201c [\u2026] ``` - 1) : , ; http://a.ch a@b.ch Mai 5. Uhr pm \u200b
\u202e u\u0308 \ufb01 &amp; \ud800 \u00bd Marlee Bern Stadt die the {} " ' _ () /
"""
PIECES = st.sampled_from([*WORDS.split(), "\n", "\t"])
SPACED = st.lists(PIECES, max_size=40).map(" ".join)
TEXTS = SPACED | st.lists(PIECES, max_size=40).map("".join)


@given(TEXTS, TEXTS, TEXTS)
def test_findings_lie_inside_their_texts(answer: str, source: str, asked: str) -> None:
    for one in EvidenceCheck().findings(answer, source, asked):
        assert 0 <= one.span.start < one.span.end <= len(answer)
        assert one.nearest is None or 0 <= one.nearest.start <= one.nearest.end <= len(source)


@given(SPACED)
def test_text_bears_its_own_numbers_dates_and_codes(text: str) -> None:
    found = flagged(text, text, check=EvidenceCheck(kinds=TYPED - {Kind.QUOTATION}))

    assert [one.span.of(text) for one in found] == []
