"""A probe on a lane's script, without sockets: run beside a test, ended with it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from proxy.contract.probe import Probe
from proxy.contract.probe_answer import ProbeAnswer
from proxy.contract.probe_options import ProbeOptions
from proxy.errors import UpstreamError
from proxy.telemetry.outcome import ProbeResult
from proxy.upstream.engine import Engine
from tests.fakes.job import job_of, new_engine
from tests.fakes.lane import FakeLane, FakeReply, replying
from tests.fakes.upstream import Scripted, completion

VALID = completion('{"check": 1, "ready": true}')
INVALID = completion('{{"check": 1, "ready": true}')
QUICK = ProbeOptions(timeout_seconds=5, again_seconds=0.01, pause_seconds=0)

Step = Scripted | FakeReply | UpstreamError


def models() -> FakeReply:
    return FakeReply((b'{"object":"list","data":[{"id":"tiny","max_model_len":2048}]}',))


def probe_script(*steps: Step) -> FakeLane:
    """A lane that names its model and then answers a probe."""
    script = [replying(step) if isinstance(step, Scripted) else step for step in steps]
    return FakeLane([models(), *script])


@dataclass
class Probed:
    """A probe that runs, and what came of it."""

    probe: Probe
    engine: Engine
    lane: FakeLane
    answers: list[ProbeAnswer] = field(default_factory=list)

    @property
    def results(self) -> list[ProbeResult]:
        return [answer.result for answer in self.answers]


def new_probe(
    lane: FakeLane, engine: Engine | None = None, options: ProbeOptions = QUICK, **changed: Any
) -> Probed:
    engine = engine or new_engine()[0]
    answers: list[ProbeAnswer] = []
    parts = job_of(lane, engine=engine).parts
    probe = Probe(parts, replace(options, **changed), answers.append)
    return Probed(probe, engine, lane, answers)


@asynccontextmanager
async def running_probe(
    lane: FakeLane, engine: Engine | None = None, **changed: Any
) -> AsyncIterator[Probed]:
    probed = new_probe(lane, engine, **changed)
    task = asyncio.create_task(probed.probe.run())
    try:
        yield probed
    finally:
        task.cancel()
        await asyncio.wait({task})
