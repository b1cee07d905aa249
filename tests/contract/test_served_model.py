import json
from typing import Any

import pytest

from proxy.contract.served_model import ServedModel, ask_served_model
from proxy.errors import Unreachable
from tests.fakes.lane import FakeLane, FakeReply

RECIPE = ServedModel("Qwen/Qwen3.6-35B", 4096)


def _listing(*entries: Any) -> FakeLane:
    page = json.dumps({"object": "list", "data": entries}).encode()
    return FakeLane([FakeReply((page[:7], page[7:]))])


async def test_first_listed_model_is_the_served_one() -> None:
    lane = _listing({"id": "tiny", "max_model_len": 2048}, {"id": "lora"})

    served = await ask_served_model(lane, ServedModel())

    assert served == ServedModel("tiny", 2048)
    assert [(call.method, call.path) for call in lane.calls] == [("GET", "/v1/models")]


async def test_model_of_the_recipe_is_taken_where_it_is_listed() -> None:
    lane = _listing({"id": "other"}, {"id": "Qwen/Qwen3.6-35B", "max_model_len": 2048})

    assert await ask_served_model(lane, RECIPE) == ServedModel("Qwen/Qwen3.6-35B", 2048)


async def test_alias_of_the_engine_wins_over_a_recipe_that_does_not_know_it() -> None:
    served = await ask_served_model(_listing({"id": "alias", "max_model_len": 2048}), RECIPE)

    assert served == ServedModel("alias", 2048)


async def test_length_that_the_engine_does_not_tell_is_the_recipe_s() -> None:
    served = await ask_served_model(_listing({"id": "alias"}), RECIPE)

    assert served == ServedModel("alias", 4096)


@pytest.mark.parametrize(
    "reply",
    [
        FakeReply((b'{"detail":"Not Found"}',), status=404),
        FakeReply((b"<html>",)),
        FakeReply((b"[" * 100_000,)),
        FakeReply((b'{"data":7}',)),
        FakeReply((b'{"data":[7,{"id":7}]}',)),
        FakeReply((b"[]",)),
    ],
    ids=["refused", "no JSON", "too deep", "no list", "no models", "no object"],
)
async def test_list_that_cannot_be_read_leaves_what_the_recipe_says(reply: FakeReply) -> None:
    assert await ask_served_model(FakeLane([reply]), RECIPE) == RECIPE
    assert reply.closed == 1


@pytest.mark.parametrize("length", [0, -1, True, "2048", None])
async def test_context_length_that_is_none_is_not_known(length: Any) -> None:
    lane = _listing({"id": "tiny", "max_model_len": length})

    assert (await ask_served_model(lane, ServedModel())).context_tokens is None


async def test_endless_list_is_read_only_so_far() -> None:
    endless = FakeReply((b" " * (1 << 19),) * 8)

    assert await ask_served_model(FakeLane([endless]), RECIPE) == RECIPE
    assert endless.taken < len(endless.pieces)


async def test_engine_that_is_away_raises() -> None:
    with pytest.raises(Unreachable):
        await ask_served_model(FakeLane([Unreachable("gone")]), RECIPE)
