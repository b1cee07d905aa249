"""What a probe asks an engine, a short strict-JSON request of its own, and when it passes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from proxy.contract.served_model import ServedModel
from proxy.wire.request import Request, read_request

CASE: Final = "{case}"
DEFAULT_PROMPT: Final = (
    "Check {case} of a service that has just been started: "
    "answer with the number of this check, and that you are ready."
)
DEFAULT_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"check": {"type": "integer"}, "ready": {"type": "boolean"}},
    "required": ["check", "ready"],
    "additionalProperties": False,
}
# A prompt and an answer share the context: an engine with a short one gets a lower limit.
_SHARE_OF_CONTEXT: Final = 2


class OnFail(StrEnum):
    """What a failed probe means: requests are served all the same, or none is."""

    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. `members` are further ones of the request body, by name.

    `{case}` in the prompt becomes the number of the request, never the same again. A prompt
    without it has the number in a line before it: greedy decoding would repeat an identical
    request to the letter.
    """

    prompt: str = DEFAULT_PROMPT
    schema: Mapping[str, Any] = field(default_factory=lambda: DEFAULT_SCHEMA)
    max_tokens: int = 2048
    members: Mapping[str, Any] = field(default_factory=dict)

    def request(self, served: ServedModel, case: int) -> Request:
        """The request of one case, for the model that is served."""
        body: dict[str, Any] = {
            "messages": [{"role": "user", "content": self._text(case)}],
            "max_tokens": self._limit(served),
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "probe", "strict": True, "schema": self.schema},
            },
        }
        if served.name:
            body["model"] = served.name
        return read_request(json.dumps(body | dict(self.members)).encode())

    def _text(self, case: int) -> str:
        if CASE in self.prompt:
            return self.prompt.replace(CASE, str(case))
        return f"Case {case}.\n{self.prompt}"

    def _limit(self, served: ServedModel) -> int:
        if served.context_tokens is None:
            return self.max_tokens
        return max(1, min(self.max_tokens, served.context_tokens // _SHARE_OF_CONTEXT))


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """A probe passes with `valid` valid answers in a row, and fails after `attempts` requests.

    `timeout_seconds` bounds one request. `again_seconds`: a probe that failed closed is repeated
    after this. `pause_seconds` follows a request that failed: an engine that refuses would refuse
    at once again.
    """

    valid: int = 1
    on_fail: OnFail = OnFail.OPEN
    attempts: int = 5
    timeout_seconds: float = 60.0
    again_seconds: float = 30.0
    pause_seconds: float = 1.0
    question: Question = field(default_factory=Question)
