"""Closed sets that end as metric labels: endpoints, outcomes, and what went unchecked."""

from enum import StrEnum


class Endpoint(StrEnum):
    """Surfaces of the API, as labels and in a policy's `match.endpoints`."""

    CHAT = "chat"
    COMPLETIONS = "completions"
    RESPONSES = "responses"
    MESSAGES = "messages"
    OTHER = "other"


class Outcome(StrEnum):
    """How a request ended. A closed set."""

    PASSED = "passed"
    REPAIRED = "repaired"
    FLAGGED = "flagged"
    PARKED = "parked"
    REJECTED = "rejected"
    REFUSED = "refused"
    UPSTREAM_FAILED = "upstream_failed"
    TIMED_OUT = "timed_out"
    CLIENT_GONE = "client_gone"


class Unchecked(StrEnum):
    """Why a reply, or a part of a contract, was relayed without being judged."""

    NO_POLICY = "no_policy"
    SURFACE = "surface"
    PATTERN = "pattern"
    CLAIMS = "claims"


class AttemptStep(StrEnum):
    """What led to an attempt; `cold` and `upstream_fault` repeat the identical request.

    `waited` repeats a call that was not accepted, once its engine has been waited for.
    """

    FIRST = "first"
    WAITED = "waited"
    COLD = "cold"
    UPSTREAM_FAULT = "upstream_fault"
    SAME = "same"
    VARY = "vary"
    REASK = "reask"


class AttemptResult(StrEnum):
    """How one attempt came out; `relayed`: no enforced gate judged it."""

    RELAYED = "relayed"
    VALID = "valid"
    INVALID = "invalid"
    UPSTREAM_FAULT = "upstream_fault"
    ABANDONED = "abandoned"


class ProbeResult(StrEnum):
    """How one request of a probe came out; `failed`: there was no answer that could be judged."""

    VALID = "valid"
    INVALID = "invalid"
    FAILED = "failed"


class ReadyWait(StrEnum):
    """How a request's wait for its engine ended; `gone`: its client, or the proxy, did not stay."""

    SERVED = "served"
    REFUSED = "refused"
    GONE = "gone"


class JudgeResult(StrEnum):
    """How a call of a judge lane ended; `failed`: there was no answer, or a refusal."""

    ANSWERED = "answered"
    UNREADABLE = "unreadable"
    TIMED_OUT = "timed_out"
    FAILED = "failed"
