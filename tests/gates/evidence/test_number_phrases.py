import re

import pytest

from proxy.gates.evidence.number_phrases import number_phrases


def phrases(text: str) -> list[tuple[str, float]]:
    words = set(re.findall(r"[^\W\d_]+", text))
    return [
        (text[one.start : one.end], round(one.values[0], 4)) for one in number_phrases(text, words)
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("no number at all", []),
        ("twenty-one people", [("twenty-one", 21)]),
        ("twenty two", [("twenty two", 22)]),
        ("two hundred and five", [("two hundred and five", 205)]),
        ("two thousand five hundred", [("two thousand five hundred", 2500)]),
        ("zwei hundert", [("zwei hundert", 200)]),
        ("twelve point fifty", [("twelve point fifty", 12.5)]),
        ("two and three", [("two", 2), ("three", 3)]),
        ("zwei Drittel der Leute", [("zwei Drittel", 0.6667)]),
        ("ein Drittel", [("Drittel", 0.3333)]),
        ("a third of them", [("third", 0.3333)]),
        ("the third time", [("third", 3)]),
        ("half of it", [("half", 0.5)]),
        ("jede fünfte Person", [("fünfte", 0.2)]),
        ("one in five", [("five", 0.2)]),
        ("jeder kennt fünf", [("fünf", 5)]),
        ("hundreds of", []),
        ("hundred of", []),
        ("zero hits", [("zero", 0)]),
        ("two hundred thousand", [("two hundred thousand", 200_000)]),
        ("twenty thirty", [("twenty", 20), ("thirty", 30)]),
    ],
)
def test_number_words_that_stand_together_are_one_number(
    text: str, found: list[tuple[str, float]]
) -> None:
    assert phrases(text) == found
