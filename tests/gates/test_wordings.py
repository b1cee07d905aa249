from typing import Any

import pytest
from pydantic import ValidationError

from proxy.gates.wordings import AnyWording, CompiledWording, Haystack, Wording


def _wording(pattern: str, **more: Any) -> Wording:
    return Wording(pattern=pattern, reason="So nicht.", **more)


def _found(pattern: str, text: str) -> str | None:
    return CompiledWording.of(_wording(pattern)).found_in(Haystack.of(text))


@pytest.mark.parametrize(
    ("pattern", "text", "match"),
    [
        (r"(?i)\bals (KI|Sprachmodell)\b", "Als Sprachmodell kann ich", "Als Sprachmodell"),
        (r"(?i)\bals (KI|Sprachmodell)\b", "als Sprachmodelle", None),
        ("ß", "Strasse", None),
        ("ß", "Straße", "ß"),
        ("grün", "gru\u0308n", "grün"),
        ("gru\u0308n", "grün", "grün"),
        ("Sprachmodell", "Sprach\u00admo\u200bdell", "Sprachmodell"),
        ("\u200b", "a\u200bb", "\u200b"),
        (r"(?:^|\PL)Übung", "eine Übung", " Übung"),
        ("a", "\ud83d a", "a"),
        ("\u202e", "\u202eabc", "\u202e"),
    ],
)
def test_wording_is_found_as_a_reader_sees_it(pattern: str, text: str, match: str | None) -> None:
    assert _found(pattern, text) == match


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        pytest.param(r"(?=a)b", r"RE2 can take: invalid perl operator: \(\?=", id="look"),
        pytest.param(r"(a)\1", "invalid escape sequence", id="back-reference"),
        pytest.param("(a", r"missing \)", id="bracket"),
        pytest.param("a{3000}", "invalid repetition size", id="repetition"),
        pytest.param(r"\bÜbung", r"RE2's \\b knows the letters a-z", id="boundary-before"),
        pytest.param(r"(Menü)\b", r"RE2's \\b knows the letters a-z", id="boundary-after"),
        pytest.param(r"\b(?:über|unter)", r"RE2's \\b knows the letters a-z", id="boundary-group"),
        pytest.param("a*", "holds for every text", id="empty"),
        pytest.param("", "at least 1 character", id="nothing"),
        pytest.param("a" * 2001, "at most 2000 characters", id="long"),
    ],
)
def test_pattern_that_cannot_work_is_refused(pattern: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        _wording(pattern)


def test_wording_needs_a_reason() -> None:
    with pytest.raises(ValidationError, match="reason"):
        Wording.model_validate({"pattern": "a"})


@pytest.mark.parametrize(
    ("beginning", "has_matched"),
    [
        ("als Sprach", False),
        ("als Sprachmodell", False),
        ("als Sprachmodelle", False),
        ("als Sprachmodell ", True),
        ("als Sprachmodell, ha", True),
        ("hier ist b, denn", True),
    ],
)
def test_match_counts_when_nothing_can_undo_it(beginning: str, has_matched: bool) -> None:
    wordings = AnyWording([_wording(r"(?i)als sprachmodell\b"), _wording(r"\bb\b")])

    assert wordings.has_matched(beginning) is has_matched


def test_wordings_too_large_together_are_refused() -> None:
    with pytest.raises(ValueError, match="together are too large"):
        AnyWording([_wording(f"(?:{index}[a-zä-ü]{{900}}){{1}}") for index in range(400)])


def test_long_text_is_searched_in_linear_time() -> None:
    assert _found("(?:a+)+$", "a" * 200_000 + "b") is None
