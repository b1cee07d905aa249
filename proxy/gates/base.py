"""What a gate is and what it answers. Knows nothing of HTTP, ladders or metrics."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from proxy.errors import Fault
from proxy.wire.reply import Reply
from proxy.wire.request import Request


class Result(StrEnum):
    """A gate's answer on one reply."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    SKIP = "skip"
    ERROR = "error"


class Repair(StrEnum):
    """Repairs that a policy may allow; none of them changes a value."""

    UNWRAP_FENCE = "unwrap_fence"
    DROP_THINK_TAG = "drop_think_tag"
    JSON_FROM_REASONING = "json_from_reasoning"


@dataclass(frozen=True, slots=True)
class Repaired:
    """One choice's content after repair, and which repairs made it."""

    content: str
    repairs: tuple[Repair, ...]

    @property
    def clears_reasoning(self) -> bool:
        return Repair.JSON_FROM_REASONING in self.repairs


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one gate found in one reply.

    `place` says where (`choices[0].message.content`, then a JSON pointer) and becomes the error's
    `param`. `reason` is shown to the client, `feedback` to the model in a re-ask; neither quotes
    the reply at length. `repaired` maps choice index to new content, on a pass only.
    `unchecked` names what could not be checked, e.g. a pattern outside RE2.
    """

    gate: str
    result: Result
    fault: Fault | None = None
    reason: str = ""
    place: str = ""
    feedback: str = ""
    repaired: Mapping[int, Repaired] = field(default_factory=dict)
    unchecked: tuple[str, ...] = ()


class Watch(Protocol):
    """A gate's eye on one running stream; holds the state of that stream only."""

    def feed(self, choice: int, content: str) -> Verdict | None:
        """Take one piece of content; a `fail` verdict means that it can never become valid."""
        ...


class Gate(Protocol):
    """One rule of a policy, with its options compiled. Keeps no state of a request."""

    @property
    def name(self) -> str: ...

    def applies(self, request: Request) -> bool:
        """Whether this request asks for what the gate guards.

        Raises `InvalidRequest` when the request's own contract cannot be used, such as a schema
        that is not one; so a client hears of it before the upstream is asked.
        """
        ...

    def judge(self, reply: Reply, request: Request) -> Verdict: ...

    def watch(self, request: Request) -> Watch | None:
        """An eye on a running stream, or None where a prefix cannot be judged."""
        ...
