"""The plan of one request, made before the upstream is called: which gates apply, which way."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from proxy.contract.policy import Mode, Policy, Rule, StreamMode
from proxy.errors import InvalidRequest
from proxy.telemetry.outcome import Endpoint, Unchecked
from proxy.wire.request import Request


class Way(StrEnum):
    """What a client sees before the verdict.

    `pass`: events are relayed as they come. `window`: text flows, each tool call and the end wait
    for a verdict. `hold`: nothing is sent until the verdict.
    """

    PASS = "pass"  # noqa: S105 - a way, not a password
    WINDOW = "window"
    HOLD = "hold"


@dataclass(frozen=True, slots=True)
class Plan:
    """`enforced` gates decide; `observed` ones are judged and counted only."""

    way: Way
    enforced: tuple[Rule, ...] = ()
    observed: tuple[Rule, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()

    @property
    def rules(self) -> tuple[Rule, ...]:
        return self.enforced + self.observed


# Reading more tools than this for a watch would stop other streams: such a reply is held.
MOST_WATCHED_BYTES: Final = 262_144

# Paths that generate nothing: look-ups have nothing to judge, the others are not covered.
LOOK_UP = Plan(Way.PASS)
UNCOVERED = Plan(Way.PASS, unchecked=(Unchecked.SURFACE,))

_NO_POLICY = Plan(Way.PASS, unchecked=(Unchecked.NO_POLICY,))
_PASS = Plan(Way.PASS)


Applies = Callable[[Rule], Awaitable[bool]]


async def make_plan(
    request: Request,
    endpoint: Endpoint,
    policy: Policy | None,
    applies: Applies,
    *,
    observe: bool,
) -> Plan:
    """Choose the way of a request. `applies` asks a rule's gate whether it guards the request.

    Raises `InvalidRequest` when the request's own contract is unusable. A gate that only observes
    refuses nothing, not even a contract it cannot read.
    """
    if policy is None:
        return _NO_POLICY
    if endpoint is not Endpoint.CHAT:
        return UNCOVERED
    enforced: list[Rule] = []
    observed: list[Rule] = []
    for rule in policy.rules:
        if not (observe or Mode.OBSERVE in (policy.mode, rule.mode)):
            if await applies(rule):
                enforced.append(rule)
            continue
        with suppress(InvalidRequest):
            if await applies(rule):
                observed.append(rule)
    if not enforced and not observed:
        return _PASS
    way = _way(request, policy.stream.mode, enforced)
    return Plan(way, tuple(enforced), tuple(observed))


def _way(request: Request, mode: StreamMode, enforced: Sequence[Rule]) -> Way:
    """A stream is windowed where each of its gates can let text flow; several choices are held."""
    if not enforced or (request.stream and mode is StreamMode.PASS):
        return Way.PASS
    flows = all(rule.stream is StreamMode.WINDOW for rule in enforced)
    flows = flows and len(request.tools) <= MOST_WATCHED_BYTES
    if request.stream and request.n == 1 and mode is not StreamMode.HOLD and flows:
        return Way.WINDOW
    return Way.HOLD
