"""What clients ask for in the tests of the defect, and what the model answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.engines.steering.client import END_OF_THOUGHT, Landing, Script

AT_ONCE: Final = ""
BLANK_LINE: Final = "\n\n"

_TEXT: Final = {"type": "string"}
_COUNT: Final = {"type": "integer"}
_FLAG: Final = {"type": "boolean"}


def _object(**properties: object) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@dataclass(frozen=True, slots=True)
class Task:
    """A question with the schema of its answer, and a model's thoughts and answer."""

    name: str
    ask: str
    schema: Mapping[str, Any]
    thoughts: str
    answer: Mapping[str, Any]

    def thinking(self, land: Landing, between: str = AT_ONCE) -> Script:
        """The model thinks first; `between` is what it writes before its JSON."""
        answer = json.dumps(self.answer)
        text = f"{self.thoughts}\n{END_OF_THOUGHT}{between}{answer}"
        return Script(thinking=True, text=text, land=land)

    def straight(self) -> Script:
        """The model was told not to think."""
        return Script(thinking=False, text=json.dumps(self.answer))


TASKS: Final = (
    Task(
        "city",
        "Give me the key facts about Berlin as JSON.",
        _object(city=_TEXT, population=_COUNT, capital=_FLAG),
        "The user wants facts about Berlin. I know how many live there; it is the capital.",
        {"city": "Berlin", "population": 3645000, "capital": True},
    ),
    Task(
        "ticket",
        "Turn this report into a ticket as JSON: uploads over 2 GB fail.",
        _object(
            title=_TEXT,
            severity={"type": "string", "enum": ["low", "medium", "high"]},
            steps={"type": "array", "items": _TEXT},
            reproducible=_FLAG,
        ),
        "I should summarise the report, set the severity and list the steps.",
        {
            "title": "Upload fails over 2 GB",
            "severity": "high",
            "steps": ["Choose a file of 3 GB", "Wait for the error"],
            "reproducible": True,
        },
    ),
    Task(
        "order",
        "Extract the order as JSON: 2x A-17, 1x C-04, 184.50 EUR.",
        _object(
            items={"type": "array", "items": _object(sku=_TEXT, qty=_COUNT)},
            total={"type": "number"},
            currency=_TEXT,
        ),
        "Two items are named, with quantities and a total. The currency is euro.",
        {
            "items": [{"sku": "A-17", "qty": 2}, {"sku": "C-04", "qty": 1}],
            "total": 184.5,
            "currency": "EUR",
        },
    ),
    Task(
        "verdict",
        "Judge the test run and answer as JSON.",
        _object(verdict={"type": "string", "enum": ["pass", "fail"]}, score=_COUNT, reason=_TEXT),
        "The log shows three checks. All of them passed in time, so the verdict is clear.",
        {"verdict": "pass", "score": 8, "reason": "All three checks passed in time."},
    ),
)
