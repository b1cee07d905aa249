from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from typing_extensions import override

from proxy.gates.evidence.claim_model import MOST_PAIRS, ClaimModel, ClaimPair, ModelReview
from proxy.gates.evidence.findings import Finding, Kind, Span, Support
from proxy.gates.evidence.source_index import SourceIndex

SOURCE = SourceIndex(
    "Der Wagen steht in der Halle. Am Morgen war ein Mast gebrochen. Die Gäste nahmen den Bus."
)
FIRST = "Ein Mast war am Morgen gebrochen und lag da."
SECOND = "Die Gäste waren mit 17 Bussen unterwegs."
TEXT = f"{FIRST} {SECOND}"


def _finding(words: str, kind: Kind, support: Support = Support.MISSING) -> Finding:
    start = TEXT.index(words)
    return Finding(kind, support, Span(start, start + len(words)), words)


HINT = _finding("lag da", Kind.NEW_WORDS)
TYPED = _finding("17", Kind.NUMBER)
BORNE = _finding("Morgen", Kind.DATE, Support.EXACT)


@dataclass
class TellingModel(ClaimModel):
    """Says of every claim the same."""

    probability: float
    asked: list[ClaimPair] = field(default_factory=list)

    @override
    def probabilities(self, pairs: Sequence[ClaimPair]) -> Sequence[float]:
        self.asked += pairs
        return [self.probability] * len(pairs)


@pytest.mark.parametrize(
    ("probability", "left"), [(0.95, [BORNE]), (0.9, [BORNE]), (0.89, [BORNE, HINT])]
)
def test_likely_claim_loses_its_hint(probability: float, left: list[Finding]) -> None:
    model = TellingModel(probability)

    found = ModelReview(model, 0.9).reviewed([BORNE, HINT], TEXT, SOURCE)

    assert found == left
    assert [pair.claim for pair in model.asked] == [FIRST]
    assert model.asked[0].sentences[0] == "Am Morgen war ein Mast gebrochen."
    assert len(model.asked[0].sentences) <= 3


def test_unlikely_sentence_becomes_a_hint() -> None:
    found = ModelReview(TellingModel(0.1), 0.9, 0.2).reviewed([BORNE], TEXT, SOURCE)

    given = [one for one in found if one != BORNE]
    assert [one.kind for one in given] == [Kind.NEW_WORDS] * 2
    assert [one.span.of(TEXT) for one in given] == [FIRST, SECOND]
    assert all(one.is_flag for one in given)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_typed_finding_is_out_of_a_model_s_reach(probability: float) -> None:
    model = TellingModel(probability)

    found = ModelReview(model, 0.9, 0.2).reviewed([HINT, TYPED], TEXT, SOURCE)

    assert TYPED in found
    assert [pair.claim for pair in model.asked] == [FIRST]


def test_sentence_with_a_hint_gets_no_second_one() -> None:
    found = ModelReview(TellingModel(0.1), 0.9, 0.2).reviewed([HINT, TYPED], TEXT, SOURCE)

    assert found == [HINT, TYPED]


@pytest.mark.parametrize(
    "text",
    [
        "The guests were on their way with the bus and it was late.",
        "\n".join(["Der Wagen war und ist da."] * (MOST_PAIRS + 1)),
        "Der Wagen war und ist da.\n" * 1001,
    ],
    ids=["other language", "too many", "far too many"],
)
def test_what_cannot_be_weighed_is_left_as_it_is(text: str) -> None:
    model = TellingModel(0.0)

    assert ModelReview(model, 0.9, 0.2).reviewed([], text, SOURCE) == []
    assert model.asked == []


def test_answer_without_hints_costs_nothing_where_none_may_be_given() -> None:
    model = TellingModel(0.0)

    assert ModelReview(model, 0.9).reviewed([BORNE], TEXT, SOURCE) == [BORNE]
    assert model.asked == []
