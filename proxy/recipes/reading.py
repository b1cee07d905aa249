"""Reads recipe files of both formats into `Recipe`.

Everything that the proxy, the checks and the launcher say of a recipe comes from here. A reading
keeps the document, the split command and the problems, so that `recipe check` sees what a typed
recipe no longer shows.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from proxy.errors import Problem, RecipeError
from proxy.recipes.parsing.arguments import ReadCommand, read_command
from proxy.recipes.parsing.engine_settings import SettingsReader
from proxy.recipes.parsing.keys import KeyReader
from proxy.recipes.parsing.overrides import Overrides
from proxy.recipes.recipe import Command, EngineSettings, Recipe, Version, program_name
from proxy.recipes.vllm.facts import VllmFacts, pinned_facts
from proxy.yaml_places import YamlDocument, read_yaml

HOOKS: Final = ("pre_exec", "post_exec", "post_commands")
BESIDE: Final = (
    *("build_args", "builder", "builder_config", "containers"),
    *("runtime_config", "executor", "executor_config"),
)
_HASH_DIGITS: Final = 12


@dataclass(frozen=True, slots=True)
class Reading:
    """One file as it was read. `recipe` is as much of it as could be understood.

    `command` is None where the file has none that could be split.
    """

    document: YamlDocument
    recipe: Recipe | None
    command: ReadCommand | None
    problems: tuple[Problem, ...]

    def whole(self) -> Recipe:
        """The recipe. Raises `RecipeError` with every problem in it."""
        if self.problems or self.recipe is None:
            raise RecipeError(self.problems)
        return self.recipe


def read_recipe(
    path: Path, overrides: Sequence[str] = (), facts: VllmFacts | None = None
) -> Recipe:
    """Read one recipe; `overrides` are `key=value`, laid over its defaults or its flags.

    Raises `RecipeError` with every problem in it.
    """
    return open_recipe(path, overrides, facts).whole()


def open_recipe(
    path: Path, overrides: Sequence[str] = (), facts: VllmFacts | None = None
) -> Reading:
    """Read one file as far as it can be read; nothing is raised for what is wrong with it."""
    document = read_yaml(path, last_counts=True)
    keys = KeyReader(document.data, document.places, list(document.problems))
    if not isinstance(document.data, dict):
        if not document.problems:
            keys.mapping(())
        return Reading(document, None, None, tuple(keys.problems))
    return _read(path, document, keys, Overrides.of(overrides, keys.problems), facts)


def _read(
    path: Path,
    document: YamlDocument,
    keys: KeyReader,
    overrides: Overrides,
    facts: VllmFacts | None,
) -> Reading:
    version = keys.version()
    environment = keys.texts(("env",))
    defaults = keys.texts(("defaults",))
    command = read_command(keys, version, defaults, overrides, facts or pinned_facts())
    if command is None:
        return Reading(document, None, None, tuple(keys.problems))
    reader = SettingsReader(command.command.flags, environment)
    engine = reader.settings(command.command.model)
    keys.problems.extend(reader.problems)
    parts = _Parts(version, command.values, environment, command.command, engine)
    recipe = _recipe(path, document, keys, parts)
    return Reading(document, recipe, command, tuple(keys.problems))


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a recipe's keys beside these are joined to."""

    version: Version
    defaults: Mapping[str, str]
    environment: Mapping[str, str]
    command: Command
    engine: EngineSettings


def _recipe(path: Path, document: YamlDocument, keys: KeyReader, parts: _Parts) -> Recipe | None:
    top: dict[str, Any] = document.data
    model = keys.text(("model",)) or parts.engine.model
    if model is None:
        keys.add((), "no model is named", "add `model: owner/name`, or name it in the command")
        return None
    solo, cluster = keys.switch(("solo_only",)), keys.switch(("cluster_only",))
    metadata = ("metadata", "description")
    described = keys.text(("description",)) or (keys.has(metadata) and keys.text(metadata))
    return Recipe(
        name=keys.text(("name",)) or path.stem,
        version=parts.version,
        description=described or "",
        model=model,
        model_revision=keys.text(("model_revision",)),
        runtime=keys.text(("runtime",)) or _guessed_runtime(parts.command),
        container=keys.text(("container",)),
        mods=keys.text_list(("mods",)),
        hooks=tuple(name for name in HOOKS if top.get(name)),
        min_nodes=keys.count(("min_nodes",)) or (2 if cluster else None),
        max_nodes=keys.count(("max_nodes",)) or (1 if solo else None),
        defaults=parts.defaults,
        environment=parts.environment,
        command=parts.command,
        engine=parts.engine,
        file=path,
        hash=hashlib.sha256(document.source).hexdigest()[:_HASH_DIGITS],
        runtime_version=keys.text(("runtime_version",)),
        beside={name: text for name in BESIDE if (text := keys.as_json((name,)))},
    )


def _guessed_runtime(command: Command) -> str:
    """By the program that is started."""
    if command.is_vllm:
        return "vllm"
    return program_name(command.program[0]) if command.program else ""
