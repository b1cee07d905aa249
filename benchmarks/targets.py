"""What Sluicegate is to reach with one worker, as ratios of one run, and whether it does."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from tables import ratio, with_spread
from turns import (
    FLOOR,
    IMPORT,
    LITELLM_MODULES,
    P50_AT_1,
    P99_AT_1,
    REPLIES_AT_16,
    RESIDENT,
    START,
    STREAMS_AT_16,
    WAY_AT_32,
    YARDSTICK,
    Quantity,
    Turn,
    ratios,
    rounds,
    values,
)

PASSED = "pass"


@dataclass(frozen=True, slots=True)
class Target:
    """A limit on a ratio. `reached` gives each round's own; `because` says why it is missed."""

    words: str
    reached: Callable[[Sequence[Turn]], list[float]]
    limit: float
    at_most: bool
    because: str = "the reason has not been found yet"

    @property
    def wanted(self) -> str:
        return f"{'at most' if self.at_most else 'at least'} {ratio(self.limit)}"

    def is_met(self, reached: Sequence[float]) -> bool:
        found = median(reached)
        return found <= self.limit if self.at_most else found >= self.limit

    def row(self, turns: Sequence[Turn]) -> list[str]:
        """Words, what is wanted, what was reached, what to think of it."""
        reached = self.reached(turns)
        if not reached:
            verdict = "not measured"
        elif self.is_met(reached):
            verdict = "met"
        else:
            verdict = f"**missed**: {self.because}"
        return [self.words, self.wanted, with_spread(reached), verdict]


def to(other: str, quantity: Quantity) -> Callable[[Sequence[Turn]], list[float]]:
    """The ratio of a passed reply to another contender's."""
    return lambda turns: ratios(turns, PASSED, quantity, other)


def _added_way(turns: Sequence[Turn]) -> list[float]:
    """What Sluicegate adds to the way to the first token, as a ratio to what the relay adds."""
    found = []
    for played in rounds(turns):
        ways = [WAY_AT_32.value(played[peer]) for peer in _WAYS if peer in played]
        known = [way for way in ways if way is not None]
        if len(known) == len(_WAYS):
            own, relays, floor = known
            # On a busy machine the floor may be the higher one: such a round says nothing.
            found += [(own - floor) / (relays - floor)] if relays > floor else []
    return found


def _judging(turns: Sequence[Turn]) -> list[float]:
    """What the held and judged reply costs more than the passed one, in p50s of the relay."""
    found = []
    for played in rounds(turns):
        p50s = [P50_AT_1.value(played[peer]) for peer in _JUDGED if peer in played]
        known = [p50 for p50 in p50s if p50 is not None]
        if len(known) == len(_JUDGED):
            judged, passed, relays = known
            found.append((judged - passed) / relays)
    return found


_WAYS = (PASSED, YARDSTICK, FLOOR)
_JUDGED = ("strict", PASSED, YARDSTICK)

# Seen with hot_path.py and gates.py.
_HOLDING = (
    "reading and judging the 2 kB is less than half of it; the rest is reading a larger request, "
    "holding, reading and recording the reply, and asking the other gates of the shipped policy"
)
# Seen with recorder.py made to drop all: p99 falls to 1.3 of the relay's.
_RECORDING = (
    "what is counted, logged and kept of a reply is made after it, and meets the next ones; from "
    "run to run this lies between 1.6 and 2.3"
)
# Seen with `-X importtime`.
_IMPORTING = (
    "from run to run this lies on both sides of it; most of it is importing our own modules, "
    "pydantic, jsonschema and uvicorn"
)

TARGETS = (
    Target("replies/s, to LiteLLM's proxy", to("litellm", REPLIES_AT_16), 40, at_most=False),
    Target("streams/s, to LiteLLM's proxy", to("litellm", STREAMS_AT_16), 50, at_most=False),
    Target("replies/s, to Portkey's gateway", to("portkey", REPLIES_AT_16), 4, at_most=False),
    Target("streams/s, to nginx", to("nginx", STREAMS_AT_16), 0.7, at_most=False),
    Target("streams/s, to nginx, stretched", to("nginx", STREAMS_AT_16), 0.9, at_most=False),
    Target("p50 at one connection, to the bare relay", to("relay", P50_AT_1), 1.4, at_most=True),
    Target(
        "p99 at one connection, to the bare relay",
        to("relay", P99_AT_1),
        2,
        at_most=True,
        because=_RECORDING,
    ),
    Target("TTFT added at 32 paced streams, to the bare relay's", _added_way, 1.5, at_most=True),
    Target(
        "p50 that `strict_json` adds, in the bare relay's p50",
        _judging,
        0.5,
        at_most=True,
        because=_HOLDING,
    ),
    Target("resident memory, to LiteLLM's proxy", to("litellm", RESIDENT), 1 / 3, at_most=True),
    Target(
        "start, to LiteLLM's proxy",
        to("litellm", START),
        0.1,
        at_most=True,
        because=_IMPORTING,
    ),
    Target("import, to LiteLLM's proxy", to("litellm", IMPORT), 0.1, at_most=True),
    Target(
        "modules of litellm that the import loads",
        lambda turns: values(turns, PASSED, LITELLM_MODULES),
        0,
        at_most=True,
    ),
)
