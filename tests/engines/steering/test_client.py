import json

import pytest

from tests.engines.steering.client import (
    Landing,
    Script,
    Steering,
    SteeringFailed,
    Watched,
)
from tests.fakes.upstream import Scripted, fake_upstream


async def test_scripts_are_told_as_one_text_since_the_engine_takes_no_other() -> None:
    script = Script(thinking=True, text="So.</think>{}", land=Landing.BONUS)
    async with fake_upstream(Scripted((b'{"results":["1"]}',))) as engine:
        await Steering(engine.url).follow([script])

    told = engine.calls[0].json
    assert (engine.calls[0].path, told["method"]) == ("/collective_rpc", "steer")
    assert json.loads(told["args"][0]) == [
        {"thinking": True, "text": "So.</think>{}", "land": "bonus"}
    ]


async def test_watched_requests_are_read() -> None:
    answer = {"results": [[{"thinking": True, "steered": True, "landing": "draft"}]]}
    async with fake_upstream(Scripted((json.dumps(answer).encode(),))) as engine:
        watched = await Steering(engine.url).watched()

    assert watched == [Watched(thinking=True, steered=True, landing=Landing.DRAFT)]


async def test_engine_that_is_not_steered_is_an_error_with_its_answer() -> None:
    async with fake_upstream(Scripted((b'{"detail":"Not Found"}',), status=404)) as engine:
        with pytest.raises(SteeringFailed, match=r"steer: 404.*Not Found"):
            await Steering(engine.url).follow([])


def test_thought_that_never_ends_cannot_land() -> None:
    with pytest.raises(ValueError, match="land as draft"):
        Script(thinking=True, text="On and on", land=Landing.DRAFT)
