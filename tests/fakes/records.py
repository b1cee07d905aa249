"""Records as a proxy makes them, for tests that store or count them."""

from typing import Any

from proxy.telemetry.engine_start import AskedBy, EngineStartRecord, FirstAnswer, StartSource
from proxy.telemetry.outcome import AttemptResult, AttemptStep, Endpoint, Outcome
from proxy.telemetry.record import AttemptRecord, RequestRecord, VerdictRecord

POLICY = "production@abdf03cc14b9"
SEEN_AT = 1_796_000_000.0


def verdict_record(fault: str | None = None, **more: Any) -> VerdictRecord:
    result = "fail" if fault else "pass"
    basics = {"gate": "strict_json", "result": result, "enforced": True, "seconds": 0.001}
    return VerdictRecord(**{**basics, "fault": fault, **more})


def attempt_record(number: int = 1, fault: str | None = None, **more: Any) -> AttemptRecord:
    basics = {
        "number": number,
        "step": AttemptStep.FIRST if number == 1 else AttemptStep.COLD,
        "result": AttemptResult.INVALID if fault else AttemptResult.VALID,
        "status": 200,
        "cold": True,
        "seconds": 0.5,
        "faults": (fault,) if fault else (),
        "verdicts": (verdict_record(fault),),
    }
    return AttemptRecord(**{**basics, **more})


def request_record(request_id: str = "r", **more: Any) -> RequestRecord:
    basics = {
        "id": request_id,
        "received_at": SEEN_AT,
        "endpoint": Endpoint.CHAT,
        "outcome": Outcome.PASSED,
        "status": 200,
        "policy": POLICY,
    }
    return RequestRecord(**{**basics, **more})


def start_record(key: str = "1796000000.25", **more: Any) -> EngineStartRecord:
    basics = {
        "lane": "main",
        "key": key,
        "told_by": StartSource.METRICS,
        "seen_at": SEEN_AT,
        "started_at": SEEN_AT - 60,
    }
    return EngineStartRecord(**{**basics, **more})


def clean_start(key: str, fault: str | None = None, **more: Any) -> EngineStartRecord:
    """A start that is a clean sample; with a fault its first answer was invalid."""
    answer = FirstAnswer.INVALID if fault else FirstAnswer.VALID
    basics = {"untouched": True, "first_answer": answer, "first_by": AskedBy.REQUEST}
    return start_record(key, **{**basics, "first_fault": fault, **more})
