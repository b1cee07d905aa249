"""A gate kind with options of its own, for tests of policy files."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from proxy.gates.base import Gate
from proxy.gates.registry import GateKind
from tests.fakes.policies import FakeGate


class SpanOptions(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    min: int = Field(default=0, ge=0)
    max: int = 10
    words: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.min > self.max:
            message = "min is over max"
            raise ValueError(message)
        return self


def build_span(options: SpanOptions) -> Gate:
    """Refuses the word "unbuildable", as a gate does that cannot compile an option."""
    if "unbuildable" in options.words:
        message = "no such word"
        raise ValueError(message)
    return FakeGate(name="span")


def _build_plain(_: Any) -> Gate:
    return FakeGate(name="plain")


KINDS = {
    "plain": GateKind("plain", SpanOptions, _build_plain),
    "span": GateKind("span", SpanOptions, build_span),
}
