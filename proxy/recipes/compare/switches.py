"""A recipe as a mapping of switches: one comparable thing per name, whatever the spelling.

Flags have their canonical names, variables their own; what stands beside the command (model,
container, ...) and the parts of the speculative configuration have names of one or two words.
"""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from proxy.errors import Place
from proxy.recipes.compare.base_model import checkpoint_of
from proxy.recipes.compare.spellings import flag_of_variable, spelled_flags
from proxy.recipes.compare.switch_groups import Group, group_of_flag, group_of_variable
from proxy.recipes.compare.switch_values import SPECULATION_METHOD, Meaning, json_text, meaning_of
from proxy.recipes.parsing.value_origin import Origins
from proxy.recipes.recipe import Flag, Recipe
from proxy.yaml_places import Places

MODEL: Final = "model"
CONTAINER: Final = "container"
_REVISION: Final = "revision"
SPECULATION_TOKENS: Final = "speculation tokens"
SPECULATION_DRAFTER: Final = "speculation drafter"
_SPECULATION: Final = "--speculative-config"
# Spellings of keys inside it (vLLM's EngineArgs.create_speculative_config).
_SPECULATION_KEYS: Final = {
    "--spec-method": "method",
    "--spec-model": "model",
    "--spec-tokens": "num_speculative_tokens",
}
_SPECULATION_NAMES: Final = {
    "method": SPECULATION_METHOD,
    "num_speculative_tokens": SPECULATION_TOKENS,
    "model": SPECULATION_DRAFTER,
}
# They have switches of their own.
_ELSEWHERE: Final = frozenset(
    {"--model", "--model-path", "--revision", _SPECULATION, *_SPECULATION_KEYS}
)
_BUILD_KEYS: Final = frozenset({"build_args", "builder", "builder_config", "containers"})
_ORDER: Final = tuple(Group)


@dataclass(frozen=True, slots=True)
class Switch:
    """One switch as a recipe sets it. `value` is for reading, `meaning` for comparing.

    A secret's value stands here as it is; whoever shows it masks it.
    """

    name: str
    group: Group
    value: str
    meaning: Meaning
    place: Place


def loaded_model(recipe: Recipe) -> str:
    """What is loaded: what the command names, unless only a shell could tell what that is."""
    named = recipe.command.model
    return recipe.model if named is None or "$" in named else named


def switches_of(
    recipe: Recipe, places: Places | None = None, origins: Origins | None = None
) -> Mapping[str, Switch]:
    """The switches by name, in the order of their groups.

    `places` are those of the recipe's file; without, what is no flag has the file for its place.
    `origins` tell where the values of flags are written; without, a flag has its own place.
    """
    file = Place(str(recipe.file))
    reader = _Reader(recipe, places or Places(file), origins or Origins({}))
    found = sorted(reader.switches(), key=lambda switch: _ORDER.index(switch.group))
    return {switch.name: switch for switch in found}


def _variable(name: str) -> str:
    """Its own name, but of one in lower case, which could be that of another switch."""
    return f"variable {name}" if name.islower() else name


