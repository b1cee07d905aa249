"""The project's own cases, each a test of its own: `own/*.jsonl`, in the format of README.md."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from proxy.gates.registry import gate_kinds
from tests.cases.case import read_file
from tests.cases.runner import Report, Result, report_on

FILES = sorted((Path(__file__).parent / "own").glob("*.jsonl"))
OWN = {case.id: case for file in FILES for case in read_file(file)}
# A case is mostly waiting, for its proxy to stop above all.
AT_ONCE = 6


@pytest.fixture(scope="module")
def reports(request: pytest.FixtureRequest) -> Mapping[str, Report]:
    """The reports on the chosen cases; each has its own upstream and proxy, several run at once."""
    chosen = {item.name.partition("[")[2].rstrip("]") for item in request.session.items}
    return asyncio.run(_play([name for name in OWN if name in chosen]))


async def _play(names: list[str]) -> Mapping[str, Report]:
    room = asyncio.Semaphore(AT_ONCE)

    async def one(name: str) -> Report:
        async with room:
            return await report_on(OWN[name], gate_kinds())

    found = await asyncio.gather(*map(one, names))
    return {report.id: report for report in found}


@pytest.mark.parametrize("name", OWN)
def test_case_holds_and_all_of_it_is_checked(name: str, reports: Mapping[str, Report]) -> None:
    report = reports[name]

    assert report.result is Result.PASSED, report.details
    assert not report.not_checked


def test_every_id_stands_once() -> None:
    ids = [case.id for file in FILES for case in read_file(file)]

    assert len(ids) == len(OWN)
