"""Engines that ended although nobody wanted it, as the user is told of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from proxy.errors import SluicegateError
from proxy.recipes.boot.boot_line import plain
from proxy.recipes.boot.boot_log import Phase
from proxy.recipes.boot.early_death import explain

_SHOWN_LINES: Final = 8


class EngineDied(SluicegateError):
    """An engine ended by itself. `ready_seconds`: how long it had been ready, None: never."""

    def __init__(
        self, when: str, status: int, tail: Sequence[str], log: Path, ready_seconds: float | None
    ) -> None:
        death = explain(tail, status)
        last = [plain(line) for line in tail if line.strip()][-_SHOWN_LINES:]
        super().__init__(
            "\n".join(
                (
                    f"vLLM died {when}: {death.what}",
                    f"  remedy: {death.remedy}",
                    *([f"  it said: {death.line}"] if death.line else []),
                    f"  its log: {log}, which ends with",
                    *(f"    | {line}" for line in last),
                )
            )
        )
        self.death = death
        self.ready_seconds = ready_seconds


class BootTooSlow(SluicegateError):
    """An engine was not ready in the time that the user gave it."""

    def __init__(self, most_seconds: float, phase: Phase, log: Path) -> None:
        super().__init__(
            f"vLLM was not ready after {most_seconds:g} s; it was at `{phase}` "
            f"(raise --boot-seconds, or see {log})"
        )
