"""Starts vLLM with the tiny Qwen and steers it; or lets a relay stand in for vLLM's defect."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final, Protocol

from typing_extensions import override

from tests.engines.environment import VllmEnvironment
from tests.engines.server import VllmServer
from tests.engines.steering.client import (
    ARGUMENTS,
    END_OF_THOUGHT,
    VARIABLES,
    Landing,
    Script,
    Steering,
    Watched,
)
from tests.engines.tiny_qwen import tiny_qwen_engine
from tests.fakes.doubling_relay import DoublingRelay, doubling_relay

MODEL: Final = "tiny-qwen"


class Steered(Protocol):
    """A running engine whose answers to the next requests are told beforehand."""

    @property
    def url(self) -> str: ...

    async def follow(self, scripts: Sequence[Script]) -> None: ...

    async def watched(self) -> list[Watched]: ...


@asynccontextmanager
async def steered_vllm(
    environment: VllmEnvironment, *arguments: str, port: int = 0
) -> AsyncIterator[Steering]:
    """One engine start of the tiny Qwen."""
    engine = tiny_qwen_engine(environment, *ARGUMENTS, *arguments, name=MODEL, port=port)
    variables = {**engine.variables, **VARIABLES}
    async with VllmServer(replace(engine, variables=variables)) as server:
        yield Steering(server.url)


@dataclass(frozen=True, slots=True)
class _Relayed:
    """Steers a vLLM without the defect, and has a relay before it do the damage."""

    engine: Steering
    relay: DoublingRelay

    @property
    def url(self) -> str:
        return self.relay.url

    async def follow(self, scripts: Sequence[Script]) -> None:
        self.relay.double(_breaks(script) for script in scripts if script.thinking)
        await self.engine.follow(scripts)

    async def watched(self) -> list[Watched]:
        return await self.engine.watched()


def _breaks(script: Script) -> bool:
    """Would vLLM 0.24 with one draft token break this answer?"""
    return script.land is Landing.DRAFT and f"{END_OF_THOUGHT}{{" in script.text


@dataclass(frozen=True, slots=True)
class Producer:
    """What produces the defect: vLLM 0.24 itself, or a later one with a relay before it."""

    environment: VllmEnvironment
    relayed: bool = False

    @override
    def __str__(self) -> str:
        version = self.environment.version
        if self.relayed:
            return f"a relay that doubles the first brace, before a steered vLLM {version}"
        return f"vLLM {version} itself, steered"

    @asynccontextmanager
    async def start(self, *arguments: str, port: int = 0) -> AsyncIterator[Steered]:
        """One engine start, to be reached at this port."""
        if not self.relayed:
            async with steered_vllm(self.environment, *arguments, port=port) as engine:
                yield engine
            return
        async with (
            steered_vllm(self.environment, *arguments) as engine,
            doubling_relay(engine.url, port) as relay,
        ):
            yield _Relayed(engine, relay)
