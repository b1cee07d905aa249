import json
from typing import Any

import pytest

from proxy.contract.claims_answer import Unreadable, read_judgements
from proxy.gates.questions import Judgement, Judgements, Opinion

FIRST = {"claim": 1, "verdict": "supported", "sentence": 3, "quote": "brach ein Mast"}
SECOND = {"claim": 2, "verdict": "unknown", "sentence": 0, "quote": ""}


def _text(*claims: Any) -> str:
    return json.dumps({"claims": claims})


def test_judgements_come_in_the_order_of_their_claims() -> None:
    assert read_judgements(f"\n{_text(SECOND, FIRST)} ", 2) == Judgements(
        (Judgement(Opinion.SUPPORTED, 3, "brach ein Mast"), Judgement(Opinion.UNKNOWN, 0, ""))
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "All claims are supported.",
        f"Here is the answer: {_text(FIRST, SECOND)}",
        f"```json\n{_text(FIRST, SECOND)}\n```",
        f"<think>Hm.</think>{_text(FIRST, SECOND)}",
        _text(FIRST, SECOND)[:-5],
        _text(FIRST, SECOND) + "}",
        "[]",
        "null",
        "NaN",
        "{}",
        json.dumps([FIRST, SECOND]),
        json.dumps({"claims": {"1": FIRST}}),
        json.dumps({"claims": [FIRST, SECOND], "note": "sure"}),
        _text(),
        _text(FIRST),
        _text(FIRST, FIRST),
        _text(FIRST, SECOND, SECOND),
        _text(FIRST, SECOND | {"claim": 3}),
        _text(FIRST, SECOND | {"claim": "2"}),
        _text(FIRST, SECOND | {"claim": True}),
        _text(FIRST, SECOND | {"verdict": "Supported"}),
        _text(FIRST, SECOND | {"verdict": "supported "}),
        _text(FIRST, SECOND | {"verdict": None}),
        _text(FIRST, SECOND | {"sentence": "3"}),
        _text(FIRST, SECOND | {"sentence": 1.5}),
        _text(FIRST, SECOND | {"quote": None}),
        _text(FIRST, SECOND | {"why": "because"}),
        _text(FIRST, {"claim": 2, "verdict": "supported"}),
        _text(FIRST, SECOND)[:-3] + ', "verdict": "supported"}]}',
        _text(FIRST, SECOND | {"quote": "x" * 300_000}),
        '{"claims":' * 2000,
    ],
)
def test_all_but_the_form_that_was_asked_for_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_judgements(text, 2)

    assert "Mast" not in str(caught.value)
