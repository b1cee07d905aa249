import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proxy.contract.judge_process import JudgeFailed, JudgeProcess
from proxy.contract.policy import GateSpec
from proxy.errors import Fault, InvalidRequest
from proxy.gates.base import Result, Verdict
from proxy.gates.length_options import LengthOptions
from proxy.gates.questions import Unanswered
from proxy.gates.strict_json import StrictJsonOptions
from proxy.wire.reply import Choice, MalformedReply, Reply, read_reply
from proxy.wire.request import Request, read_request
from tests.fakes.gate import eventually
from tests.fakes.processes import runs

# Each level asks for the next one twice.
BOMB = {
    "$ref": "#/$defs/d0",
    "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(20)}
    | {"d20": {"type": "object"}},
}
SPEC = GateSpec("strict_json", StrictJsonOptions().model_dump_json())


def _request(schema: object) -> Request:
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    return read_request(json.dumps({"model": "m", "response_format": wanted}).encode())


def _reply(content: str) -> Reply:
    return Reply((Choice(0, content, finish_reason="stop"),))


async def test_verdict_comes_back_whole() -> None:
    process = JudgeProcess()
    request = _request({"type": "object", "required": ["a"]})

    good = await process.judge(SPEC, _reply('{"a":1}'), request)
    bad = await process.judge(SPEC, _reply("{}"), request)
    process.close()

    assert good.result is Result.PASS
    assert (bad.result, bad.fault) == (Result.FAIL, Fault.SCHEMA_VIOLATION)
    assert "a" in bad.reason


async def test_verdict_with_a_question_is_settled_over_there() -> None:
    process = JudgeProcess()
    options = LengthOptions.model_validate(
        {"targets": [{"of": "text", "unit": "tokens", "max": 4}]}
    )
    spec = GateSpec("length", options.model_dump_json())

    settled = await process.settle(spec, Verdict("length", Result.PASS), Unanswered("nobody"))
    process.close()

    assert settled == Verdict("length", Result.ERROR, reason="nobody")


async def test_body_is_read_over_there_as_it_is_here() -> None:
    process = JudgeProcess()
    body = json.dumps({"choices": [{"message": {"content": "\ud83d"}}]}).encode()

    reply = await process.read(body)
    with pytest.raises(MalformedReply, match="not a JSON object"):
        await process.read(b"[]")
    process.close()

    assert reply == read_reply(body)


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
    (worker,) = process._idle
    os.kill(worker.pid, 9)
    worker._process.wait()

    with pytest.raises(JudgeFailed):
        await process.applies(SPEC, request)
    again = await process.applies(SPEC, request)
    process.close()

    assert again


async def test_process_that_is_ended_takes_nobody_else_s_work_with_it() -> None:
    process = JudgeProcess()
    slow = asyncio.create_task(process.judge(SPEC, _reply("{}"), _request(BOMB)))
    await eventually(lambda: bool(process._busy))
    others = [
        asyncio.create_task(process.judge(SPEC, _reply("{}"), _request({}))) for _ in range(4)
    ]

    slow.cancel()
    verdicts = await asyncio.gather(*others)
    process.close()

    assert [verdict.result for verdict in verdicts] == [Result.PASS] * 4
    assert not process._busy


_PARENT = """
import asyncio, sys, time
from proxy.contract.judge_process import JudgeProcess

if __name__ == "__main__":
    process = JudgeProcess()
    process.start()
    (worker,) = process._idle
    worker.ask(float)
    print(worker.pid, flush=True)
    time.sleep(60)
"""


def test_process_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(_PARENT)
    command = [sys.executable, str(script)]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environ) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        parent.kill()

    deadline = time.monotonic() + 10
    while runs(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not runs(child)
