"""A policy as a value: what the contract decides by. Knows nothing of YAML, settings or I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase

from typing_extensions import override

from proxy.gates.base import Gate, Verdict


class Mode(StrEnum):
    """`observe` judges and counts, and changes nothing."""

    ENFORCE = "enforce"
    OBSERVE = "observe"


class StepKind(StrEnum):
    """What follows a failed attempt: another attempt, or the way a request ends."""

    SAME = "same"
    VARY = "vary"
    REASK = "reask"
    ESCALATE = "escalate"
    DELIVER = "deliver"
    FLAG = "flag"
    PARK = "park"
    FALLBACK = "fallback"
    REJECT = "reject"

    @property
    def is_end(self) -> bool:
        return self not in _TRY_AGAIN

    @property
    def delivers_reply(self) -> bool:
        """Whether the client gets the failed reply itself after all."""
        return self in (StepKind.DELIVER, StepKind.FLAG)

    @property
    def needs_whole_reply(self) -> bool:
        """Whether somebody gets the failed reply itself, the client or a reviewer."""
        return self.delivers_reply or self is StepKind.PARK


_TRY_AGAIN = frozenset({StepKind.SAME, StepKind.VARY, StepKind.REASK, StepKind.ESCALATE})


class StreamMode(StrEnum):
    """What a client's stream may see before the verdict; `auto` leaves it to the plan."""

    PASS = "pass"  # noqa: S105 - a stream mode, not a password
    WINDOW = "window"
    HOLD = "hold"
    AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a ladder; `lane` is set for `escalate` only."""

    kind: StepKind
    lane: str = ""

    @override
    def __str__(self) -> str:
        return f"{self.kind}:{self.lane}" if self.lane else str(self.kind)


@dataclass(frozen=True, slots=True)
class Match:
    """Which requests a policy is for. Every part must hold; `models` are case-sensitive globs.

    With a `header` the policy is chosen only by a request that names it.
    """

    models: tuple[str, ...]
    endpoints: tuple[str, ...]
    header: str | None = None

    def covers(self, model: str, endpoint: str) -> bool:
        return endpoint in self.endpoints and any(fnmatchcase(model, glob) for glob in self.models)


@dataclass(frozen=True, slots=True)
class Vary:
    """What the step `vary` changes. `min_temperature` raises a lower value, never lowers one."""

    fresh_seed: bool
    min_temperature: float | None
    thinking_off: bool


@dataclass(frozen=True, slots=True)
class Attempts:
    """How much one request may cost: calls, seconds over all of them, tokens of failed ones.

    `cold`: while the engine is cold a strict-JSON fault first repeats the identical request.
    `upstream_faults`: a refused connection, 502, 503 or a 500 while cold is tried once more.
    `deliver_best`: `deliver` takes the attempt with the fewest failed gates, not the last one.
    """

    max_attempts: int
    deadline_seconds: float
    max_extra_tokens: int
    cold: bool
    upstream_faults: bool
    vary: Vary
    deliver_best: bool


@dataclass(frozen=True, slots=True)
class Stream:
    """How a stream is relayed or held. `keepalive_after_seconds` 0: no keep-alives."""

    mode: StreamMode
    keepalive_after_seconds: float
    keepalive_every_seconds: float
    window_holdback_characters: int
    reasoning_hold: bool


@dataclass(frozen=True, slots=True)
class GateSpec:
    """What a gate is built from: its kind's name and its options as JSON."""

    kind: str
    options: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A gate of a policy and what follows its verdicts: each failed attempt takes the next step.

    `spec` lets another process build the same gate; None: it is judged here only.
    `fallback_text` is what a client gets where the ladder ends in `fallback`. `stream` is `window`
    where the gate lets text flow before its verdict. `ladders`: all of a gate that has several, by
    name; `ladder` is then the first of them. `judge_lane`: whom the gate may ask about its hints.
    `reads_promise`: whether the gate looks at the request's schemas or tools.
    """

    gate: Gate
    ladder: tuple[Step, ...]
    on_error: Step
    mode: Mode
    spec: GateSpec | None = None
    fallback_text: str = ""
    stream: StreamMode = StreamMode.HOLD
    ladders: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)
    judge_lane: str = ""
    reads_promise: bool = True

    def ladder_of(self, verdict: Verdict) -> tuple[Step, ...]:
        """The ladder that follows a verdict: the one it names, else the first."""
        return self.ladders.get(verdict.ladder, self.ladder)

    @property
    def always_keeps_back(self) -> bool:
        """Whether no failed reply of this gate reaches anybody in the end: it may be cut."""
        ladders = self.ladders.values() or (self.ladder,)
        return not any(ladder[-1].kind.needs_whole_reply for ladder in ladders)


@dataclass(frozen=True, slots=True)
class Review:
    """What the review queue is told; `stores_bodies`: the texts of request and reply as well."""

    stores_bodies: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy file. `hash` is the start of the SHA-256 of the file's bytes."""

    name: str
    description: str
    mode: Mode
    match: Match
    attempts: Attempts
    stream: Stream
    rules: tuple[Rule, ...]
    record: str
    hash: str
    review: Review = Review()

    @property
    def label(self) -> str:
        """How replies, metrics and the log name the policy."""
        return f"{self.name}@{self.hash}"
