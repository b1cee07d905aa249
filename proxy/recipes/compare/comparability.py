"""Which switches differ between two recipes, and what their results may therefore be used for.

The rule is that of a controlled experiment: results of two recipes tell what one switch does when
everything else is the same. Which that is follows from the recipes alone; that both ran on one
machine, with one measuring protocol, is for whoever measures to see to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from proxy.recipes.compare.base_model import base_model
from proxy.recipes.compare.switch_groups import Effect, Group, effects_of
from proxy.recipes.compare.switch_values import SPECULATION_METHOD, meaning_of
from proxy.recipes.compare.switches import MODEL, Switch, loaded_model, switches_of
from proxy.recipes.recipe import Recipe

SPECULATION: Final = "speculation"
_ORDER: Final = tuple(Group)


class Verdict(StrEnum):
    """How far the results of two recipes can be compared."""

    IDENTICAL = "identical"
    ONE_SWITCH = "one switch"
    LIMITED = "limited"
    DIFFERENT_MODEL = "different model"


@dataclass(frozen=True, slots=True)
class Choice:
    """What an engine chose by itself. `is_inferred`: nobody says so of this recipe itself."""

    value: str
    is_inferred: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """One switch that two recipes set differently. None: not set, left to the engine's default.

    `unit` is what it counts as: a new method of speculation brings its tokens, its drafter and its
    options with it, and all of that is one switch. `chosen` is what the engine of the other recipe
    chose where one recipe pins it; None where that is not known.
    """

    name: str
    group: Group
    unit: str
    a: Switch | None
    b: Switch | None
    chosen: Choice | None = None

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What it may move; empty where that is not known, or nothing as both run one path."""
        return () if self.same_path else effects_of(self.name, self.group)

    @property
    def is_pin(self) -> bool:
        """Whether one recipe fixes a kernel's backend that the other lets the engine choose."""
        one_sided = _is_set(self.a) != _is_set(self.b)
        return one_sided and self.group is Group.KERNELS and self.name.endswith("-backend")

    @property
    def same_path(self) -> bool:
        """Whether one recipe pins what the other's engine chose by itself."""
        pinned = self.a if self.is_set_in_a else self.b
        if self.chosen is None or pinned is None:
            return False
        return pinned.meaning == meaning_of(self.name, self.group, self.chosen.value)

    @property
    def is_set_in_a(self) -> bool:
        """Whether A says more than the word for the engine's own choice."""
        return _is_set(self.a)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`differences` are those that count; `uncounted` are addresses, keys and served names."""

    verdict: Verdict
    differences: tuple[Difference, ...]
    uncounted: tuple[Difference, ...]

    @property
    def units(self) -> tuple[str, ...]:
        """What differs, each counted once. A pin of the same path counts only where it is all."""
        others = [each for each in self.differences if not each.same_path]
        return units_of(others or self.differences)

    @property
    def is_same_path(self) -> bool:
        """Whether pins of what the other engine chooses by itself are all that differs."""
        return bool(self.differences) and all(each.same_path for each in self.differences)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the engines of two recipes chose for switches that those leave open, by switch."""

    a: Mapping[str, Choice] = field(default_factory=dict)
    b: Mapping[str, Choice] = field(default_factory=dict)


def compare(a: Recipe, b: Recipe, chosen: Chosen | None = None) -> Comparison:
    """Compare two recipes switch by switch; the order of flags and their spelling do not matter."""
    seen = chosen or Chosen()
    found = [
        replace(each, chosen=_chosen(each, seen))
        for each in _differences(switches_of(a), switches_of(b))
    ]
    counted = tuple(each for each in found if each.group.counts)
    uncounted = tuple(each for each in found if not each.group.counts)
    comparison = Comparison(Verdict.LIMITED, counted, uncounted)
    return replace(comparison, verdict=_verdict(a, b, comparison))


def _chosen(each: Difference, chosen: Chosen) -> Choice | None:
    side = chosen.b if each.is_set_in_a else chosen.a
    return side.get(each.name) if each.is_pin else None


def units_of(differences: Sequence[Difference]) -> tuple[str, ...]:
    """What the differences count as, in their order."""
    return tuple(dict.fromkeys(each.unit for each in differences))


def _differences(a: Mapping[str, Switch], b: Mapping[str, Switch]) -> list[Difference]:
    either = {**b, **a}
    differing = [name for name in {**a, **b} if _meaning(a, name) != _meaning(b, name)]
    is_other_method = SPECULATION_METHOD in differing
    found = [
        Difference(
            name=name,
            group=either[name].group,
            unit=SPECULATION if is_other_method and _is_speculation(name) else name,
            a=a.get(name),
            b=b.get(name),
        )
        for name in differing
    ]
    return sorted(found, key=lambda each: _ORDER.index(each.group))


def _is_speculation(name: str) -> bool:
    return name.startswith(f"{SPECULATION} ")


def _is_set(switch: Switch | None) -> bool:
    return switch is not None and switch.meaning is not None


def _meaning(switches: Mapping[str, Switch], name: str) -> object:
    switch = switches.get(name)
    return None if switch is None else switch.meaning


def _verdict(a: Recipe, b: Recipe, comparison: Comparison) -> Verdict:
    if base_model(loaded_model(a)).name != base_model(loaded_model(b)).name:
        return Verdict.DIFFERENT_MODEL
    if not comparison.differences:
        return Verdict.IDENTICAL
    is_other_checkpoint = any(each.name == MODEL for each in comparison.differences)
    if is_other_checkpoint or len(comparison.units) > 1:
        return Verdict.LIMITED
    return Verdict.ONE_SWITCH
