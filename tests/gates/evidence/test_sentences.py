from itertools import pairwise

import pytest

from proxy.gates.evidence.findings import Span
from proxy.gates.evidence.sentences import clauses, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Am 27. Mai kam Dr. Müller. Er ging.", 2, id="abbreviations"),
        pytest.param("One line\nand another\n\n", 2, id="lines"),
        pytest.param("", 0, id="nothing"),
        pytest.param(" \n ", 0, id="blanks"),
        pytest.param("Ein Satz. " * 1000, 1000, id="longer than a window"),
        pytest.param("„" * 9000, 3, id="quotations that never end"),
    ],
)
def test_text_is_cut_into_sentences(text: str, expected: int) -> None:
    found = sentences(text, "de")

    assert len(found) == expected
    assert all(one.end <= after.start for one, after in pairwise(found))


def test_language_may_be_unknown() -> None:
    assert sentences("One. Two.", "") == [Span(0, 5), Span(5, 9)]


def test_clauses_are_what_stands_between_commas_and_conjunctions() -> None:
    text = "It rained, and we left because of it - , at last."

    parts = [clause.of(text).strip() for clause in clauses(text, Span(0, len(text)))]

    assert parts == ["It rained", "and we left", "because of it", "at last."]
