"""Turns of a run that nobody measured."""

from typing import Final

from tally import Figures
from turns import Turn


def figures(per_second: float = 0.0, p50_ms: float | None = None, way: float = 0.0) -> Figures:
    return Figures(
        completed=round(per_second),
        errors=0,
        per_second=per_second,
        replies=round(per_second),
        p50_ms=p50_ms,
        p99_ms=p50_ms,
        way_p50_ms=way,
        way_p99_ms=way,
    )


def turn(number: int, peer: str, *, speed: float, way: float = 1.0) -> Turn:
    """A contender `speed` times as fast, small and quick to start as one of 1."""
    whole, stream = figures(1000 * speed, 1 / speed), figures(100 * speed)
    return Turn(
        number,
        peer,
        TITLES[peer],
        {"json_1": whole, "json_16": whole, "stream_16": stream, "paced_32": figures(way=way)},
        start_seconds=1 / speed,
        import_seconds=1 / speed,
        litellm_modules=0,
        resident_mib=100 / speed,
    )


def run() -> list[Turn]:
    """Two rounds of five contenders, the second one on a machine of half the speed."""
    return [
        turn(number, peer, speed=speed * mood, way=way)
        for number, mood in ((1, 1.0), (2, 0.5))
        for peer, speed, way in (
            ("direct", 10, 0.1),
            ("relay", 2, 0.3),
            ("pass", 1, 0.5),
            ("strict", 0.5, 0.0),
            ("litellm", 0.01, 9.0),
        )
    ]


TITLES: Final = {
    "direct": "no proxy",
    "relay": "bare relay",
    "pass": "Sluicegate, pass",
    "strict": "Sluicegate, strict JSON",
    "litellm": "LiteLLM's proxy",
    "portkey": "Portkey's gateway",
}
MACHINE: Final = [
    "2026-12-01 10:00 UTC, 2 rounds",
    "a processor, 2 CPUs",
    "other programs kept 0.00",
]
