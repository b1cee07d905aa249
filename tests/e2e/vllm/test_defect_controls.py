"""The same answers where the defect should not be: without drafts, and in a later vLLM."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.vllm.defect_asking import Asked, client_of
from tests.e2e.vllm.defect_cases import REPEATS, Case, ask_often
from tests.e2e.vllm.defect_report import Measured, folder_of, today, write_report
from tests.engines.cache import Cache
from tests.engines.environment import VllmEnvironment
from tests.engines.gate_process import GateProcess
from tests.engines.steering.client import Landing
from tests.engines.steering.steered import steered_vllm
from tests.engines.tiny_qwen import MTP

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(600)]

Keep = Callable[[str, str, list[Asked]], None]


@pytest.fixture(scope="module")
def keep(cache: Cache) -> Iterator[Keep]:
    """Keeps what a control measured; at the end, the table of it all is told."""
    folder = folder_of(cache)

    def kept(name: str, engine: str, asked: list[Asked]) -> None:
        Measured(engine, today(), tuple(asked)).save(folder, name)

    yield kept
    cache.say(write_report(folder))


async def _asked(
    environment: VllmEnvironment, folder: Path, case: Case, *arguments: str
) -> list[Asked]:
    async with (
        steered_vllm(environment, *arguments) as engine,
        GateProcess(folder, engine.url) as gate,
        client_of(gate) as client,
    ):
        return await ask_often(client, engine, case)


def test_without_drafts_the_same_answers_are_valid_at_once(
    vllm_0_24: VllmEnvironment, tmp_path: Path, keep: Keep
) -> None:
    asked = asyncio.run(_asked(vllm_0_24, tmp_path, Case.TARGET))
    keep("2-no-drafts", f"{vllm_0_24.version}, MTP off", asked)

    assert [each.first.landing for each in asked] == [Landing.TARGET] * REPEATS
    assert [each for each in asked if len(each.attempts) > 1 or not each.exact] == []


def test_later_vllm_is_valid_at_once_where_the_earlier_one_breaks(
    vllm_0_32: VllmEnvironment, tmp_path: Path, keep: Keep
) -> None:
    asked = asyncio.run(_asked(vllm_0_32, tmp_path, Case.DRAFT, *MTP))
    keep("3-later", f"{vllm_0_32.version}, MTP1", asked)

    assert [each.first.landing for each in asked] == [Landing.DRAFT] * REPEATS
    assert [each for each in asked if len(each.attempts) > 1 or not each.exact] == []
