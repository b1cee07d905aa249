from pathlib import Path

import pytest

from tests.engines.gate_process import GateProcess
from tests.fakes.upstream import fake_upstream, stream


async def test_process_serves_with_its_own_settings_and_ends(tmp_path: Path) -> None:
    async with (
        fake_upstream(stream(["Hel", "lo."])) as upstream,
        GateProcess(tmp_path, upstream.url) as gate,
        gate.client() as client,
    ):
        raw = await client.chat.completions.with_raw_response.create(
            model="tiny", messages=[{"role": "user", "content": "Hi"}], stream=True
        )
        pieces = [chunk.choices[0].delta.content or "" async for chunk in raw.parse()]
        record = await gate.record(raw.headers["x-request-id"])

    assert "".join(pieces) == "Hello."
    assert record["outcome"] == "passed"
    assert [line["id"] for line in gate.log_lines()] == [record["id"]]


async def test_process_that_does_not_start_tells_why(tmp_path: Path) -> None:
    settings = {"limits.idle_seconds": "soon"}

    with pytest.raises(AssertionError, match=r"limits\.idle_seconds"):
        await GateProcess(tmp_path, "http://127.0.0.1:1", settings).__aenter__()
