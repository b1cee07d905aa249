"""What a judging process does: it builds gates from their specs and answers calls until it ends."""

import functools
import importlib.util
import os
import signal
import threading
from multiprocessing.connection import Connection
from typing import Any, Final

from proxy.contract.policy import GateSpec
from proxy.gates.base import Gate, Verdict
from proxy.gates.questions import Answer
from proxy.gates.registry import gate_kinds
from proxy.wire.reply import Reply, ToolCall
from proxy.wire.request import Request

_MEMORY_BYTES: Final = 2 << 30
_NICENESS: Final = 5


def serve(asked: int, alive: int) -> None:
    """Answer the calls that come by the descriptor `asked`, until the end of it or of `alive`."""
    _settle_in(alive)
    gate_kinds()
    pipe: Connection = Connection(asked)
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


def applies(spec: GateSpec, request: Request) -> bool:
    return _gate(spec).applies(request)


def judge(spec: GateSpec, reply: Reply, request: Request) -> Verdict:
    return _gate(spec).judge(reply, request)


def judge_call(spec: GateSpec, call: ToolCall, request: Request) -> Verdict:
    judges: Any = _gate(spec)
    verdict: Verdict = judges.judge_call(call, request)
    return verdict


def settle(spec: GateSpec, verdict: Verdict, answer: Answer) -> Verdict:
    settles: Any = _gate(spec)
    settled: Verdict = settles.settle(verdict, answer)
    return settled


@functools.cache
def _gate(spec: GateSpec) -> Gate:
    kind = gate_kinds()[spec.kind]
    return kind.build(kind.options.model_validate_json(spec.options))


def _answer(pipe: Connection, answer: tuple[bool, Any]) -> None:
    try:
        pipe.send(answer)
    except Exception as error:  # noqa: BLE001 - an error of a gate's own may not travel
        pipe.send((True, RuntimeError(f"{type(error).__name__} while answering")))


def _settle_in(alive: int) -> None:
    """Leave signals to the parent, end with it, stand back for it, and bound the memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICENESS)
    threading.Thread(target=_end_with_the_parent, args=(alive,), daemon=True).start()
    if importlib.util.find_spec("resource") is not None:
        import resource  # noqa: PLC0415 - not on every platform

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))


def _end_with_the_parent(alive: int) -> None:
    """A parent that is killed says no farewell, and a long judgement would not notice."""
    os.read(alive, 1)
    os._exit(0)
