"""The record of one engine start: what metrics, the ledger and `ledger starts` are written from.

A start is told by the engine's own process start time where its metrics have one. The record grows
while the start lives; every state of it is handed out whole.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

import msgspec


class FirstAnswer(StrEnum):
    """How the first strict-JSON answer of an engine start came out; a metric label."""

    VALID = "valid"
    INVALID = "invalid"
    UNKNOWN = "unknown"


class StartSource(StrEnum):
    """How engine starts are told apart; a metric label."""

    METRICS = "metrics"
    FALLBACK = "fallback"


class AskedBy(StrEnum):
    """Whose request the first strict-JSON answer was for."""

    REQUEST = "request"
    PROBE = "probe"


class SampleRole(StrEnum):
    """What a strict-JSON request was to the sample of its engine start when it was sent.

    A first one that gets no verdict gives the sample on to the next.
    """

    FIRST = "first"
    CONCURRENT = "concurrent"


class EngineStartRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """One load of a lane's model. Instants are Unix seconds; None: not known, or not yet.

    `key` tells the starts of a lane apart and is the same for every proxy before that engine,
    except where the fallback counts or the engine woke: each proxy sees that at an instant of its
    own. `ready_seconds`: from the process start to the first answer, where the engine was seen to
    be away before; as exact as looks are frequent. `untouched`: its counters were zero when we
    first saw it (of one that woke: had not moved since it slept), a clean sample. `woke`: the
    weights were loaded anew by waking from level 2. `told_by` is how the start was told from the
    one before; a `started_at` may still be learnt later.

    `first_fault` is the fault of an invalid first answer, `retry_step` and `retry_valid` tell of
    the attempt that followed it, `cured_by` the step whose answer was valid at last.
    `facts` are versions and boot facts by name, short texts.
    """

    lane: str
    key: str
    told_by: StartSource
    seen_at: float
    started_at: float | None = None
    ready_seconds: float | None = None
    untouched: bool | None = None
    woke: bool = False
    first_answer: FirstAnswer = FirstAnswer.UNKNOWN
    first_by: AskedBy | None = None
    first_fault: str | None = None
    retry_step: str | None = None
    retry_valid: bool | None = None
    cured_by: str | None = None
    certified_at: float | None = None
    over_at: float | None = None
    facts: Mapping[str, str] = {}


class StartSink(Protocol):
    """Hears of every change of an engine start; must neither block nor raise."""

    def start(self, record: EngineStartRecord) -> None: ...
