"""Overrides of a recipe, `key=value`: they fill placeholders, or set flags of the engine."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from proxy.errors import Place, Problem
from proxy.nearest import did_you_mean
from proxy.recipes.recipe import Argument
from proxy.recipes.vllm.facts import Arity, VllmFacts, VllmFlag

OPTION: Final = "--set"
_MODEL: Final = "model"
_TRUE: Final = frozenset({"true", "True", "on", "yes", "1"})
_FALSE: Final = frozenset({"false", "False", "off", "no", "0"})


@dataclass(frozen=True, slots=True)
class Overrides:
    """What was given by key, in the order in which it was given."""

    values: Mapping[str, str]

    @classmethod
    def of(cls, given: Sequence[str], problems: list[Problem]) -> Self:
        """The last one of a key counts. What is no `key=value` is added to `problems`."""
        values = {}
        for each in given:
            key, equals, value = each.partition("=")
            if equals and key.strip():
                values[key.strip()] = value
            else:
                message = f"`{each}` is no `key=value`"
                problems.append(Problem(Place(OPTION), message, "write --set port=8001"))
        return cls(values)

    def filling(self, placeholders: frozenset[str]) -> dict[str, str]:
        """Those that fill a placeholder of the command."""
        return {key: value for key, value in self.values.items() if key in placeholders}

    def arguments(
        self, placeholders: frozenset[str], facts: VllmFacts, problems: list[Problem]
    ) -> Iterator[Argument]:
        """The rest as flags behind all others, where they count, as vLLM takes the last one."""
        for key, value in self.values.items():
            if key in placeholders:
                continue
            place = place_of(key)
            flag = facts.flag("--" + key.replace("_", "-"))
            if key == _MODEL:
                message = "the model is a word of the command, and no flag"
                problems.append(Problem(place, message, f"write `{{{_MODEL}}}` in its place there"))
                continue
            if flag is None:
                problems.append(_unknown(key, placeholders, facts))
                continue
            try:
                yield from (Argument(text, place) for text in _spelled(flag, value))
            except ValueError as error:
                problems.append(Problem(place, f"`{key}` {error}", "see `vllm serve --help`"))


def place_of(key: str) -> Place:
    """The place of what an override has set."""
    return Place(f"{OPTION} {key}")


def _spelled(flag: VllmFlag, value: str) -> Iterator[str]:
    """Raises `ValueError` with a text that reads on from the key."""
    if flag.arity in {Arity.SWITCH, Arity.FLAG}:
        if value not in _TRUE | _FALSE:
            raise ValueError("must be true or false")
        if value in _TRUE:
            yield flag.name
        elif flag.arity is Arity.SWITCH:
            yield f"--no-{flag.name.removeprefix('--')}"
        else:
            raise ValueError("cannot be switched off")
    elif flag.arity is Arity.MANY:
        words = value.split()
        if not words or any(word.startswith("-") for word in words):
            raise ValueError("must be words with blanks between them")
        yield flag.name
        yield from words
    else:
        # So that a value may begin with a hyphen.
        yield f"{flag.name}={value}"


def _unknown(key: str, placeholders: frozenset[str], facts: VllmFacts) -> Problem:
    flags = (flag.name.removeprefix("--").replace("-", "_") for flag in facts.flags)
    listed = f"placeholders are {', '.join(sorted(placeholders))}" if placeholders else ""
    remedy = did_you_mean(key, [*placeholders, *flags], listed or "see `vllm serve --help`")
    message = (
        f"no placeholder of the command, and no flag of vLLM {facts.version}, is named `{key}`"
    )
    return Problem(place_of(key), message, remedy)
