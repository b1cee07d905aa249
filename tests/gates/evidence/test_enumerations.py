import pytest

from proxy.gates.evidence.enumerations import enumeration_lengths, list_lengths


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("Intro\n- a\n- b\n- c\nEnd", {3}),
        ("1. a\n2. b\n\n3. c\n4) d", {4}),
        ("* a\n* b", set()),
        ("- x\n" * 13, set()),
        ("- a\n- b\n- c\nand\n- d\n- e\n- f\n- g", {3, 4}),
        ("plain", set()),
    ],
)
def test_lists_have_their_lengths(text: str, lengths: set[int]) -> None:
    assert list_lengths(text) == lengths


@pytest.mark.parametrize(
    ("sentence", "lengths"),
    [
        ("Man braucht Mehl, Milch und Eier.", {3}),
        ("red, green, blue, and white flags", {4}),
        ("cats and dogs", set()),
        ("no enumeration", set()),
        (" und alles", set()),
    ],
)
def test_enumerations_have_their_lengths(sentence: str, lengths: set[int]) -> None:
    assert enumeration_lengths(sentence) == lengths
