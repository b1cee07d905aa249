"""What the checks of a recipe look at: one reading, and the vLLM that it is held against."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from proxy.errors import Place, Problem
from proxy.recipes.check.finding import Severity
from proxy.recipes.parsing.arguments import ReadCommand
from proxy.recipes.parsing.overrides import Overrides
from proxy.recipes.parsing.value_origin import Origins
from proxy.recipes.reading import Reading
from proxy.recipes.recipe import Flag, Recipe, Version
from proxy.recipes.vllm.build import EngineBuild, build_of
from proxy.recipes.vllm.facts import VllmFacts
from proxy.yaml_places import Places

# Images that hold vLLM as its authors release it. Every other may hold one that knows more.
_PLAIN_IMAGES: Final = frozenset(
    {
        *("vllm-openai", "vllm-node", "vllm-node-tf5", "dgx-vllm-eugr-nightly"),
        *("dgx-vllm-eugr-nightly-tf5",),
    }
)


@dataclass(frozen=True, slots=True)
class Document:
    """A file's top mapping, its places, its lines, and the format that it says it has.

    `repeated` are keys that are written twice.
    """

    data: Mapping[str, Any]
    places: Places
    lines: tuple[str, ...]
    version: Version
    repeated: tuple[Problem, ...]

    @classmethod
    def of(cls, reading: Reading) -> Self:
        """An empty one where the file is no mapping."""
        data = reading.document.data
        top = data if isinstance(data, dict) else {}
        is_first = str(top.get("recipe_version")) == str(Version.SPARK_VLLM_DOCKER.value)
        version = Version.SPARK_VLLM_DOCKER if is_first else Version.SPARKRUN
        lines = tuple(reading.document.source.decode("utf-8-sig", "replace").splitlines())
        return cls(top, reading.document.places, lines, version, reading.document.repeated)

    def mapping(self, key: str) -> Mapping[str, Any]:
        found = self.data.get(key)
        return found if isinstance(found, dict) else {}

    def text(self, key: str) -> str | None:
        found = self.data.get(key)
        return found if isinstance(found, str) else None

    def written(self, place: Place, pattern: re.Pattern[str]) -> str | None:
        """What stands in the file from a place on, as far as the pattern reaches."""
        if not 0 < place.line <= len(self.lines):
            return None
        found = pattern.match(self.lines[place.line - 1], place.column - 1)
        return found[0] if found else None

    @property
    def may_know_more(self) -> bool:
        """Whether the recipe runs another build of vLLM than its authors', or patches it."""
        image = (self.text("container") or "").partition("@")[0].rpartition("/")[2]
        is_plain = not image or image.partition(":")[0] in _PLAIN_IMAGES
        is_patched = bool(self.data.get("mods")) or bool(self.data.get("build_args"))
        return not is_plain or is_patched or "runtime_version" in self.data

    @property
    def unknown_is(self) -> Severity:
        """How grave it is that vLLM does not know a name."""
        return Severity.WARNING if self.may_know_more else Severity.ERROR

    def or_newer(self, remedy: str) -> str:
        """The remedy for a name that vLLM does not know."""
        if not self.may_know_more:
            return remedy
        return f"{remedy}; the recipe names a build of its own, which may know it"


@dataclass(frozen=True, slots=True)
class Subject:
    """A recipe whose command could be read. `origins` say where its flags' values stand."""

    document: Document
    read: ReadCommand
    recipe: Recipe
    facts: VllmFacts
    build: EngineBuild
    origins: Origins

    @classmethod
    def of(
        cls, reading: Reading, overrides: Overrides, facts: VllmFacts, installed: str | None
    ) -> Self | None:
        """None where there is no command to look at; `installed` is a vLLM's version."""
        if reading.command is None or reading.recipe is None:
            return None
        document = Document.of(reading)
        build = build_of(document.text("runtime_version"), reading.recipe.container, installed)
        origins = Origins.of(reading.command, document.places, frozenset(overrides.values))
        return cls(document, reading.command, reading.recipe, facts, build, origins)

    def flag(self, name: str) -> Flag | None:
        """The flag that counts of this name."""
        return self.recipe.command.flags.get(name)

    def is_on(self, name: str) -> bool:
        flag = self.flag(name)
        return flag is not None and not flag.negated

    def value_place(self, flag: Flag) -> Place:
        return self.origins.of_value(flag).place
