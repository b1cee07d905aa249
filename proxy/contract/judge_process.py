"""Judging in a process of its own: work of more than a few milliseconds must stop no stream.

A gate is built anew over there, from its kind and its options, and keeps its caches there.
"""

import asyncio
import functools
import importlib.util
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from typing import Any, Final, ParamSpec, TypeVar

from proxy.contract.policy import GateSpec
from proxy.gates.base import Gate, Verdict
from proxy.gates.registry import gate_kinds
from proxy.wire.reply import Reply, ToolCall, read_reply
from proxy.wire.request import Request

P = ParamSpec("P")
T = TypeVar("T")

# A judgement is bounded by its own steps; beyond this the process is given up and replaced.
_PATIENCE_SECONDS: Final = 15.0
_MEMORY_BYTES: Final = 2 << 30
_NICENESS: Final = 5


class JudgeFailed(Exception):
    """The process died or did not answer in time."""


class JudgeProcess:
    """One process, started ahead or when it is first needed, and replaced when it dies."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    async def applies(self, spec: GateSpec, request: Request) -> bool:
        """`Gate.applies` over there. Raises `InvalidRequest` as the gate does, or `JudgeFailed`."""
        return await self._run(_applies, spec, _slim(request))

    async def read(self, body: bytes) -> Reply:
        """`read_reply` over there. Raises `MalformedReply`, or `JudgeFailed`."""
        return await self._run(read_reply, body)

    async def judge(self, spec: GateSpec, reply: Reply, request: Request) -> Verdict:
        """`Gate.judge` over there. Raises what the gate raises, or `JudgeFailed`."""
        return await self._run(_judge, spec, reply, _slim(request))

    async def judge_call(self, spec: GateSpec, call: ToolCall, request: Request) -> Verdict:
        """`JudgesCalls.judge_call` over there; for gates that have it."""
        return await self._run(_judge_call, spec, call, _slim(request))

    def start(self) -> None:
        """Start the process now, so that the first judgement does not wait for it."""
        self._pool = self._pool or _new_pool()
        self._pool.submit(_warm_up)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    async def _run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        pool = self._pool = self._pool or _new_pool()
        call = functools.partial(work, *args, **kwargs)
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                return await asyncio.get_running_loop().run_in_executor(pool, call)
        except (BrokenProcessPool, TimeoutError) as error:
            if self._pool is pool:
                self.close()
            raise JudgeFailed("the judging process died or took too long") from error


def _new_pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        max_workers=1, mp_context=multiprocessing.get_context("spawn"), initializer=_settle_in
    )


def _slim(request: Request) -> Request:
    """The request without its body: gates read its members only."""
    return replace(request, body=b"")


def _settle_in() -> None:
    """Leave signals to the parent, end with it, stand back for it, and bound the memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICENESS)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    if importlib.util.find_spec("resource") is not None:
        import resource  # noqa: PLC0415 - not on every platform

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))


def _end_with_the_parent() -> None:
    """A parent that is killed closes no queue: without this its child would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(0)


def _warm_up() -> None:
    """Load over there what every judgement needs."""
    gate_kinds()


@functools.cache
def _gate(spec: GateSpec) -> Gate:
    kind = gate_kinds()[spec.kind]
    return kind.build(kind.options.model_validate_json(spec.options))


def _applies(spec: GateSpec, request: Request) -> bool:
    return _gate(spec).applies(request)


def _judge_call(spec: GateSpec, call: ToolCall, request: Request) -> Verdict:
    judges: Any = _gate(spec)
    verdict: Verdict = judges.judge_call(call, request)
    return verdict


def _judge(spec: GateSpec, reply: Reply, request: Request) -> Verdict:
    return _gate(spec).judge(reply, request)
