"""All kinds of gates: our own in one visible list, others from installed packages."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from pydantic import BaseModel

from proxy.errors import ConfigError, Place, Problem
from proxy.gates import abstain_options as abstain
from proxy.gates import length_options as length
from proxy.gates import pattern_options as pattern
from proxy.gates import strict_json, tool_calls
from proxy.gates.base import Gate
from proxy.gates.evidence import options as evidence
from proxy.gates.evidence.sourced import SourcedElsewhere
from proxy.gates.schema import LIGHT

GROUP = "sluicegate.gates"


@dataclass(frozen=True, slots=True)
class LadderKind:
    """A ladder of a gate: the name by which verdicts ask for it, and its key in the gate's block.

    `key` leads from the block to the list of steps. `hints_only`: its faults are hints, so that it
    may neither try again nor keep a reply back. `judge`: the key in the block that says whom the
    step `judge` asks, its member `lane` by name; empty: the ladder has no such step.
    """

    name: str
    key: tuple[str, ...]
    default: tuple[str, ...]
    hints_only: bool = False
    judge: str = ""


ON_FAIL: Final = LadderKind("", ("on_fail",), ("vary", "reask", "reject"))


@dataclass(frozen=True, slots=True)
class GateKind:
    """A gate as a policy names it: its options and how to build it from them.

    `build_light` makes one that gives up after a few milliseconds, for use beside running streams.
    `reads_promise`: whether it looks at what the request promises, its schemas or tools, which is
    checked before. `ladders`: the keys of the gate's block that hold ladders. The first one is also
    that of verdicts that name none. `borrows`: options that are those of another gate of the same
    policy where the block does not have them.
    """

    name: str
    options: type[BaseModel]
    build: Callable[[Any], Gate]
    build_light: Callable[[Any], Gate] | None = None
    ladders: tuple[LadderKind, ...] = (ON_FAIL,)
    borrows: Mapping[str, str] = field(default_factory=dict)
    reads_promise: bool = True


def _evidence_gate(options: evidence.EvidenceOptions) -> Gate:
    from proxy.gates.evidence.gate import EvidenceGate  # noqa: PLC0415 - many patterns to compile

    return EvidenceGate(options)


def _abstain_gate(options: abstain.AbstainOptions) -> Gate:
    from proxy.gates.abstain import AbstainGate  # noqa: PLC0415 - words and stems, for who judges

    return AbstainGate(options)


def _length_gate(options: length.LengthOptions) -> Gate:
    from proxy.gates.length import LengthGate  # noqa: PLC0415 - tables of words and signs

    return LengthGate(options)


def _light_length_gate(options: length.LengthOptions) -> Gate:
    from proxy.gates.length import light_length_gate  # noqa: PLC0415 - the same

    return light_length_gate(options)


def _pattern_gate(options: pattern.PatternOptions) -> Gate:
    from proxy.gates.pattern import PatternGate  # noqa: PLC0415 - many patterns to compile

    return PatternGate(options)


def _light_pattern_gate(options: pattern.PatternOptions) -> Gate:
    from proxy.gates.pattern import LIGHT_BYTES, PatternGate  # noqa: PLC0415 - the same

    return PatternGate(options, LIGHT_BYTES)


def _sourced_elsewhere(
    name: str, options: evidence.EvidenceOptions | abstain.AbstainOptions
) -> Gate:
    return SourcedElsewhere(name, options.sources)


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
    GateKind(
        length.NAME,
        length.LengthOptions,
        _length_gate,
        _light_length_gate,
    ),
    GateKind(
        evidence.NAME,
        evidence.EvidenceOptions,
        _evidence_gate,
        partial(_sourced_elsewhere, evidence.NAME),
        reads_promise=False,
        ladders=(
            LadderKind(evidence.TYPED_LADDER, ("typed", "on_fail"), ("reask", "flag")),
            LadderKind(
                evidence.SOFT_LADDER,
                ("soft", "on_fail"),
                ("deliver",),
                hints_only=True,
                judge="judge",
            ),
        ),
    ),
    GateKind(
        abstain.NAME,
        abstain.AbstainOptions,
        _abstain_gate,
        partial(_sourced_elsewhere, abstain.NAME),
        reads_promise=False,
        ladders=(
            LadderKind(abstain.OVERCONFIDENT, ("on_overconfident",), ("reask", "flag")),
            LadderKind(abstain.NEEDLESS, ("on_needless",), ("flag",)),
        ),
        borrows={"sources": "evidence"},
    ),
    GateKind(
        pattern.NAME,
        pattern.PatternOptions,
        _pattern_gate,
        _light_pattern_gate,
        reads_promise=False,
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
