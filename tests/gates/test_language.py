import unicodedata

import pytest

from proxy.gates.language import OTHER_SCRIPT, LanguageReader

READER = LanguageReader()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Die neue Maschine braucht ein Drittel weniger Strom und passt in einen Schrank.", "de"),
        ("Im Meeting mit dem Product Owner wurde der Sprint Review auf Freitag verlegt.", "de"),
        ("The council has put off the vote until next week, for want of a majority.", "en"),
        (
            "Les trains circulent de nouveau normalement depuis ce matin, annonce la compagnie.",
            "fr",
        ),
        ("I treni circolano di nuovo regolarmente da questa mattina, annuncia la compagnia.", "it"),
        ("No puedo responder a esta pregunta porque el texto no contiene esa información.", "es"),
        ("你好 这是一个测试 用来检查回答的语言是不是中文 ", OTHER_SCRIPT),
        ("Сегодня совет отложил голосование на следующую неделю.", OTHER_SCRIPT),
    ],
)
def test_language_of_a_sentence_is_told(text: str, language: str) -> None:
    assert READER.of(text) == language


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("Das ist gut.", id="short"),
        pytest.param("12.345,67 / 2026-11-30 / 0x7f " * 9, id="numbers"),
        pytest.param(
            "https://example.org/ein/langer/weg/mit/vielen/deutschen/worten", id="address"
        ),
        pytest.param("Kubernetes Deployment Pipeline Monitoring Dashboard Login", id="terms"),
        pytest.param("\x00" * 400, id="code"),
    ],
)
def test_what_is_short_or_no_sentence_is_not_judged(text: str) -> None:
    assert READER.of(text) is None


def test_decomposed_letters_are_latin() -> None:
    text = "Die Prüfung der Übungsgeräte für Schüler wäre möglich, später müssten größere her."

    assert READER.of(unicodedata.normalize("NFD", text)) == "de"


def test_beginning_of_a_long_text_decides() -> None:
    german = "Die neue Maschine braucht ein Drittel weniger Strom. " * 200

    assert READER.of(german + "The rest is English and is not read. " * 1000) == "de"
