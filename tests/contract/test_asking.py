from dataclasses import dataclass, replace

import pytest
from typing_extensions import override

from proxy.contract.asking import SoundPromises
from proxy.contract.judge_process import JudgeFailed, JudgeProcess
from proxy.contract.policy import GateSpec
from proxy.errors import InvalidRequest
from proxy.gates.base import Left
from proxy.wire.request import Request
from tests.fakes.job import ASKED
from tests.fakes.policies import FakeGate, rule


@dataclass
class LeavingGate(FakeGate):
    """Does not say here whether it applies."""

    @override
    def applies(self, request: Request) -> bool:
        raise Left


class AskedProcess(JudgeProcess):
    """Says what it is told to of every gate, and notes which ones it was asked about."""

    def __init__(self, *, says: bool) -> None:
        super().__init__()
        self.says = says
        self.asked: list[GateSpec] = []

    @override
    async def applies(self, spec: GateSpec, request: Request) -> bool:
        self.asked.append(spec)
        return self.says


SPEC = GateSpec("leaving", "{}")


@pytest.mark.parametrize("says", [True, False])
async def test_gate_that_leaves_it_is_asked_elsewhere_whether_it_applies(*, says: bool) -> None:
    process = AskedProcess(says=says)
    leaving = replace(rule(LeavingGate("leaving")), spec=SPEC, reads_promise=False)

    assert await SoundPromises(process).asking(ASKED).applies(leaving) is says
    assert process.asked == [SPEC]


async def test_promise_is_not_checked_for_a_gate_that_does_not_read_it() -> None:
    process = AskedProcess(says=True)
    promising = replace(ASKED, response_format=b'{"type":"json_object"}')
    here = replace(rule(FakeGate("here")), spec=SPEC)

    await SoundPromises(process).asking(promising).applies(replace(here, reads_promise=False))
    assert process.asked == []

    await SoundPromises(process).asking(promising).applies(here)
    assert process.asked == [SPEC]


async def test_promise_that_was_found_sound_is_asked_about_here() -> None:
    process = AskedProcess(says=True)
    promises = SoundPromises(process)
    promising = replace(ASKED, response_format=b'{"type":"json_object"}')
    here = replace(rule(FakeGate("here", applies_to=False)), spec=SPEC)

    first = await promises.asking(promising).applies(here)
    again = await promises.asking(replace(promising, body=b"{}")).applies(here)

    assert (first, again) == (True, False)
    assert process.asked == [SPEC]


async def test_long_promise_is_never_held_here() -> None:
    process = AskedProcess(says=True)
    promises = SoundPromises(process)
    long = replace(ASKED, response_format=b" " * 9000)

    for _ in range(2):
        await promises.asking(long).applies(replace(rule(FakeGate("here")), spec=SPEC))

    assert process.asked == [SPEC, SPEC]


async def test_check_that_takes_too_long_is_the_clients_fault() -> None:
    class Dead(JudgeProcess):
        @override
        async def applies(self, spec: GateSpec, request: Request) -> bool:
            raise JudgeFailed

    asking = SoundPromises(Dead()).asking(replace(ASKED, tools=b"[{}]"))

    with pytest.raises(InvalidRequest) as caught:
        await asking.applies(replace(rule(FakeGate("here")), spec=SPEC))

    assert caught.value.code == "promise_too_costly"


async def test_gate_that_breaks_is_asked_to_judge() -> None:
    class Broken(FakeGate):
        @override
        def applies(self, request: Request) -> bool:
            raise RuntimeError("prompt text")

    assert await SoundPromises(None).asking(ASKED).applies(rule(Broken("broken")))


async def test_sound_promises_are_bounded() -> None:
    process = AskedProcess(says=True)
    promises = SoundPromises(process)
    asked = replace(rule(FakeGate("here")), spec=SPEC)

    for number in (*range(300), 299, 0):
        await promises.asking(replace(ASKED, tools=b"[%d]" % number)).applies(asked)

    assert len(process.asked) == 301
