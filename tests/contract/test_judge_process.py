import asyncio
import json
import os

import pytest

from proxy.contract.judge_process import JudgeFailed, JudgeProcess
from proxy.contract.policy import GateSpec
from proxy.errors import Fault, InvalidRequest
from proxy.gates.base import Result
from proxy.gates.strict_json import StrictJsonOptions
from proxy.wire.reply import Choice, Reply
from proxy.wire.request import Request, read_request

SPEC = GateSpec("strict_json", StrictJsonOptions().model_dump_json())


def _request(schema: object) -> Request:
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    return read_request(json.dumps({"model": "m", "response_format": wanted}).encode())


def _reply(content: str) -> Reply:
    return Reply((Choice(0, content, finish_reason="stop"),))


async def _ask_until_it_fails(process: JudgeProcess, request: Request) -> None:
    """The pool notices a killed child when its pipe breaks, not at once."""
    for _ in range(1000):
        await process.applies(SPEC, request)
        await asyncio.sleep(0)


async def test_verdict_comes_back_whole() -> None:
    process = JudgeProcess()
    request = _request({"type": "object", "required": ["a"]})

    good = await process.judge(SPEC, _reply('{"a":1}'), request)
    bad = await process.judge(SPEC, _reply("{}"), request)
    process.close()

    assert good.result is Result.PASS
    assert (bad.result, bad.fault) == (Result.FAIL, Fault.SCHEMA_VIOLATION)
    assert "a" in bad.reason


async def test_refusal_of_a_request_comes_back_with_its_param() -> None:
    process = JudgeProcess()

    with pytest.raises(InvalidRequest) as refused:
        await process.applies(SPEC, _request({"type": "nonsense"}))
    applies = await process.applies(SPEC, _request({}))
    process.close()

    assert refused.value.param == "response_format.json_schema.schema"
    assert applies


async def test_dead_process_is_replaced() -> None:
    process = JudgeProcess()
    request = _request({})
    await process.applies(SPEC, request)
    pool = process._pool
    assert pool is not None
    for child in tuple(pool._processes):
        os.kill(child, 9)

    with pytest.raises(JudgeFailed):
        await _ask_until_it_fails(process, request)
    again = await process.applies(SPEC, request)
    process.close()

    assert again
