"""Why an engine died, from the end of its log and its exit status: what happened, what to do.

A log is untrusted: its words are quoted, short and printable, and never followed.
"""

import re
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from proxy.recipes.boot.boot_line import plain
from proxy.recipes.boot.known_ends import KNOWN_ENDS, LESS_MEMORY

_QUOTE_CHARACTERS: Final = 240


@dataclass(frozen=True, slots=True)
class EarlyDeath:
    """What ended an engine. `line` is the line of the log that tells it; empty where none does."""

    what: str
    remedy: str
    line: str = ""


# What follows from a cause that stands further up.
_CONSEQUENCE: Final = re.compile(r"See root cause above|EngineDeadError|died unexpectedly")
_EXCEPTION: Final = re.compile(
    r"(?:[A-Za-z_]\w{0,40}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception)\b:? ?\S"
)
_CORE_DIED: Final = re.compile(r"Engine core proc \S{1,40} died unexpectedly|EngineDeadError")
_NOBODY_SAYS: Final = "see the end of the log"
_KILLED: Final = {
    signal.SIGKILL: (
        "it was killed by SIGKILL: probably by the kernel, for want of memory",
        f"see `dmesg`; {LESS_MEMORY}",
    ),
    signal.SIGTERM: ("somebody ended it with SIGTERM", "start it again"),
    signal.SIGINT: ("somebody ended it with SIGINT", "start it again"),
}


def explain(lines: Sequence[str], status: int) -> EarlyDeath:
    """Explain a death by the last lines of the log; `status` as Python gives it, -9 for SIGKILL."""
    told = [plain(line) for line in lines]
    if -status in _KILLED:
        return EarlyDeath(*_KILLED[signal.Signals(-status)])
    for known in KNOWN_ENDS:
        for text in reversed(told):
            if found := known.pattern.match(text.lstrip()):
                words = {name: value or "" for name, value in found.groupdict().items()}
                return EarlyDeath(
                    known.what.format_map(words), known.remedy.format_map(words), _quote(text)
                )
    if status < 0:
        return _crash(-status, told)
    if last := next(_causes(told), ""):
        return EarlyDeath(f"it failed with {_quote(last)}", _NOBODY_SAYS, _quote(last))
    if any(_CORE_DIED.search(text) for text in told):
        what = "its engine process was killed: probably by the kernel, for want of memory"
        return EarlyDeath(what, f"see `dmesg`; {LESS_MEMORY}")
    return EarlyDeath(f"it ended with status {status} and did not say why", _NOBODY_SAYS)


def _crash(number: int, told: Sequence[str]) -> EarlyDeath:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return EarlyDeath(f"it crashed ({name})", _NOBODY_SAYS, _quote(next(_causes(told), "")))


def _causes(told: Sequence[str]) -> Iterator[str]:
    """Lines that end a traceback, the last first, without those that point to another."""
    for text in reversed(told):
        if _EXCEPTION.match(text) and not _CONSEQUENCE.search(text):
            yield text


def _quote(text: str) -> str:
    short = text.strip()
    return short if len(short) <= _QUOTE_CHARACTERS else f"{short[:_QUOTE_CHARACTERS]}…"
