import pytest

from proxy.gates.evidence.masks import without_marks


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        pytest.param("a\n```python\nx = 77\n```\nb 5", ["x = 77"], id="fenced code"),
        pytest.param("a\n~~~\nx = 77", ["x = 77"], id="fence that is never closed"),
        pytest.param("1. one\n2) two\n(3) three", ["1.", "2)", "(3)"], id="list numbers"),
        pytest.param("## 2.1 Method", ["2.1"], id="heading number"),
        pytest.param("so [1], and [2, 3] and [^4]", ["[1]", "[2, 3]", "[^4]"], id="citations"),
        pytest.param(
            "so 【1†source】 it is (Quelle 2)", ["【1†source】", "(Quelle 2)"], id="others"
        ),
        pytest.param("in 2019\u00b9.", ["\u00b9"], id="superscript"),
        pytest.param("**Schritt 2:** rühren\nStep 3 - stir", ["2", "3"], id="own parts"),
        pytest.param("open 24/7", ["24", "7"], id="saying"),
    ],
)
def test_what_is_no_claim_is_blanked(text: str, gone: list[str]) -> None:
    masked = without_marks(text)

    assert len(masked) == len(text)
    assert masked.count("\n") == text.count("\n")
    assert not any(mark in masked for mark in gone)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("3. Oktober 2024 war es kalt.", id="day"),
        pytest.param("19. Jahrhundert", id="century"),
        pytest.param("Use `v1.2` here", id="code in a line"),
        pytest.param("[1](https://example.org)", id="link"),
        pytest.param("5 m\u00b2", id="square metres"),
        pytest.param("Teil 3 erschien 2019", id="part of a work"),
        pytest.param("12 people came.", id="number that begins a line"),
    ],
)
def test_claims_stay(text: str) -> None:
    assert without_marks(text) == text
