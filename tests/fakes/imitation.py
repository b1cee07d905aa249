"""Imitations for tests: quick ones, without faults unless a test asks for some."""

import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from proxy.contract.clock import SystemClock
from proxy.demo.imitation.answer import Part, Token
from proxy.demo.imitation.asked import Asked, read_asked
from proxy.demo.imitation.engine_start import EngineStart, Pace
from proxy.demo.imitation.faults import read_rates
from proxy.demo.imitation.server import Imitation, ImitationOptions, running_imitation
from proxy.demo.imitation.variant import Variant, VariantName, read_variant

SPEED = 100.0
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 20}, "capital": {"type": "boolean"}},
    "required": ["city", "capital"],
    "additionalProperties": False,
}
STRICT = {"type": "json_schema", "json_schema": {"name": "city", "strict": True, "schema": CITY}}
TOOL = {"type": "function", "function": {"name": "weather", "parameters": CITY}}


@cache
def variant(name: VariantName = VariantName.MTP1) -> Variant:
    return read_variant(name)


def chance(seed: int = 1) -> random.Random:
    return random.Random(seed)  # noqa: S311 - tests need the same chance again


def chat(question: str = "A text of 12 words.", **members: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": question}], **members}


def asked(question: str = "A text of 12 words.", **members: Any) -> Asked:
    return read_asked(json.dumps(chat(question, **members)).encode(), chat=True)


def engine_start(
    *faults: str, speed: float = SPEED, name: VariantName = VariantName.MTP1
) -> EngineStart:
    """A start with these faults alone."""
    pace = Pace(SystemClock(), speed)
    return EngineStart(variant(name), read_rates(["none", *faults]), "test", pace)


def options(
    *faults: str, speed: float = SPEED, name: VariantName = VariantName.MTP1, **more: Any
) -> ImitationOptions:
    return ImitationOptions(variant(name), read_rates(["none", *faults]), speed=speed, **more)


@asynccontextmanager
async def imitating(*faults: str, **more: Any) -> AsyncIterator[Imitation]:
    async with running_imitation(options(*faults, **more)) as imitation:
        yield imitation


def samples(page: str) -> dict[str, float]:
    """Values of a metrics page, summed over what labels tell apart."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, 0.0) + sample.value
    return found


def text_of(tokens: list[Token], part: Part) -> str:
    return "".join(token.text for token in tokens if token.part is part)
