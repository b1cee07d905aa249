"""What may be concluded from the results of two recipes, in plain sentences.

The two are called A and B, as in the table of their differences.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from proxy.recipes.compare.base_model import base_model, checkpoint_of
from proxy.recipes.compare.comparability import (
    Choice,
    Comparison,
    Difference,
    Verdict,
    units_of,
)
from proxy.recipes.compare.image import is_fixed_build
from proxy.recipes.compare.switch_groups import Effect, Group
from proxy.recipes.compare.switches import MODEL, loaded_model
from proxy.recipes.recipe import Recipe

_IDENTICAL: Final = (
    "Nothing differs that can move what is measured or promised: results of both show how far"
    " measuring alone scatters."
)


def conclusions(a: Recipe, b: Recipe, comparison: Comparison) -> Iterator[str]:
    """Why the verdict is what it is, and what follows from it; one sentence or two a line."""
    match comparison.verdict:
        case Verdict.IDENTICAL:
            yield _IDENTICAL
        case _ if comparison.is_same_path:
            yield _only_pins(comparison)
        case Verdict.ONE_SWITCH:
            yield _one_switch(comparison)
        case Verdict.LIMITED:
            yield from _limited(a, b, comparison)
        case Verdict.DIFFERENT_MODEL:
            yield _different_model(a, b)
    if comparison.verdict is not Verdict.DIFFERENT_MODEL:
        yield from _pins(comparison)
        yield from _drafts(comparison)
    yield from _builds(a, b, comparison)
    yield from _hooks(a, b)


def _one_switch(comparison: Comparison) -> str:
    (unit,) = comparison.units
    if any(
        each.is_pin and each.name == unit and not each.chosen for each in comparison.differences
    ):
        return (
            f"Only {_named((unit,))} differs, and one side leaves it to the engine: only where"
            " that chose another one can a difference be due to it."
        )
    return (
        f"Only {_named((unit,))} differs: a difference in throughput, TTFR or quality is due to it,"
        " on one machine and with one measuring protocol, where it is larger than the scatter of"
        " repeated runs."
    )


def _limited(a: Recipe, b: Recipe, comparison: Comparison) -> Iterator[str]:
    count = len(comparison.units)
    if count > 1:
        yield (
            f"{count} switches differ together: neither speed nor quality can be laid to one of"
            " them. The results compare two whole recipes."
        )
    if any(each.name == MODEL for each in comparison.differences):
        yield _other_checkpoint(a, b)
    moving = [each for each in comparison.differences if Effect.QUALITY in each.effects]
    if moving:
        yield (
            f"No strict ranking of quality: {_named(units_of(moving))} may move it: each result"
            " shows what its own recipe promises an agent."
        )


def _other_checkpoint(a: Recipe, b: Recipe) -> str:
    first, second = base_model(loaded_model(a)), base_model(loaded_model(b))
    formats = sorted({first.format, second.format} - {""})
    if first.format.lower() == second.format.lower():
        return (
            f"Same base model `{first.name}` from another place: whether the weights are the same,"
            " the names do not tell."
        )
    return (
        f"Same base model `{first.name}`, other quantisation format ({' and '.join(formats)}):"
        " no direct A/B, which needs one checkpoint."
    )


def _different_model(a: Recipe, b: Recipe) -> str:
    first, second = (checkpoint_of(loaded_model(recipe)).repository for recipe in (a, b))
    return (
        f"`{first}` and `{second}` are different models by their names: nothing that is measured"
        " can be laid to a switch."
    )


def _pins(comparison: Comparison) -> Iterator[str]:
    for pin in comparison.differences:
        if pin.chosen:
            yield _known_path(pin, pin.chosen)
    pins = [each for each in comparison.differences if each.is_pin and not each.chosen]
    for side, other in (("A", "B"), ("B", "A")):
        pinned = [each for each in pins if each.is_set_in_a == (side == "A")]
        if pinned:
            yield _pinned(pinned, side, other)
    others = [each for each in comparison.differences if each not in pins and not each.same_path]
    if pins and len(units_of(others)) == 1 and comparison.verdict is Verdict.LIMITED:
        yield (
            f"With the same path on both sides only {_named(units_of(others))} differs: then, and"
            " only then, this is a comparison of one switch."
        )


def _only_pins(comparison: Comparison) -> str:
    is_one = len(comparison.units) == 1
    differing = "The pin is the only difference" if is_one else "Pins are the only differences"
    return (
        f"{differing}, and both run the same path: results of both show how far measuring alone"
        " scatters."
    )


def _known_path(pin: Difference, chosen: Choice) -> str:
    pinned, side, other = (pin.a, "A", "B") if pin.is_set_in_a else (pin.b, "B", "A")
    start = f"{side} pins `{pin.name} {pinned.value if pinned else ''}`"
    seen = f"{other}'s engine was seen to choose"
    implied = ""
    if chosen.is_inferred:
        seen, implied = f"{other}'s engine chose", ", as the source's own ablation implies"
    if pin.same_path:
        return (
            f"{start}, which {seen} by itself{implied}: both run the same path. The pin makes it"
            " reproducible, and is no speed-up of its own."
        )
    return f"{start}; {seen} `{chosen.value}` by itself{implied}: two paths."


def _drafts(comparison: Comparison) -> Iterator[str]:
    drafting = [each for each in comparison.differences if each.group is Group.SPECULATION]
    if drafting:
        yield (
            f"{_named(units_of(drafting))}: drafts are verified, so that in theory no answer"
            " changes. In practice a drafter, its attention path, or the end of the thinking"
            " inside accepted drafts can break tool arguments and strict JSON: measure them on"
            " both sides, not the speed alone."
        )


def _pinned(pins: Sequence[Difference], side: str, other: str) -> str:
    values = ((pin.name, pin.a if pin.is_set_in_a else pin.b) for pin in pins)
    named = [f"`{name} {switch.value}`" for name, switch in values if switch]
    return (
        f"{side} pins {' and '.join(named)}, {other} lets the engine choose. Where the boot log of"
        f" {other} names the same, both run the same path: a pin makes it reproducible, and is no"
        " speed-up of its own."
    )


def _builds(a: Recipe, b: Recipe, comparison: Comparison) -> Iterator[str]:
    builds = [each.name for each in comparison.differences if each.group is Group.BUILD]
    if a.container != b.container:
        yield (
            "Other container: not the same build, so that defaults and kernels may differ without"
            " any switch."
        )
    elif builds:
        yield (
            f"{_named(tuple(builds))} may mean another build, so that defaults and kernels may"
            " differ without any switch."
        )
    elif a.container is None:
        yield "No container is named: that both ran the same build must be seen elsewhere."
    for image in dict.fromkeys((a.container, b.container)):
        if image and not is_fixed_build(image):
            yield (
                f"`{image}` names no fixed build: the same name may hold another vLLM later. Keep"
                " the image's digest with the results."
            )


def _hooks(a: Recipe, b: Recipe) -> Iterator[str]:
    if a.hooks or b.hooks:
        hooks = ", ".join(f"`{hook}`" for hook in dict.fromkeys((*a.hooks, *b.hooks)))
        yield f"{hooks} run commands beside the engine; what they do is not compared."


def _named(units: tuple[str, ...]) -> str:
    return ", ".join(f"`{unit}`" for unit in units)
