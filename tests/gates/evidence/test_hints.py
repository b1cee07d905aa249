import pytest

from proxy.gates.evidence.findings import Span
from proxy.gates.evidence.hints import (
    NOT_DENIED,
    causal_hints,
    negation_hint,
    new_answer_hint,
    new_word_hints,
)
from proxy.gates.evidence.nearest import NearestSentences
from proxy.gates.evidence.source_index import SourceIndex
from proxy.gates.evidence.vocabulary import Vocabulary

SOURCE = (
    "Die Bevölkerung der Stadt wuchs um zwei Prozent. Der Bahnhof wurde nicht renoviert. "
    "Das Museum öffnet wegen Umbau später."
)
KNOWN = [Vocabulary([SOURCE], "de")]


def whole(text: str) -> Span:
    return Span(0, len(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Sie wuchs, weil viele Familien zuzogen.", [("viele", "Familien", "zuzogen")]),
        ("Sie wuchs wegen der Stadt.", []),
        ("Sie wuchs, weil Familien kamen, und die Stadt.", [("Familien", "kamen")]),
        ("Es öffnet später wegen Umbau am Bahnhof.", []),
    ],
)
def test_cause_with_new_words_is_a_hint(text: str, words: list[tuple[str, ...]]) -> None:
    assert [hint.words for hint in causal_hints(text, whole(text), "de", KNOWN)] == words


@pytest.mark.parametrize(
    ("text", "hints"),
    [
        ("Touristen loben besonders gemütliche Cafés.", 1),
        ("Die Bevölkerung der Stadt wuchs, Touristen kamen.", 0),
        ("Im Oktober kamen zwölf Kilogramm Drittel.", 0),
    ],
)
def test_clause_of_mostly_new_words_is_a_hint(text: str, hints: int) -> None:
    assert len(list(new_word_hints(text, whole(text), "de", KNOWN))) == hints


@pytest.mark.parametrize(
    ("text", "is_hint"),
    [("Harrods", True), ("Der Bahnhof", False), ("", False), ("Eins Zwo Hund Katze Maus", False)],
)
def test_short_answer_of_new_words_only_is_a_hint(text: str, is_hint: bool) -> None:
    assert (new_answer_hint(text, "de", KNOWN) is not None) is is_hint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("Die Bevölkerung der Stadt wuchs nicht.", ("nicht",), id="denied"),
        pytest.param("Der neue Bahnhof wurde renoviert.", (NOT_DENIED,), id="not denied"),
        pytest.param("Der Bahnhof wurde nicht neu renoviert.", None, id="both"),
        pytest.param("Die Bevölkerung der Stadt wuchs.", None, id="neither"),
        pytest.param("Die Stadt nicht.", None, id="too short"),
        pytest.param("Ganz andere Wörter stehen nicht hier.", None, id="another subject"),
        pytest.param("Unbekannte Planeten kreisen nicht.", None, id="nothing near"),
    ],
)
def test_denial_on_one_side_only_is_a_hint(text: str, words: tuple[str, ...] | None) -> None:
    index = SourceIndex(SOURCE)
    hint = negation_hint(text, whole(text), "de", index, NearestSentences(index, text))

    assert (hint.words if hint else None) == words


def test_denial_may_stand_in_what_was_left_out() -> None:
    source = "Der alte Bahnhof wurde renoviert, das Museum, Rathaus und Schulhaus aber nicht."
    text = "Der alte Bahnhof wurde renoviert."
    index = SourceIndex(source)

    assert negation_hint(text, whole(text), "de", index, NearestSentences(index, text)) is None