@dataclass(frozen=True, slots=True)
class _Reader:
    recipe: Recipe
    places: Places
    origins: Origins

    def switches(self) -> Iterator[Switch]:
        yield from self._beside_the_command()
        spelled = {each.flag.name: each for each in spelled_flags(self.recipe.command.flags)}
        flags = {name: each.flag for name, each in spelled.items()}
        variables = [self._of_variable(*each, flags) for each in self.recipe.environment.items()]
        yield from variables
        elsewhere = _ELSEWHERE | {variable.name for variable in variables}
        for each in spelled.values():
            if each.flag.name not in elsewhere:
                yield self._flag(each.flag, each.written)
        yield from self._speculation()

    def _of_variable(self, name: str, value: str, flags: Mapping[str, Flag]) -> Switch:
        place = self.places.value(("env", name))
        if flag := flag_of_variable(name, flags):
            group = group_of_flag(flag)
            return Switch(flag, group, value, meaning_of(flag, group, value), place)
        group = group_of_variable(name)
        return Switch(_variable(name), group, value, meaning_of(name, group, value), place)

    def _beside_the_command(self) -> Iterator[Switch]:
        recipe, command = self.recipe, self.recipe.command
        program = (*command.before, *(() if command.is_vllm else command.program))
        at_least = f"at least {recipe.min_nodes}" if (recipe.min_nodes or 1) > 1 else None
        stray = (word.text for word in command.stray)
        yield self._model()
        yield from self._revision()
        yield from self._named(CONTAINER, Group.BUILD, "container", recipe.container)
        yield from self._named("runtime", Group.BUILD, "runtime", recipe.runtime)
        version = recipe.runtime_version
        yield from self._named("runtime version", Group.BUILD, "runtime_version", version)
        for key, value in recipe.beside.items():
            group = Group.BUILD if key in _BUILD_KEYS else Group.OTHER
            yield from self._named(key.replace("_", " "), group, key, value)
        yield from self._named("program", Group.BUILD, "command", shlex.join(program))
        yield from self._named("mods", Group.BUILD, "mods", ", ".join(recipe.mods))
        yield from self._named("hooks", Group.BUILD, "pre_exec", ", ".join(recipe.hooks))
        yield from self._named("nodes", Group.PARALLELISM, "min_nodes", at_least)
        yield from self._named("stray words", Group.OTHER, "command", shlex.join(stray))

    def _model(self) -> Switch:
        model = loaded_model(self.recipe)
        named = (word.place for word in self.recipe.command.words if word.text == model)
        place = next(named, self.places.value(("model",)))
        meaning = checkpoint_of(model).repository
        return Switch(MODEL, Group.CHECKPOINT, model, meaning, place)

    def _revision(self) -> Iterator[Switch]:
        """What a flag says, else the recipe's key, else the copy that is loaded."""
        if flag := self.recipe.command.flags.get("--revision"):
            yield replace(self._flag(flag), name=_REVISION)
            return
        copied = checkpoint_of(loaded_model(self.recipe)).revision
        revision = self.recipe.model_revision or copied
        yield from self._named(_REVISION, Group.CHECKPOINT, "model_revision", revision)

    def _named(self, name: str, group: Group, key: str, value: str | None) -> Iterator[Switch]:
        if value:
            meaning = meaning_of(name, group, value)
            yield Switch(name, group, value, meaning, self.places.value((key,)))

    def _flag(self, flag: Flag, written: Flag | None = None) -> Switch:
        group = group_of_flag(flag.name)
        meaning = meaning_of(flag.name, group, flag.shown)
        place = self.origins.of_value(written or flag).place
        return Switch(flag.name, group, flag.shown, meaning, place)

    def _speculation(self) -> Iterator[Switch]:
        flags = self.recipe.command.flags
        whole = flags.get(_SPECULATION)
        options = self._speculation_options()
        if whole and not options:
            yield self._flag(whole)
        for key, value in options.items():
            by_flag = (flags.get(flag) for flag, own in _SPECULATION_KEYS.items() if own == key)
            flag = next(filter(None, by_flag), whole)
            name = _SPECULATION_NAMES.get(key, f"speculation {key}")
            text = json_text(value)
            meaning = meaning_of(name, Group.SPECULATION, text)
            place = self.origins.of_value(flag).place if flag else self.places.root
            yield Switch(name, Group.SPECULATION, text, meaning, place)

    def _speculation_options(self) -> dict[str, Any]:
        speculation = self.recipe.engine.speculation
        written = speculation.options if speculation else {}
        options = {key.replace("-", "_"): value for key, value in written.items()}
        for name, key in _SPECULATION_KEYS.items():
            flag = self.recipe.command.flags.get(name)
            if flag and flag.value is not None:
                options[key] = flag.value
        first = {key: options.pop(key) for key in _SPECULATION_NAMES if key in options}
        return first | options
