import pytest

from proxy.gates.evidence.findings import Span
from proxy.gates.evidence.names import KnownNames, new_names
from proxy.gates.evidence.vocabulary import Vocabulary

GERMAN = "Annika Brunner von der ETH sprach in Zürich. LHR ist ein Flughafen."
ENGLISH = "We train convolutional neural networks. The airport LHR is near Paris."


def names(answer: str, source: str, language: str) -> list[str]:
    vocabulary = Vocabulary([source], language)
    known = KnownNames([vocabulary], [source])
    spans = new_names(answer, Span(0, len(answer)), language, known)
    return [span.of(answer) for span in spans]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param("Sie traf Marlee Matlin in Zürich.", ["Marlee Matlin"], id="two together"),
        pytest.param("Marlee Matlin sprach.", ["Marlee Matlin"], id="two at the beginning"),
        pytest.param("Annika Brunner sprach.", [], id="known"),
        pytest.param("Das sagt die NATO.", ["NATO"], id="acronym"),
        pytest.param("Das sagt BSkyB heute.", ["BSkyB"], id="inner capitals"),
        pytest.param("Das sagt Frau Meier.", ["Frau Meier"], id="behind a title"),
        pytest.param("Er kam aus Basel.", ["Basel"], id="without an article"),
        pytest.param("Er kam aus Überzeugung.", [], id="noun by its ending"),
        pytest.param("Die Tagung war im Winter.", [], id="nouns"),
        pytest.param("Zwei Zwiebeln im Oktober.", [], id="numbers and months"),
        pytest.param("Das London Heathrow ist gross.", [], id="spells an acronym out"),
        pytest.param("ACHTUNGGEFAHRENSTELLE hier.", [], id="shouted"),
        pytest.param("Millionen Menschen.", [], id="scale"),
    ],
)
def test_german_names_are_told_from_nouns(answer: str, expected: list[str]) -> None:
    assert names(answer, GERMAN, "de") == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param("He met Kelli Clarkson there.", ["Kelli Clarkson"], id="two together"),
        pytest.param("It was in Minnesota.", ["Minnesota"], id="one"),
        pytest.param("Minnesota is cold.", [], id="one at the beginning"),
        pytest.param('He said: "Minnesota is cold."', [], id="one at a quotation's beginning"),
        pytest.param("The Bank of America", ["Bank of America"], id="small words between"),
        pytest.param("We train a CNN here.", [], id="first letters of known words"),
        pytest.param("Paris on Monday I think", [], id="known, weekdays, I"),
        pytest.param("A.", [], id="one letter"),
    ],
)
def test_english_names_are_capitalised_inside_a_sentence(answer: str, expected: list[str]) -> None:
    assert names(answer, ENGLISH, "en") == expected


def test_name_behind_a_title_that_is_known() -> None:
    assert names("Das sagt Frau Meier.", "Eine Frau kam.", "de") == ["Meier"]


def test_several_acronyms_are_held_against_the_same_first_letters() -> None:
    assert names("It is a CNN and a RNN.", ENGLISH, "en") == ["RNN"]


def test_two_letters_spell_nothing_out() -> None:
    known = KnownNames([Vocabulary(["EU"], "en")], ["EU"])

    assert not known.spells_out("Elephant Union")
    assert not known.abbreviates("Word")
