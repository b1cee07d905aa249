from dataclasses import replace

import pytest

from proxy.bench.contract_cases import ContractCase, read_cases
from proxy.bench.contract_reading import AnswerReader, Reading
from proxy.data_files import policies_folder
from proxy.wire.reply import Choice

CASES = {case.name: case for case in read_cases(policies_folder() / "fixtures" / "contract-de")}
RICH, THIN = CASES["product-recall"], CASES["thin-museum"]
FALLBACK = "Die Quelle reicht nicht aus."
INVENTED = (
    "Mit grosszügigen Sälen, einem hellen Café und einem Garten voller Skulpturen haben die "
    "gefeierten Architekten einen Ort der Begegnung geschaffen, der Familien begeistern wird."
)


def read(content: str | None, case: ContractCase = RICH, ending: str = "stop") -> Reading:
    choice = Choice(0, content, finish_reason=ending)
    return AnswerReader([FALLBACK, ""]).read(case, choice)


def test_answer_of_the_ordered_form_is_usable_and_borne() -> None:
    reading = read(RICH.answer(RICH.example))

    assert reading.is_usable
    assert reading.is_borne
    assert not reading.abstains


@pytest.mark.parametrize(
    ("content", "ending", "fault"),
    [
        ("Tannberg ruft zurück.", "stop", "not_json"),
        (None, "stop", "not_json"),
        ("[]", "stop", "not_json"),
        ('{"teaser": "Tann', "length", "truncated"),
        ('{"text": "Tannberg"}', "stop", "schema_violation"),
        ('{"teaser": 4, "hinweis": null}', "stop", "schema_violation"),
        ('{"teaser": "x", "hinweis": 4}', "stop", "schema_violation"),
    ],
)
def test_answer_of_another_form_is_judged_no_further(
    content: str | None, ending: str, fault: str
) -> None:
    assert read(content, ending=ending) == Reading((fault,))


def test_every_fault_of_a_text_counts() -> None:
    assert read(RICH.answer("Ein Rückruf.")).faults == ("too_short", "missing_fact")
    assert read(RICH.answer(RICH.example * 2)).faults == ("too_long",)


def test_facts_are_found_whatever_the_capitals_and_marks_between_thousands() -> None:
    case = replace(RICH, must_hold=(("wk-17", "nichts"), ("1\u2019980",)))

    reading = read(RICH.answer(f"{RICH.example} 1 980"), case)

    assert "missing_fact" not in reading.faults


def test_marks_of_markdown_do_not_count() -> None:
    text = RICH.example.strip()
    exact = replace(RICH, least=1, most=len(text))

    assert read(exact.answer(f"**{text}**"), exact).is_usable


def test_detail_that_the_source_does_not_bear_is_found_and_leaves_the_text_usable() -> None:
    reading = read(RICH.answer(RICH.example.replace("Neun", "Vierzehn")))

    assert reading.typed == ("number",)
    assert reading.is_usable
    assert not reading.is_borne


def test_hints_are_counted_apart() -> None:
    reading = read(THIN.answer(INVENTED), THIN)

    assert "new_words" in reading.hints
    assert reading.typed == ()


@pytest.mark.parametrize(
    ("text", "note"),
    [(None, THIN.example), ("", THIN.example), (THIN.example, None), (None, None)],
    ids=["null", "blank", "in the text", "silent"],
)
def test_abstaining_on_a_thin_source_is_usable(text: str | None, note: str | None) -> None:
    reading = read(THIN.answer(text, note), THIN)

    assert reading.is_usable
    assert reading.abstains


@pytest.mark.parametrize("text", [INVENTED, "Das Museum Oberdorf."], ids=["invented", "short"])
def test_text_from_a_thin_source_is_overconfident(text: str) -> None:
    reading = read(THIN.answer(text), THIN)

    assert reading.faults == ("overconfident",)
    assert not reading.abstains


@pytest.mark.parametrize(
    "content",
    [
        RICH.answer(None, "Die Quelle reicht nicht aus."),
        RICH.answer("Dazu enthält die Quelle keine Angaben."),
    ],
    ids=["null", "in the text"],
)
def test_abstaining_from_a_source_that_suffices_is_no_usable_answer(content: str) -> None:
    reading = read(content)

    assert reading.faults == ("needless_abstention",)
    assert reading.abstains


def test_text_of_a_policy_abstains_though_it_is_no_json() -> None:
    assert read(FALLBACK, THIN) == Reading(abstains=True)
    assert read(FALLBACK) == Reading(("needless_abstention",), abstains=True)


def test_blank_answer_is_no_text_of_a_policy() -> None:
    assert read("") == Reading(("not_json",))
