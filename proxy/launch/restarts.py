"""When an engine that died is started again, and when no more."""

from dataclasses import dataclass
from typing import Final

_FIRST_SECONDS: Final = 1.0
_MOST_SECONDS: Final = 60.0
_STEADY_SECONDS: Final = 600.0
_BOOT_DEATHS: Final = 3


@dataclass(frozen=True, slots=True)
class RestartRule:
    """The pause doubles from `first_seconds` to `most_seconds`, and begins anew after a long life.

    An engine that dies `boot_deaths` times in a row before it is ready is given up: what cannot
    start will not start the tenth time either.
    """

    first_seconds: float = _FIRST_SECONDS
    most_seconds: float = _MOST_SECONDS
    steady_seconds: float = _STEADY_SECONDS
    boot_deaths: int = _BOOT_DEATHS


class Restarts:
    """Counts the deaths of one engine. Without a rule the first one is the last."""

    def __init__(self, rule: RestartRule | None) -> None:
        self._rule = rule
        self._pause_seconds = rule.first_seconds if rule else 0.0
        self._boot_deaths = 0

    def after(self, ready_seconds: float | None) -> float | None:
        """How long to wait after a death; None: no other start.

        `ready_seconds` is how long it had been ready, None where it never was.
        """
        rule = self._rule
        if rule is None:
            return None
        if ready_seconds is None:
            self._boot_deaths += 1
            if self._boot_deaths >= rule.boot_deaths:
                return None
        else:
            self._boot_deaths = 0
            if ready_seconds >= rule.steady_seconds:
                self._pause_seconds = rule.first_seconds
        pause = self._pause_seconds
        self._pause_seconds = min(rule.most_seconds, 2 * pause)
        return pause
