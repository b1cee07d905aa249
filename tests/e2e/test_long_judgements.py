"""Judgements that take long run in another process: a stream beside them goes on."""

import json
from typing import Any

from tests.fakes.gate import running_gate
from tests.fakes.upstream import completion, fake_upstream

ASKED: dict[str, Any] = {"model": "tiny", "messages": [{"role": "user", "content": "x"}]}
# Each level asks for the next one twice: two to the twentieth checks of one small document.
BOMB = {
    "$ref": "#/$defs/d0",
    "$defs": {
        f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(20)
    }
    | {"d20": {"type": "object"}},
}


def _asked(schema: object) -> dict[str, Any]:
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    return ASKED | {"response_format": wanted}


async def test_long_reply_is_judged_elsewhere_and_rightly() -> None:
    items = [{"id": number, "name": f"n{number}"} for number in range(20_000)]
    schema = {"type": "array", "items": {"type": "object", "required": ["id", "name"]}}
    broken = [*items, {"id": 1}]
    async with (
        fake_upstream(completion(json.dumps(items)), *[completion(json.dumps(broken))] * 3) as up,
        running_gate(up.url) as gate,
    ):
        good, _ = await gate.chat(_asked(schema))
        bad, received = await gate.chat(_asked(schema))

    assert good.status == 200
    assert bad.status == 422
    assert json.loads(received)["error"]["param"].endswith("#/20000")


async def test_schema_bomb_ends_within_its_budget_and_by_on_error() -> None:
    async with (
        fake_upstream(completion("{}")) as upstream,
        running_gate(upstream.url) as gate,
    ):
        response, received = await gate.chat(_asked(BOMB))

    assert response.status == 422
    assert json.loads(received)["error"]["code"] == "gate_rejected"


async def test_broken_long_schema_is_refused_with_its_place() -> None:
    schema = {"properties": {f"p{n}": {"type": "string"} for n in range(300)} | {"x": {"type": 7}}}
    async with fake_upstream() as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(_asked(schema))

    assert response.status == 400
    assert json.loads(received)["error"]["param"] == "response_format.json_schema.schema"
    assert upstream.calls == []
