"""Whether vLLM's parser takes the value of a flag: its kind, its choices, its range."""

import json
import math
import re
from dataclasses import dataclass
from typing import Final

from proxy.nearest import did_you_mean
from proxy.recipes.parsing.human_numbers import read_number
from proxy.recipes.recipe import Flag
from proxy.recipes.vllm.facts import Kind, VllmFlag

_UNSET: Final = frozenset({"", "None"})
_INTEGER: Final = re.compile(r"[+-]?\d+")
_OBJECT: Final = re.compile(r".*-config")
_LEFT_TO_VLLM: Final = frozenset({"auto", "-1"})
_BITS_OF_PORT: Final = 16
_LISTED: Final = 8
# A placeholder without a value, or what a shell would run: errors of their own.
_UNFILLED: Final = re.compile(r"\{\w+\}|\$|`.*")


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a value is refused. `wanted` reads on from "must be"; `offset` is where in the value."""

    code: str
    wanted: str
    remedy: str
    offset: int = 0
    is_choice: bool = False


@dataclass(frozen=True, slots=True)
class _Range:
    least: float
    most: float
    wanted: str
    remedy: str

    def takes(self, number: float) -> bool:
        return self.least <= number <= self.most


_COUNT: Final = _Range(1, math.inf, "a whole number above 0", "write digits only")
_RANGES: Final = {
    "--port": _Range(1, 2**_BITS_OF_PORT - 1, "a port from 1 to 65535", "such as 8000"),
    "--gpu-memory-utilization": _Range(
        math.ulp(0.0), 1, "a share above 0, at most 1", "write 0.9 for 90 %"
    ),
    "--max-num-seqs": _COUNT,
    "--max-num-batched-tokens": _COUNT,
    "--max-model-len": _COUNT,
    "--tensor-parallel-size": _COUNT,
    "--pipeline-parallel-size": _COUNT,
    "--data-parallel-size": _COUNT,
}


def refusal(known: VllmFlag, flag: Flag) -> Refused | None:
    """Why vLLM refuses the values of a flag; None where it takes them."""
    for value in flag.values:
        if is_unfilled(value) or (value in _UNSET and known.name not in _RANGES):
            continue
        if refused := _of_choice(known, value) or _of_kind(known, value):
            return refused
    return None


def is_unfilled(value: str) -> bool:
    """Whether something else should stand in the place of a value, which is an error already."""
    return _UNFILLED.fullmatch(value) is not None


def _of_choice(known: VllmFlag, value: str) -> Refused | None:
    compared = value.lower().replace("-", "_") if known.any_case else value
    if not known.choices or compared in known.choices:
        return None
    listed = ", ".join(known.choices) if len(known.choices) <= _LISTED else "see its --help"
    remedy = did_you_mean(value, known.choices, listed)
    return Refused("not-a-choice", "one of vLLM's choices", remedy, is_choice=True)


def _of_kind(known: VllmFlag, value: str) -> Refused | None:
    match known.kind:
        case Kind.JSON:
            return _of_json(known, value)
        case Kind.JSON_OR_TEXT:
            return _of_json(known, value) if value.lstrip().startswith("{") else None
        case Kind.TEXT:
            return None
        case _:
            return _of_number(known, value)


def _of_number(known: VllmFlag, value: str) -> Refused | None:
    number = _number(known.kind, value)
    if number is None and known.kind is Kind.SIZE and value in _LEFT_TO_VLLM:
        return None
    limits = _RANGES.get(known.name)
    if number is None:
        return _no_number(known.kind, limits)
    if limits is None or limits.takes(number) or (value == "-1" and known.kind is Kind.SIZE):
        return None
    return Refused("out-of-range", limits.wanted, limits.remedy)


def _number(kind: Kind, value: str) -> float | None:
    if kind is Kind.SIZE:
        return read_number(value)
    if kind is Kind.INTEGER:
        return float(value) if _INTEGER.fullmatch(value) else None
    try:
        return float(value)
    except ValueError:
        return None


def _no_number(kind: Kind, limits: _Range | None) -> Refused:
    wanted = {
        Kind.SIZE: "a number of tokens or bytes, such as 262144, 256K or 32k",
        Kind.INTEGER: "a whole number",
    }.get(kind, "a number")
    if limits and kind is not Kind.SIZE:
        wanted = limits.wanted
    return Refused("not-a-number", wanted, "write digits, in decimal")


def _of_json(known: VllmFlag, value: str) -> Refused | None:
    try:
        document = json.loads(value)
    except json.JSONDecodeError as error:
        reason = error.msg[0].lower() + error.msg[1:]
        return Refused("not-json", f"JSON ({reason})", _json_remedy(value), error.pos)
    except (ValueError, RecursionError):
        return Refused("not-json", "JSON that is not nested so deep", "write less deep JSON")
    if isinstance(document, dict) or not _OBJECT.fullmatch(known.name):
        return None
    return Refused("not-json", "a JSON object", "write {...}")


def _json_remedy(value: str) -> str:
    if value.startswith(("{{", "[{{")):
        return "write single braces: those of a default are not doubled"
    if '"' not in value:
        return "write it in single quotes, and its names and texts in double quotes"
    return "mend the JSON, and write it in single quotes"
