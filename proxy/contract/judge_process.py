"""Judging in processes of their own: work of more than a few milliseconds must stop no stream.

A gate is built anew over there, from its kind and its options, and keeps its caches there. Each
process does one thing at a time, so that one that must be ended takes nobody else's work with it.
"""

import asyncio
import functools
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any, Final, ParamSpec, TypeVar

from proxy.contract import judging_child
from proxy.contract.admission import Admission
from proxy.contract.policy import GateSpec
from proxy.gates.base import Verdict
from proxy.gates.questions import Answer
from proxy.wire.reply import Reply, ToolCall, read_reply
from proxy.wire.request import Request

P = ParamSpec("P")
T = TypeVar("T")

_PROCESSES: Final = 2
_QUEUE: Final = 64
_WAIT_SECONDS: Final = 60.0
# A judgement is bounded by its own steps; a process that takes longer is ended and replaced.
_PATIENCE_SECONDS: Final = 10.0
# numpy, which one gate needs, would start a thread for every core, each with its own memory.
_ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


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
        return await self._run(judging_child.applies, spec, _slim(request))

    async def judge(self, spec: GateSpec, reply: Reply, request: Request) -> Verdict:
        """`Gate.judge` over there. Raises what the gate raises."""
        return await self._run(judging_child.judge, spec, reply, _slim(request))

    async def judge_call(self, spec: GateSpec, call: ToolCall, request: Request) -> Verdict:
        """`JudgesCalls.judge_call` over there; for gates that have it."""
        return await self._run(judging_child.judge_call, spec, call, _slim(request))

    async def settle(self, spec: GateSpec, verdict: Verdict, answer: Answer) -> Verdict:
        """`Settles.settle` over there; for gates that have it. Raises what the gate raises."""
        return await self._run(judging_child.settle, spec, verdict, answer)

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
    """One process and the pipe to it. Used by one judgement at a time.

    Started by hand: multiprocessing would start a third process, which keeps track of resources
    that are not used here.
    """

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        alive, self._alive = os.pipe()
        serve = f"from {judging_child.__name__} import serve; serve({theirs.fileno()}, {alive})"
        self._process = subprocess.Popen(  # noqa: S603 - our own program with our own numbers
            (sys.executable, "-P", "-c", serve),
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(), alive),
            process_group=0,  # Ctrl-C is for us; it ends with the pipe
            env={
                **os.environ,
                **_ONE_THREAD,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            },
        )
        theirs.close()
        os.close(alive)
        self._pipe: Connection = Connection(ours.detach())

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, call: Callable[[], T]) -> T:
        """Block until the answer is there. Raises what the call raises, `EOFError` at death."""
        self._pipe.send(call)
        is_raised, answer = self._pipe.recv()
        if is_raised:
            raise answer
        result: T = answer
        return result

    def end(self) -> None:
        """Kill the process. A thread that waits for its answer gets `EOFError`."""
        self._process.kill()
        self._process.wait()
        if self._alive >= 0:
            os.close(self._alive)
            self._alive = -1


def _slim(request: Request) -> Request:
    """The request without its body: gates read its members only."""
    return replace(request, body=b"")
