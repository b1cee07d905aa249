"""Judging in processes of their own: work of more than a few milliseconds must stop no stream.

A gate is built anew over there, from its kind and its options, and keeps its caches there. Each
process does one thing at a time, so that one that must be ended takes nobody else's work with it.
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
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any, Final, ParamSpec, TypeVar

from proxy.contract.admission import Admission
from proxy.contract.policy import GateSpec
from proxy.gates.base import Gate, Verdict
from proxy.gates.registry import gate_kinds
from proxy.wire.reply import Reply, ToolCall, read_reply
from proxy.wire.request import Request

P = ParamSpec("P")
T = TypeVar("T")

_PROCESSES: Final = 2
_QUEUE: Final = 64
_WAIT_SECONDS: Final = 60.0
# A judgement is bounded by its own steps; a process that takes longer is ended and replaced.
_PATIENCE_SECONDS: Final = 10.0
_MEMORY_BYTES: Final = 2 << 30
_NICENESS: Final = 5


class JudgeFailed(Exception):
    """The process died or did not answer in time."""


class JudgeProcess:
    """At most two processes, started ahead or when needed. Raises `QueueFull` when swamped.

    Every method raises `JudgeFailed` where the process dies or takes too long.
    """

    def __init__(self) -> None:
        self._room = Admission(_PROCESSES, _QUEUE, _WAIT_SECONDS)
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()

    async def applies(self, spec: GateSpec, request: Request) -> bool:
        """`Gate.applies` over there. Raises `InvalidRequest` as the gate does."""
        return await self._run(_applies, spec, _slim(request))

    async def judge(self, spec: GateSpec, reply: Reply, request: Request) -> Verdict:
        """`Gate.judge` over there. Raises what the gate raises."""
        return await self._run(_judge, spec, reply, _slim(request))

    async def judge_call(self, spec: GateSpec, call: ToolCall, request: Request) -> Verdict:
        """`JudgesCalls.judge_call` over there; for gates that have it."""
        return await self._run(_judge_call, spec, call, _slim(request))

    async def read(self, body: bytes) -> Reply:
        """`read_reply` over there, for long bodies. Raises `MalformedReply`."""
        return await self._run(read_reply, body)

    def start(self) -> None:
        """Start one process now, so that the first judgement does not wait for it."""
        if not self._idle:
            self._idle.append(_Worker())

    def close(self) -> None:
        for worker in (*self._idle, *self._busy):
            worker.end()
        self._idle.clear()

    async def _run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        call = functools.partial(work, *args, **kwargs)
        async with self._room:
            worker = self._idle.pop() if self._idle else _Worker()
            self._busy.add(worker)
            asked = asyncio.get_running_loop().run_in_executor(None, worker.ask, call)
            try:
                async with asyncio.timeout(_PATIENCE_SECONDS):
                    answer: T = await asyncio.shield(asked)
            except BaseException as error:
                self._take_back(worker, asked)
                if isinstance(error, (TimeoutError, EOFError, OSError)):
                    raise JudgeFailed("the judging process died or took too long") from error
                raise
            self._take_back(worker, asked)
            return answer

    def _take_back(self, worker: "_Worker", asked: "asyncio.Future[Any]") -> None:
        """Keep a worker that has answered; end one that has not, or has died."""
        self._busy.discard(worker)
        if asked.done() and worker.is_alive:
            self._idle.append(worker)
            return
        worker.end()
        asked.add_done_callback(lambda done: done.cancelled() or done.exception())


class _Worker:
    """One process and the pipe to it. Used by one judgement at a time."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int | None:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    def ask(self, call: Callable[[], T]) -> T:
        """Block until the answer is there. Raises what the call raises, `EOFError` at death."""
        self._pipe.send(call)
        is_raised, answer = self._pipe.recv()
        if is_raised:
            raise answer
        result: T = answer
        return result

    def end(self) -> None:
        self._process.kill()
        self._process.join()


def _serve(pipe: Connection) -> None:
    """What a process does: answer calls until nobody is left to ask."""
    _settle_in()
    gate_kinds()
    while True:
        try:
            call = pipe.recv()
        except EOFError:
            return
        try:
            answer = False, call()
        except Exception as error:  # noqa: BLE001 - what a gate raises is for the asker
            answer = True, error
        _answer(pipe, answer)


def _answer(pipe: Connection, answer: tuple[bool, Any]) -> None:
    try:
        pipe.send(answer)
    except Exception as error:  # noqa: BLE001 - an error of a gate's own may not travel
        pipe.send((True, RuntimeError(f"{type(error).__name__} while answering")))


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
    """A parent that is killed says no farewell, and a long judgement would not notice."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(0)


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
