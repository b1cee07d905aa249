import pytest

from proxy.gates.evidence.tongues import is_common, language_of, stems


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Der Hund ist nicht da, und wir gehen.", "de"),
        ("The dog is not there, and we are going.", "en"),
        ("Le chien est dans la maison et il dort.", "fr"),
        ("Il cane non è nella casa, ma dorme.", "it"),
        ("Harrods", ""),
        ("Basel 2024", ""),
        ("the dog der Hund is ist", ""),
    ],
)
def test_language_is_told_by_the_commonest_words(text: str, language: str) -> None:
    assert language_of(text) == language


def test_stems_join_the_forms_of_a_word() -> None:
    assert len(set(stems(["Häuser", "Haus", "Hauses"], "de"))) == 1
    assert len(set(stems(["measures", "measured"], "en"))) == 1
    assert stems(["Straße"], "") == ["strasse"]


def test_common_words_say_nothing_by_themselves() -> None:
    assert [is_common(word, "de") for word in ("Und", "Hund")] == [True, False]
    assert [is_common(word, "fr") for word in ("la", "maison")] == [True, False]
