from proxy.gates.evidence.findings import Span
from proxy.gates.evidence.judge_material import (
    MOST_CHARACTERS,
    MOST_SENTENCES,
    claim_at,
    sentences_for,
)
from proxy.gates.evidence.source_index import SourceIndex
from proxy.gates.questions import Claim

ANSWER = (
    "Die Bahn fährt wieder.\nDer Betrieb ruhte drei Tage, weil ein Mast brach. Nun ist alles gut."
)


def _at(words: str, text: str = ANSWER) -> Span:
    start = text.index(words)
    return Span(start, start + len(words))


def test_claim_is_the_clause_of_a_finding_in_its_sentence() -> None:
    claim = claim_at(ANSWER, _at("Mast"), "de")

    assert claim == Claim(
        "weil ein Mast brach.", "Der Betrieb ruhte drei Tage, weil ein Mast brach."
    )


def test_sentence_of_a_claim_is_its_own_and_not_the_one_before() -> None:
    assert claim_at(ANSWER, _at("alles gut"), "de").context == "Nun ist alles gut."


def test_claim_has_all_clauses_that_a_finding_touches() -> None:
    claim = claim_at(ANSWER, _at("Tage, weil ein"), "de")

    assert claim.text == claim.context == "Der Betrieb ruhte drei Tage, weil ein Mast brach."


def test_claim_over_several_sentences_has_them_all() -> None:
    claim = claim_at(ANSWER, _at("Mast brach. Nun"), "de")

    assert "Mast" in claim.text
    assert "Nun" in claim.context


def test_claim_in_an_endless_line_stays_short() -> None:
    endless = "wort " * 40_000

    assert len(claim_at(endless, Span(100_000, 100_004), "de").context) < 5_000


def test_claim_outside_of_any_sentence_is_what_stands_around_it() -> None:
    assert claim_at("   ", Span(0, 1), "de") == Claim("", "")


def test_claim_shows_no_invisible_signs() -> None:
    text = "Der Mast\u200b brach\u00a0 am\u00ad Montag."

    assert claim_at(text, _at("brach", text), "de").text == "Der Mast brach am Montag."


def test_few_sentences_are_shown_all() -> None:
    source = SourceIndex("Der Mast brach. Die Bahn ruhte.\n\nNiemand kam zu Schaden.")

    assert sentences_for((Claim("x", "x"),), source) == (
        "Der Mast brach.",
        "Die Bahn ruhte.",
        "Niemand kam zu Schaden.",
    )


def test_of_many_sentences_the_nearest_to_each_claim_are_shown_in_their_order() -> None:
    lines = [f"Eintrag {number}: Der Wagen steht in der Halle." for number in range(500)]
    lines[333] = "Ein Mast brach am Pass."
    lines[444] = "Die Kabine blieb leer."
    source = SourceIndex("\n".join(lines))
    claims = (Claim("leer", "Die Kabine war leer."), Claim("Mast", "Weil ein Mast brach."))

    shown = sentences_for(claims, source)

    assert len(shown) == MOST_SENTENCES
    assert shown.index("Ein Mast brach am Pass.") < shown.index("Die Kabine blieb leer.")


def test_endless_sentence_is_cut() -> None:
    (shown,) = sentences_for((Claim("x", "x"),), SourceIndex("wort " * 300))

    assert len(shown) == MOST_CHARACTERS
