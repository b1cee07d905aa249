"""All kinds of gates: our own in one visible list, others from installed packages."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pydantic import BaseModel

from proxy.errors import ConfigError, Place, Problem
from proxy.gates import strict_json, tool_calls
from proxy.gates.base import Gate
from proxy.gates.schema import LIGHT

GROUP = "sluicegate.gates"


@dataclass(frozen=True, slots=True)
class GateKind:
    """A gate as a policy names it: its options and how to build it from them.

    `build_light` makes one that gives up after a few milliseconds, for use beside running streams.
    """

    name: str
    options: type[BaseModel]
    build: Callable[[Any], Gate]
    build_light: Callable[[Any], Gate] | None = None


_OWN = (
    GateKind(
        strict_json.NAME,
        strict_json.StrictJsonOptions,
        strict_json.StrictJsonGate,
        partial(strict_json.StrictJsonGate, bounds=LIGHT),
    ),
    GateKind(
        tool_calls.NAME,
        tool_calls.ToolCallsOptions,
        tool_calls.ToolCallsGate,
        partial(tool_calls.ToolCallsGate, bounds=LIGHT),
    ),
)


def gate_kinds(installed: Iterable[EntryPoint] | None = None) -> dict[str, GateKind]:
    """Kinds by name, in the order in which gates judge.

    An installed entry point loads to a `GateKind` of its own name. Raises `ConfigError` with all
    that do not, or that would replace a kind.
    """
    kinds = {kind.name: kind for kind in _OWN}
    problems = []
    for point in entry_points(group=GROUP) if installed is None else installed:
        kind = _load(point)
        if isinstance(kind, str):
            problems.append(Problem(Place(f"entry point {point.name} = {point.value}"), kind))
        elif kind.name in kinds:
            message = f"there is already a gate named {kind.name}"
            problems.append(Problem(Place(f"entry point {point.name} = {point.value}"), message))
        else:
            kinds[kind.name] = kind
    if problems:
        raise ConfigError(problems)
    return kinds


def _load(point: EntryPoint) -> GateKind | str:
    try:
        kind = point.load()
    except (ImportError, AttributeError, SyntaxError, TypeError, ValueError) as error:
        return f"cannot be loaded: {error}"
    if not isinstance(kind, GateKind):
        return "does not load to a GateKind"
    return kind
