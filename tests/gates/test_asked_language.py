import json
from typing import Any

import pytest

from proxy.gates.asked_language import asked_language, name_of
from proxy.gates.language import OTHER_SCRIPT, LanguageReader
from proxy.wire.request import Request

READER = LanguageReader()
GERMAN = "Schreibe bitte drei kurze Sätze über die neue Buslinie ins Tal."
ENGLISH = "Please write three short sentences about the new bus line into the valley."


def _asked(*messages: tuple[str, str]) -> str | None:
    members: list[Any] = [{"role": role, "content": text} for role, text in messages]
    return asked_language(Request(b"", messages=json.dumps(members).encode()), READER)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (GERMAN, "de"),
        (ENGLISH, "en"),
        (f"{GERMAN} <quelle>{ENGLISH * 9}</quelle>", "de"),
        (f"{GERMAN}\n```\n{ENGLISH * 9}\n```", "de"),
        (f"<text lang='en'>{ENGLISH * 9}</text> {GERMAN}", "de"),
        (f"{GERMAN} <quelle><b>{ENGLISH}</b> {ENGLISH * 9}</quelle>", "de"),
        (f"{GERMAN} <br> <quelle>{ENGLISH}", None),
        ("请写三个关于新公交线路的短句 谢谢你的帮助", OTHER_SCRIPT),
        (f"{ENGLISH} Answer in German.", "de"),
        (f"{GERMAN} Antworte in einfacher englischer Sprache, also auf Englisch.", "en"),
        ("Übersetze den deutschen Text ins Englische: Hallo Welt, wie geht es dir?", "en"),
        ("Réponds en français, s'il te plaît.", "fr"),
        ("Rispondi in italiano.", "it"),
        (f"{GERMAN} Auf Spanisch, bitte.", None),
        (f"{GERMAN} Einmal auf Deutsch und einmal auf Englisch.", None),
        (f"{ENGLISH} Please translate.", None),
        (f"{GERMAN} Erkläre das englische Wort bus.", None),
        (f"{GERMAN} Es geht um Deutschland.", "de"),
        ("Kurz!", None),
        ("", None),
    ],
)
def test_language_of_the_request(text: str, language: str | None) -> None:
    assert _asked(("user", text)) == language


def test_system_message_may_name_the_language() -> None:
    assert _asked(("system", "Antworte immer auf Deutsch."), ("user", ENGLISH)) == "de"


def test_last_question_decides() -> None:
    earlier = ("user", GERMAN), ("assistant", GERMAN)

    assert _asked(("system", GERMAN), *earlier, ("user", ENGLISH)) == "en"


def test_all_of_the_request_decides_where_the_last_question_is_short() -> None:
    assert _asked(("user", GERMAN), ("assistant", ENGLISH), ("user", "Und jetzt?")) == "de"


def test_tool_results_are_not_asked() -> None:
    assert _asked(("tool", ENGLISH), ("user", "Und?")) is None


def test_many_tags_are_read_in_linear_time() -> None:
    assert _asked(("user", "<a>" * 100_000 + "</b>" * 100_000)) is None


def test_languages_have_names_for_the_model() -> None:
    assert (name_of("de"), name_of("es")) == ("German", "the language es")
