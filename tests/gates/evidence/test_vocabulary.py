import pytest

from proxy.gates.evidence.vocabulary import Vocabulary, content_words


@pytest.mark.parametrize(
    ("word", "is_known"),
    [
        pytest.param("Bevölkerung", True, id="the word"),
        pytest.param("STADT", True, id="another case"),
        pytest.param("Städten", True, id="another form"),
        pytest.param("Bevölkerungszahl", True, id="beginning of a compound"),
        pytest.param("Grossstadt", True, id="end of a compound"),
        pytest.param("Dorf", False, id="another word"),
        pytest.param("CNN", True, id="acronym that stood in the plural"),
    ],
)
def test_german_word_is_known_by_form_and_parts(word: str, is_known: bool) -> None:
    vocabulary = Vocabulary(["Die Bevölkerung der Stadt wächst.", "CNNs"], "de")

    assert vocabulary.knows(word) is is_known


def test_english_has_no_compounds() -> None:
    vocabulary = Vocabulary(["the board of the ship"], "en")

    assert vocabulary.knows("ships")
    assert not vocabulary.knows("shipboard")
    assert vocabulary.knows_exactly("Board")
    assert not vocabulary.knows_exactly("boards")


def test_commonest_words_have_no_content() -> None:
    assert Vocabulary(["der Hund"], "de").content_stems == {"der": "", "Hund": "hund"}
    assert [word for _, _, word in content_words("Der Hund ist da, am See", "de")] == [
        "Hund",
        "See",
    ]
    assert [word for _, _, word in content_words("le chien", "fr")] == ["chien"]
