"""One colour for one meaning, on every panel."""

from typing import Final

GOOD: Final = "green"
WARNING: Final = "orange"
BAD: Final = "red"
NEUTRAL: Final = "text"

QUANTILES: Final = {"p5": "purple", "p50": "blue", "p95": WARNING, "p99": BAD}
WHERE: Final = {
    "upstream p50": "light-blue",
    "upstream p95": "light-orange",
    "delivered p50": "blue",
    "delivered p95": "orange",
    "delivered p99": "red",
}
VERDICTS: Final = {"pass": GOOD, "fail": BAD, "skip": NEUTRAL, "error": "purple"}
OUTCOMES: Final = {
    "passed": GOOD,
    "repaired": "light-green",
    "flagged": "yellow",
    "parked": "purple",
    "rejected": BAD,
    "refused": NEUTRAL,
    "upstream_failed": "dark-orange",
    "timed_out": "light-orange",
    "client_gone": "light-blue",
}
ATTEMPTS: Final = {
    "valid": GOOD,
    "relayed": "light-blue",
    "invalid": BAD,
    "upstream_fault": "dark-orange",
    "abandoned": NEUTRAL,
}
FIRST_ANSWERS: Final = {"valid": GOOD, "invalid": BAD, "unknown": NEUTRAL}
GATES: Final = {
    "strict_json": "blue",
    "tool_calls": "orange",
    "length": "green",
    "evidence": "purple",
    "abstain": "yellow",
    "pattern": "light-red",
}
STEPS: Final = {
    "cold": "light-blue",
    "same": "blue",
    "vary": "yellow",
    "reask": "orange",
    "escalate": "purple",
    "upstream_fault": "dark-orange",
}
# Their legends begin with the lane.
ENGINE_STATES: Final = {
    "/: certified$/": GOOD,
    "/: cold$/": "blue",
    "/: loading$/": "yellow",
    "/: unreachable$/": BAD,
}
DRAFTS: Final = {"accepted": GOOD, "rejected": BAD}
