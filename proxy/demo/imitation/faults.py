"""The faults that an imitation makes on purpose: their names, their rates, whom they can befall."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from proxy.demo.imitation.asked import Asked
from proxy.demo.imitation.contract import read_contract
from proxy.errors import ConfigError, Place, Problem


class MadeFault(StrEnum):
    """What goes wrong with one answer."""

    NOT_JSON = "not_json"
    DOUBLED_BRACE = "doubled_brace"
    THINK_TAG = "think_tag"
    FENCED = "fenced"
    WHITESPACE_RUNAWAY = "whitespace_runaway"
    UNFINISHED = "unfinished"
    MANGLED_ARGUMENTS = "mangled_arguments"
    CALL_IN_TEXT = "call_in_text"
    TOO_LONG = "too_long"
    UNSUPPORTED_NUMBER = "unsupported_number"
    SERVER_ERROR = "server_error"
    ERROR_IN_STREAM = "error_in_stream"
    STREAM_CUT = "stream_cut"
    STALL = "stall"


# Not faults of their own: how likely a strict-JSON answer is bad before the first good one, and how
# likely the next attempts at a request meet the fault of the first one again.
COLD: Final = "cold_strict_json"
STUBBORN: Final = "stubborn"

_OF_JSON: Final = (
    *(MadeFault.NOT_JSON, MadeFault.DOUBLED_BRACE, MadeFault.THINK_TAG, MadeFault.FENCED),
    *(MadeFault.WHITESPACE_RUNAWAY, MadeFault.UNFINISHED),
)
_OF_CALLS: Final = (MadeFault.MANGLED_ARGUMENTS, MadeFault.CALL_IN_TEXT)
_OF_STREAMS: Final = (MadeFault.ERROR_IN_STREAM, MadeFault.STREAM_CUT, MadeFault.STALL)

DEFAULT_RATES: Final[Mapping[str, float]] = MappingProxyType(
    {
        MadeFault.NOT_JSON: 0.02,
        MadeFault.DOUBLED_BRACE: 0.03,
        MadeFault.THINK_TAG: 0.03,
        MadeFault.FENCED: 0.02,
        MadeFault.WHITESPACE_RUNAWAY: 0.01,
        MadeFault.UNFINISHED: 0.02,
        MadeFault.MANGLED_ARGUMENTS: 0.04,
        MadeFault.CALL_IN_TEXT: 0.03,
        MadeFault.TOO_LONG: 0.05,
        MadeFault.UNSUPPORTED_NUMBER: 0.05,
        MadeFault.SERVER_ERROR: 0.01,
        MadeFault.ERROR_IN_STREAM: 0.01,
        MadeFault.STREAM_CUT: 0.01,
        MadeFault.STALL: 0.005,
        COLD: 0.67,  # the article's sample: two of three cold starts
        STUBBORN: 0.25,
    }
)
_NAMED: Final = re.compile(r"([a-z_]+)=(0|1|[01]?\.[0-9]{1,6})")


@dataclass(frozen=True, slots=True)
class FaultRates:
    """Rates from 0 to 1 by the names of `MadeFault`, `cold_strict_json` and `stubborn`."""

    rates: Mapping[str, float]

    def of(self, name: str) -> float:
        return self.rates.get(name, 0.0)

    @property
    def text(self) -> str:
        return ", ".join(f"{name}={rate:g}" for name, rate in self.rates.items() if rate)


def read_rates(given: Sequence[str]) -> FaultRates:
    """The default rates, changed by `NAME=RATE`; `none` first sets all to 0.

    Raises `ConfigError` with every one that cannot be read.
    """
    rates: dict[str, float] = dict(DEFAULT_RATES)
    problems = []
    for text in given:
        found = _NAMED.fullmatch(text)
        if text == "none":
            rates = dict.fromkeys(rates, 0.0)
        elif found and found[1] in rates and float(found[2]) <= 1:
            rates[found[1]] = float(found[2])
        else:
            remedy = (
                f"write NAME=RATE from 0 to 1, such as not_json=0.05; names: {', '.join(rates)}"
            )
            problems.append(Problem(Place("--fault"), f"`{text}` is no rate of a fault", remedy))
    if problems:
        raise ConfigError(problems)
    return FaultRates(rates)


def possible_faults(asked: Asked) -> Iterator[MadeFault]:
    """The faults that an answer to this request can have."""
    if asked.called is not None:
        yield from _OF_CALLS
    elif asked.schema is not None:
        yield from _OF_JSON
    contract = read_contract(asked.question)
    if contract.lengths and asked.called is None:
        yield MadeFault.TOO_LONG
    if contract.source and asked.called is None:
        yield MadeFault.UNSUPPORTED_NUMBER
    yield MadeFault.SERVER_ERROR
    if asked.stream:
        yield from _OF_STREAMS
