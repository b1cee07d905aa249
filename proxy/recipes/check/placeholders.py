"""Braces in a recipe's command: placeholders, JSON, and the two ways to tell them apart."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from proxy.errors import Place
from proxy.nearest import nearest
from proxy.recipes.check.finding import Finding, Severity
from proxy.recipes.check.subject import Subject
from proxy.recipes.parsing.arguments import COMMAND
from proxy.recipes.parsing.braces import doubles_braces, placeholders
from proxy.recipes.recipe import Version

_BRACE: Final = re.compile(r"\{\{|\}\}|\$?\{([A-Za-z_][A-Za-z0-9_]*)\}|[{}]")
_SINGLE: Final = frozenset("{}")
# The begin of a field of `str.format`: what follows the name says how its value is written.
_FIELD: Final = re.compile(r"\{([^{}.\[!:]+)(?=[.\[!:}])[^{}]{0,40}\}?")
_MODEL: Final = "model"
_SHOWN_CHARACTERS: Final = 60
# sparkrun itself looks at these, whether the command names them or not.
_READ_BY_RUNNER: Final = frozenset(
    {
        *("tensor_parallel", "pipeline_parallel", "data_parallel", "port", "host"),
        *("max_model_len", "gpu_memory_utilization", "served_model_name"),
    }
)


def check_placeholders(subject: Subject) -> Iterator[Finding]:
    """Names without values, values without a place, and braces that a launcher stumbles over."""
    braces = _Braces(subject)
    yield from braces.unknown_names()
    yield from braces.single_braces()
    yield from braces.fields()
    yield from braces.doubled_braces()
    yield from _unused_defaults(subject)


@dataclass(frozen=True, slots=True)
class _Part:
    """The text of one word as it stands in the command, quotes included."""

    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class _Braces:
    subject: Subject

    def unknown_names(self) -> Iterator[Finding]:
        known = {*self.subject.read.values, *self._own_model()}
        is_first = self.subject.document.version is Version.SPARK_VLLM_DOCKER
        for part in self._parts():
            for found in _BRACE.finditer(part.text):
                name = found[1]
                if name is None or (found[0].startswith("$") and not is_first):
                    continue
                place = self._place(part.offset + found.start())
                if name not in known:
                    yield self._unknown(name, place)
                elif is_first and name == _MODEL and not self._has_default(name):
                    message = "`{model}` has no default, and run-recipe stops here with a KeyError"
                    yield Finding(
                        Severity.WARNING,
                        "unknown-placeholder",
                        place,
                        message,
                        "write the model out, or add `model` to `defaults`",
                    )

    def single_braces(self) -> Iterator[Finding]:
        """Literal braces that are not doubled, in version 1 or beside doubled ones."""
        is_doubled = doubles_braces(self.subject.read.text)
        is_first = self.subject.document.version is Version.SPARK_VLLM_DOCKER
        if not is_first and not is_doubled:
            return
        for part, offset in self._lone_braces():
            place = self._place(part.offset + offset)
            if self._field(part, offset) is None:
                yield _mixed(place) if is_doubled else _single(place)

    def fields(self) -> Iterator[Finding]:
        """Known names in braces that are no placeholders, since they are not all there is."""
        is_first = self.subject.document.version is Version.SPARK_VLLM_DOCKER
        for part, offset in self._lone_braces():
            if field := self._field(part, offset):
                shown = field[0][:_SHOWN_CHARACTERS]
                elsewhere = "; run-recipe would fill this in" if is_first else ""
                yield Finding(
                    Severity.ERROR,
                    "not-a-placeholder",
                    self._place(part.offset + offset),
                    f"`{shown}` stays as it stands, since a placeholder is a name of letters, "
                    f"digits and `_` in braces, and no more{elsewhere}",
                    "write `{name}`, and the value in `defaults` as it shall stand here",
                )

    def _lone_braces(self) -> Iterator[tuple[_Part, int]]:
        """The first of each word that is neither doubled nor part of a placeholder."""
        for part in self._parts():
            offset = _first_single(part.text)
            if offset is not None:
                yield part, offset

    def _field(self, part: _Part, offset: int) -> re.Match[str] | None:
        """The field of `str.format` that begins there, where its name is known."""
        found = _FIELD.match(part.text, offset)
        known = {*self.subject.read.values, *self.subject.document.mapping("defaults")}
        return found if found and found[1] in known else None

    def doubled_braces(self) -> Iterator[Finding]:
        if self.subject.document.version is Version.SPARK_VLLM_DOCKER:
            return
        for part in self._parts():
            offset = part.text.find("{{")
            if offset >= 0:
                yield Finding(
                    Severity.WARNING,
                    "doubled-braces",
                    self._place(part.offset + offset),
                    "doubled braces in version 2: older versions of sparkrun leave them doubled",
                    "put the JSON into a default and write '{name}' here",
                )

    def _unknown(self, name: str, place: Place) -> Finding:
        defaults = self.subject.document.mapping("defaults")
        near = nearest(name, defaults)
        remedy = f"did you mean `{{{near}}}`?" if near else f"add `{name}` to `defaults`"
        message = f"the placeholder `{{{name[:60]}}}` has no value"
        return Finding(Severity.ERROR, "unknown-placeholder", place, message, remedy)

    def _own_model(self) -> tuple[str, ...]:
        """`{model}` is filled in wherever the key `model` is."""
        return (_MODEL,) if self.subject.document.text(_MODEL) else ()

    def _has_default(self, name: str) -> bool:
        return name in self.subject.document.mapping("defaults")

    def _parts(self) -> Iterator[_Part]:
        read = self.subject.read
        offsets = [word.offset for word in read.template]
        end = min(
            (
                command[0].offset
                for command in read.script.commands
                if command[0].offset > offsets[-1]
            ),
            default=len(read.text),
        )
        for begin, following in pairwise([*offsets, end]):
            yield _Part(read.text[begin:following], begin)

    def _place(self, offset: int) -> Place:
        return self.subject.document.places.inside(COMMAND, self.subject.read.text, offset)


def _first_single(text: str) -> int | None:
    return next((each.start() for each in _BRACE.finditer(text) if each[0] in _SINGLE), None)


def _single(place: Place) -> Finding:
    return Finding(
        Severity.WARNING,
        "single-brace",
        place,
        "a single brace in version 1: run-recipe stops here with an error (sparkrun and "
        "Sluicegate read it)",
        "double every brace that is no placeholder: `{{` and `}}`",
    )


def _mixed(place: Place) -> Finding:
    return Finding(
        Severity.ERROR,
        "mixed-braces",
        place,
        "a single brace, while other JSON in this command has doubled ones",
        "double every brace that is no placeholder, or none",
    )


def _unused_defaults(subject: Subject) -> Iterator[Finding]:
    defaults = subject.document.mapping("defaults")
    texts = [word.text for word in (*subject.read.before, *subject.read.template)]
    texts += [value for value in defaults.values() if isinstance(value, str)]
    used = {name for text in texts for name in placeholders(text)}
    if subject.document.version is Version.SPARKRUN:
        used |= _READ_BY_RUNNER
    for name in defaults:
        if name not in used:
            shown = name[:_SHOWN_CHARACTERS]
            remedy = f"write `{{{shown}}}` where it belongs, or remove it"
            if not placeholders(f"{{{name}}}"):
                remedy = "give it a name of letters, digits and `_`, or remove it"
            yield Finding(
                Severity.WARNING,
                "unused-default",
                subject.document.places.key(("defaults", name)),
                f"`{shown}` fills no placeholder of the command: to change it changes nothing",
                remedy,
            )
