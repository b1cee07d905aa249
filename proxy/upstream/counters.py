"""What an upstream's metrics page tells of its engine: which start, has it worked, does it sleep.

A page is untrusted and may be long: it is read as it arrives, and lines of a few names are kept.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_START: Final = b"process_start_time_seconds"
# Aborted streams count tokens, not requests, so all three are read.
_WORK: Final = frozenset(
    {b"vllm:request_success_total", b"vllm:prompt_tokens_total", b"vllm:generation_tokens_total"}
)
_SLEEP: Final = b"vllm:engine_sleep_state"
_CACHE: Final = b"vllm:cache_config_info"
_DRAFTS: Final = b"vllm:spec_decode_num_draft"
_POSITIONS: Final = b"vllm:spec_decode_num_accepted_tokens_per_pos_total"
_KEPT: Final = (_START, *sorted(_WORK), _SLEEP, _CACHE, _DRAFTS, _POSITIONS)
# Possessive, so that a hostile line costs no more than one pass.
_SERIES: Final = re.compile(rb'([a-z_:]+)(?:\{((?:[^"}]++|"(?:[^"\\]++|\\.)*+")*+)\})?[ \t]+(\S+)')
_LABEL: Final = re.compile(rb'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')
# One engine has at most 15 lines of these names, and one for each draft token of a step; a server
# may have dozens of engines.
_LINES: Final = 2048
_LINE_BYTES: Final = 64 << 10


@dataclass(frozen=True, slots=True)
class Counters:
    """What one look tells. `work`: requests and tokens since the process start, 0 when untouched.

    `asleep`: vLLM's sleep mode, in which requests wait; `discarded`: in level 2, whose waking loads
    the weights anew.
    """

    started_at: float
    work: float = 0.0
    asleep: bool = False
    discarded: bool = False

    @property
    def touched(self) -> bool:
        return self.work != 0


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a page."""

    name: bytes
    labels: bytes
    value: float

    def label(self, name: str) -> str:
        """The value of a label as it is written, escapes included; empty without it."""
        found = dict(_LABEL.findall(self.labels)).get(name.encode(), b"")
        return str(found, "utf-8", "replace")


class MetricsPage:
    """A page that is fed piece by piece; `series` are the lines of interest so far."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._tail = b""
        self._overflows = False

    def feed(self, piece: bytes) -> None:
        *lines, tail = (self._tail + piece).split(b"\n")
        # A line without end is none of ours: what is left of it is a comment.
        self._tail = tail if len(tail) <= _LINE_BYTES else b"#"
        kept = [line for line in lines if line.startswith(_KEPT)]
        room = _LINES - len(self._lines)
        self._overflows = self._overflows or len(kept) > room
        self._lines += kept[:room]

    def series(self) -> Iterator[Series]:
        """What could be read; a last line without its end counts too."""
        for line in (*self._lines, self._tail):
            found = _SERIES.match(line) if line.startswith(_KEPT) else None
            if found is None:
                continue
            try:
                yield Series(found[1], found[2] or b"", float(found[3]))
            except ValueError:
                continue

    def counters(self) -> Counters | None:
        """None where the page does not tell engine starts apart."""
        started: set[float] = set()
        work: list[float] = []
        awake, discarded = True, False
        for one in self.series():
            if one.name == _START:
                started.add(one.value)
            elif one.name in _WORK:
                work.append(abs(one.value))
            elif one.name == _SLEEP and one.label("sleep_state") == "awake":
                awake = awake and one.value != 0
            elif one.name == _SLEEP and one.label("sleep_state") == "discard_all":
                discarded = discarded or one.value != 0
        if self._overflows or len(started) != 1 or not work:
            return None
        started_at = started.pop()
        if not (math.isfinite(started_at) and started_at > 0):
            return None
        return Counters(started_at, sum(work), asleep=not awake, discarded=discarded)
