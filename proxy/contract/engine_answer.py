"""What a judged answer says about the engine: whether it keeps strict JSON by itself."""

from collections.abc import Collection, Sequence
from typing import Any, Final

import msgspec

from proxy.contract.judging import Judged
from proxy.contract.ladder import STRICT_JSON
from proxy.errors import Fault
from proxy.gates.base import Repair, Result, Verdict
from proxy.upstream.sample import Answer
from proxy.wire.request import Request

# The request's token limit or ours ended the answer; the engine might have gone on well.
_BY_LIMIT: Final = frozenset({Fault.TRUNCATED, Fault.TOO_LARGE, Fault.TOO_DEEP})
_NOTHING: Final = Answer(valid=None)


class _Stops(msgspec.Struct):
    stop: Any = None
    stop_token_ids: Any = None


def answer_of(request: Request, judged: Sequence[Judged]) -> Answer:
    """Judge the engine by the answer as it was sent: a repair means that it was not valid.

    What the request itself brought about, by a limit or a text at which to stop, says nothing.
    """
    for one in judged:
        if one.verdict.gate == STRICT_JSON and one.verdict.result in (Result.PASS, Result.FAIL):
            return _answer(request, one.verdict)
    return _NOTHING


def _answer(request: Request, verdict: Verdict) -> Answer:
    if verdict.result is Result.PASS:
        repairs = {repair for each in verdict.repaired.values() for repair in each.repairs}
        return Answer(valid=not repairs, fault=_repaired_fault(repairs))
    if verdict.fault in _BY_LIMIT:
        return _NOTHING
    if verdict.fault is Fault.UNFINISHED and _names_stops(request.body):
        return _NOTHING
    return Answer(valid=False, fault=verdict.fault)


def _repaired_fault(repairs: Collection[Repair]) -> Fault | None:
    if not repairs:
        return None
    return Fault.IN_REASONING if Repair.JSON_FROM_REASONING in repairs else Fault.LEADING_JUNK


def _names_stops(body: bytes) -> bool:
    try:
        stops = msgspec.json.decode(body, type=_Stops)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return bool(stops.stop or stops.stop_token_ids)
