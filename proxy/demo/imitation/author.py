"""Writes the answer that a request asks for: a call, a JSON value, or a text."""

import json
import random
from dataclasses import dataclass

from proxy.demo.imitation.answer import Answer, CallMade
from proxy.demo.imitation.asked import Asked
from proxy.demo.imitation.contract import Contract, read_contract
from proxy.demo.imitation.prose import REASONING
from proxy.demo.imitation.schema_value import ValueMaker


@dataclass(frozen=True, slots=True)
class Author:
    """Its chance alone decides among the answers that satisfy a request."""

    chance: random.Random

    def answer(self, asked: Asked) -> Answer:
        """Raises `WrongRequest`: no schema of the request, or one that it cannot satisfy."""
        contract = read_contract(asked.question)
        reasoning = "".join(REASONING) if asked.thinks else ""
        if (function := asked.called) is not None:
            arguments = ValueMaker(function.parameters, self.chance).value() or {}
            call = CallMade(self._call_id(), function.name, _json(arguments))
            return Answer(None, reasoning, (call,), "tool_calls")
        if (schema := asked.schema) is not None:
            maker = ValueMaker(schema, self.chance, lambda name: self._named(contract, name))
            return Answer(_json(maker.value()), reasoning)
        return Answer(contract.text("text", self.chance), reasoning)

    def _named(self, contract: Contract, name: str) -> str | None:
        """The text that a prompt asks for by name, or any text of its source."""
        if name.lower() in contract.lengths:
            return contract.text(name.lower(), self.chance)
        return contract.source[:40].rsplit(" ", 1)[0] if contract.source else None

    def _call_id(self) -> str:
        return f"chatcmpl-tool-{self.chance.getrandbits(64):016x}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
