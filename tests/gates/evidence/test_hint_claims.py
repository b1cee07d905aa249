from proxy.gates.evidence.findings import Kind, Span
from proxy.gates.evidence.hint_claims import HintClaims
from proxy.gates.evidence.nearest import NearestSentences
from proxy.gates.evidence.source_index import SourceIndex

SOURCE = "Die Bevölkerung der Stadt wuchs um zwei Prozent."
ALL = frozenset(Kind)


def kinds(text: str, wanted: frozenset[Kind] = ALL, *, is_about: bool = False) -> list[Kind]:
    index = SourceIndex(SOURCE)
    claims = HintClaims(
        text, "de", index, SourceIndex("Was macht Basel?"), NearestSentences(index, text)
    )
    span = Span(0, len(text))
    found = list(claims.findings([span], [span] if is_about else [], wanted))
    assert all(one.is_flag for one in found)
    return [one.kind for one in found]


def test_every_kind_of_hint_is_given() -> None:
    text = "Die Bevölkerung der Stadt wuchs nicht, weil Marlee Matlin fremde Gäste lockte."

    assert set(kinds(text)) == {Kind.NAME, Kind.CAUSAL, Kind.NEW_WORDS}
    assert kinds("Die Bevölkerung der Stadt wuchs nicht.") == [Kind.NEGATION]
    assert kinds("harrods") == [Kind.NEW_WORDS]


def test_answer_of_a_few_new_words_is_a_name_if_one_is_capitalised() -> None:
    assert kinds("Harrods") == kinds("Islamistische Bewegungen") == [Kind.NAME, Kind.NEW_WORDS]
    assert kinds("Die Stadt") == []


def test_only_wanted_hints_are_given() -> None:
    text = "Die Bevölkerung wuchs nicht, weil Marlee Matlin fremde Gäste lockte."

    assert kinds(text, frozenset({Kind.NAME})) == [Kind.NAME]
    assert kinds(text, frozenset()) == []


def test_names_may_come_from_the_question() -> None:
    assert kinds("Sie wuchs nahe Basel Stadt.") == []


def test_sentence_about_the_source_may_have_words_of_its_own() -> None:
    assert kinds("Informationen fehlen", is_about=True) == []


def test_hint_has_the_nearest_source_sentence() -> None:
    text = "Die Stadt lockte fremde reiche Gäste."
    index = SourceIndex(SOURCE)
    claims = HintClaims(text, "de", index, SourceIndex(""), NearestSentences(index, text))

    (found,) = claims.findings([Span(0, len(text))], [], frozenset({Kind.NEW_WORDS}))

    assert found.nearest == Span(0, len(SOURCE))
