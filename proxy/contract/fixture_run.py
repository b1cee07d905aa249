"""Runs the fixtures of a policy: what comes of each, and how that differs from what must."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from proxy.contract.fixture_file import Fixture
from proxy.contract.in_process import InProcessGate, Served
from proxy.contract.policy import Policy
from proxy.gates.base import Result
from proxy.telemetry.record import AttemptRecord, VerdictRecord
from proxy.upstream.lane import Call, Lane, UpstreamReply
from proxy.upstream.whole_reply import WholeReply
from proxy.wire.reply import MalformedReply, read_reply

_OK: Final = 200
_NO_FAULT: Final = frozenset({str(Result.PASS), str(Result.SKIP)})
_NO_REPLY: Final = b'{"error": {"message": "the fixture has no reply"}}'
_NOT_FOUND: Final = 404
_SHOWN_CHARACTERS: Final = 120


@dataclass(frozen=True, slots=True)
class Difference:
    """A fixture that does not hold; each line says what was expected and what came."""

    fixture: Fixture
    lines: tuple[str, ...]


async def run_fixtures(policy: Policy, fixtures: Sequence[Fixture]) -> list[Difference]:
    """The fixtures that do not hold. The policy must have been loaded with `full_kinds`."""
    differences = []
    for fixture in fixtures:
        lane = _ScriptedLane([reply.body for reply in fixture.replies])
        served = await InProcessGate(policy, cold=fixture.cold).serve(fixture.request, lane)
        lines = tuple(_compare(fixture, served))
        if lines:
            differences.append(Difference(fixture, lines))
    return differences


def _compare(fixture: Fixture, served: Served) -> Iterator[str]:
    wanted, made = len(fixture.replies), len(served.attempts)
    if made != wanted:
        yield f"replies: the policy asks for {made}, the fixture has {wanted}"
    for reply, attempt in zip(fixture.replies, served.attempts, strict=False):
        yield from _compare_verdicts(reply.verdicts, attempt)
    if served.outcome != fixture.outcome:
        yield f"outcome: expected {fixture.outcome}, got {served.outcome}"
    content = _content(served)
    if fixture.delivers is not None and content != fixture.delivers:
        yield f"delivers: expected {_short(fixture.delivers)}, got {_short(content)}"


def _compare_verdicts(wanted: Mapping[str, str], attempt: AttemptRecord) -> Iterator[str]:
    found = {verdict.gate: verdict for verdict in attempt.verdicts}
    for gate in sorted(wanted.keys() | found.keys()):
        verdict = found.get(gate)
        word = _word(verdict)
        expected = wanted.get(gate)
        result = "" if verdict is None else str(verdict.result)
        if expected in (word, result) or (expected is None and result in _NO_FAULT):
            continue
        where = f" at {verdict.place}" if verdict and verdict.place else ""
        yield (
            f"reply {attempt.number}, {gate}: expected {expected or 'no fault'}, got {word}{where}"
        )


def _word(verdict: VerdictRecord | None) -> str:
    if verdict is None:
        return "no verdict, since it does not apply"
    return verdict.fault or str(verdict.result)


def _content(served: Served) -> str | None:
    try:
        choices = read_reply(served.body).choices
    except MalformedReply:
        return None
    return choices[0].content if choices else None


def _short(text: str | None) -> str:
    if text is None:
        return "no content"
    return f'"{text}"' if len(text) <= _SHOWN_CHARACTERS else f'"{text[:_SHOWN_CHARACTERS]}..."'


class _ScriptedLane(Lane):
    """Answers with the replies of a fixture; when they are used up, the last one again."""

    def __init__(self, bodies: Sequence[bytes]) -> None:
        self._bodies = list(bodies)
        self._next = 0

    @property
    @override
    def name(self) -> str:
        return "fixture"

    @property
    @override
    def speaks_vllm(self) -> bool:
        """False, so that nobody asks it to count tokens."""
        return False

    @override
    async def open(self, call: Call) -> UpstreamReply:
        if not self._bodies:
            return WholeReply(_NOT_FOUND, _NO_REPLY)
        body = self._bodies[min(self._next, len(self._bodies) - 1)]
        self._next += 1
        return WholeReply(_OK, body)

    @override
    async def close(self) -> None:
        return None
