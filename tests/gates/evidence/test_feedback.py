from proxy.gates.evidence.answers import PlacedFinding
from proxy.gates.evidence.feedback import correction, reason_for
from proxy.gates.evidence.findings import Finding, Kind, Span, Support

SOURCE = "Vorher stand viel da. " * 20 + "Die Kartoffeln 10 Minuten vorkochen. " + "Und mehr. " * 40


def flag(
    text: str = "25 Minuten",
    kind: Kind = Kind.NUMBER,
    support: Support = Support.MISSING,
    nearest: Span | None = None,
) -> PlacedFinding:
    span = Span(3, 3 + len(text))
    return PlacedFinding("content", span, text, Finding(kind, support, span, text, nearest))


def test_reason_tells_kinds_and_places_and_nothing_of_the_reply() -> None:
    reason = reason_for([flag(), flag("Meier", Kind.NAME)])

    assert reason == (
        "The sources do not bear a number (missing) at content, characters 3 to 13; "
        "a name (missing) at content, characters 3 to 8."
    )


def test_reason_counts_what_it_does_not_tell() -> None:
    assert reason_for([flag()] * 9).endswith("; and 4 more.")


def test_correction_quotes_each_detail_with_the_nearest_source_text() -> None:
    start = SOURCE.index("10 Minuten")
    lines = correction([flag(nearest=Span(start, start + 10))], SOURCE).split("\n")

    assert lines[0].endswith("Remove or correct each, and add nothing new:")
    assert lines[1].startswith('- "25 Minuten" (a number); nearest in the sources: "')
    assert "Die Kartoffeln 10 Minuten vorkochen." in lines[1]
    assert len(lines[1]) < 260
    assert lines[2] == "Write the whole answer again."


def test_correction_says_when_a_figure_stands_for_something_else() -> None:
    text = correction([flag(support=Support.UNIT_MISMATCH, kind=Kind.UNIT)], SOURCE)

    assert '"25 Minuten" (the sources have this figure for something else)\n' in text


def test_correction_of_many_details_stays_short() -> None:
    lines = correction([flag("x" * 500)] * 20, SOURCE).split("\n")

    assert len(lines) == 10
    assert lines[1] == f'- "{"x" * 80}..." (a number)'


def test_nearest_text_at_the_ends_of_a_source_is_not_cut_further() -> None:
    text = correction([flag(nearest=Span(0, 5))], "Hello world")

    assert 'nearest in the sources: "Hello world"' in text


def test_nearest_text_without_blanks_is_told_by_itself() -> None:
    text = correction([flag(nearest=Span(500, 510))], "a" * 1000)

    assert f'nearest in the sources: "{"a" * 10}"' in text
