"""What a recipe lets one expect of a running server, held against what that server shows.

The server shows little: what it does not tell contradicts nothing.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from proxy.recipes.lane.labels import short
from proxy.recipes.recipe import Recipe
from proxy.recipes.vllm.build import Release, build_of

# vLLM's spellings of one format: it writes `fp8` out, or takes the variant its attention needs.
_FP8: Final = frozenset({"fp8", "fp8_e4m3", "fp8_inc", "fp8_ds_mla"})
_AUTO: Final = "auto"
_AS_MODEL: Final = frozenset({_AUTO, "float16", "bfloat16"})
_REPOSITORY: Final = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")


class ShownSwitch(StrEnum):
    """What of a recipe a running server shows; also a metric label."""

    MODEL = "model"
    SERVED_MODEL_NAME = "served_model_name"
    MAX_MODEL_LEN = "max_model_len"
    SPECULATION = "speculation"
    SPECULATIVE_TOKENS = "speculative_tokens"
    KV_CACHE_DTYPE = "kv_cache_dtype"
    PREFIX_CACHING = "prefix_caching"
    GPU_MEMORY_UTILIZATION = "gpu_memory_utilization"
    VLLM_VERSION = "vllm_version"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A switch that the server does not have as the recipe says; all texts short and printable."""

    switch: ShownSwitch
    recipe: str
    server: str
    remedy: str

    @property
    def line(self) -> str:
        """One line for a log."""
        return (
            f"{self.switch} is {self.server} at the server, "
            f"the recipe says {self.recipe} ({self.remedy})"
        )


def contradictions(recipe: Recipe, facts: Mapping[str, str]) -> tuple[Contradiction, ...]:
    """What the facts of an engine start contradict, by the names that its record has for them.

    Of a recipe for another runtime than vLLM only the names of the model are compared.
    """
    comparison = _Comparison(recipe, facts)
    found = [comparison.model(), comparison.served_name()]
    if any("vllm" in word for word in recipe.command.program):
        found += comparison.of_vllm()
    return tuple(each for each in found if each is not None)


@dataclass(frozen=True, slots=True)
class _Comparison:
    recipe: Recipe
    facts: Mapping[str, str]

    def of_vllm(self) -> list[Contradiction | None]:
        """What vLLM's own flags say."""
        return [
            self.max_model_len(),
            self.speculation(),
            self.speculative_tokens(),
            self.kv_cache_dtype(),
            self.prefix_caching(),
            self.gpu_memory_utilization(),
            self.vllm_version(),
        ]

    def model(self) -> Contradiction | None:
        """Of two names of repositories; a folder may hold any model."""
        said, server = self.recipe.engine.model or self.recipe.model, self.facts.get("root", "")
        is_told = _REPOSITORY.fullmatch(said) and _REPOSITORY.fullmatch(server)
        if not is_told or said.casefold() == server.casefold():
            return None
        return _contradiction(ShownSwitch.MODEL, said, server, f"`vllm serve {said}`")

    def served_name(self) -> Contradiction | None:
        names, server = self.recipe.engine.served_names, self.facts.get("model", "")
        if not server or not names or server in names:
            return None
        flag = f"`--served-model-name {names[0]}`"
        return _contradiction(ShownSwitch.SERVED_MODEL_NAME, ", ".join(names), server, flag)

    def max_model_len(self) -> Contradiction | None:
        said = self.recipe.engine.max_model_len
        server = _number(self.facts.get("max_model_len"))
        if said is None or server is None or said == server:
            return None
        flag = f"`--max-model-len {said}`"
        return _contradiction(ShownSwitch.MAX_MODEL_LEN, str(said), f"{server:.0f}", flag)

    def speculation(self) -> Contradiction | None:
        speculation, server = self.recipe.engine.speculation, self.facts.get("speculative")
        if server is None or (server == "True") == (speculation is not None):
            return None
        if speculation is None:
            drafted = self.facts.get("speculative_tokens")
            shown = f"{drafted} draft tokens" if drafted else "on"
            return _contradiction(
                ShownSwitch.SPECULATION, "off", shown, "no `--speculative-config`"
            )
        said = speculation.method or "on"
        flag = f"`--speculative-config` with the method `{said}`"
        return _contradiction(ShownSwitch.SPECULATION, said, "off", flag)

    def speculative_tokens(self) -> Contradiction | None:
        speculation = self.recipe.engine.speculation
        server = _number(self.facts.get("speculative_tokens"))
        if speculation is None or speculation.tokens is None or server is None:
            return None
        if speculation.tokens == server:
            return None
        flag = f"`num_speculative_tokens` {speculation.tokens} in `--speculative-config`"
        said = str(speculation.tokens)
        return _contradiction(ShownSwitch.SPECULATIVE_TOKENS, said, f"{server:.0f}", flag)

    def kv_cache_dtype(self) -> Contradiction | None:
        said, server = self.recipe.engine.kv_cache_dtype, self.facts.get("cache_dtype")
        if said is None or server is None or said in (_AUTO, server):
            return None
        if {said, server} <= _FP8 or {said, server} <= _AS_MODEL:
            return None
        return _contradiction(
            ShownSwitch.KV_CACHE_DTYPE, said, server, f"`--kv-cache-dtype {said}`"
        )

    def prefix_caching(self) -> Contradiction | None:
        said, server = self.recipe.engine.prefix_caching, self.facts.get("enable_prefix_caching")
        if said is None or server not in ("True", "False") or (server == "True") == said:
            return None
        flag = "`--enable-prefix-caching`" if said else "`--no-enable-prefix-caching`"
        shown = {True: "on", False: "off"}
        return _contradiction(ShownSwitch.PREFIX_CACHING, shown[said], shown[not said], flag)

    def gpu_memory_utilization(self) -> Contradiction | None:
        said = self.recipe.engine.gpu_memory_utilization
        server = _number(self.facts.get("gpu_memory_utilization"))
        if said is None or server is None or math.isclose(said, server, abs_tol=1e-4):
            return None
        flag = f"`--gpu-memory-utilization {said:g}`"
        return _contradiction(ShownSwitch.GPU_MEMORY_UTILIZATION, f"{said:g}", f"{server:g}", flag)

    def vllm_version(self) -> Contradiction | None:
        """Of releases; what a build adds to their numbers is not compared."""
        build = build_of(self.recipe.runtime_version, self.recipe.container)
        server = Release.parse(self.facts.get("vllm", ""))
        if build.release is None or server is None or build.release == server:
            return None
        said = str(build.release)
        return _contradiction(ShownSwitch.VLLM_VERSION, said, str(server), f"vLLM {said}")


def _contradiction(switch: ShownSwitch, recipe: str, server: str, wanted: str) -> Contradiction:
    remedy = f"start the engine with {short(wanted)}, or name the recipe that it runs"
    return Contradiction(switch, short(recipe), short(server), remedy)


def _number(text: str | None) -> float | None:
    """A finite number, or None: facts come from an untrusted server."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None
