"""The table of machines: what is known of the recipes on them, and from where."""

import fnmatch
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Self, TypeAlias

from pydantic import Field, model_validator

from proxy.errors import Problem, RecipeError
from proxy.recipes.compare.switches import loaded_model
from proxy.recipes.evidence.table import Row, read_table
from proxy.recipes.recipe import Recipe

FILE: Final = "hardware.yaml"

Capability: TypeAlias = Annotated[str, Field(pattern=r"^[0-9]{1,2}\.[0-9]$")]
_Positive: TypeAlias = Annotated[float, Field(gt=0)]


class Standing(StrEnum):
    """What is known of the recipes on a machine; recipes/hardware.yaml explains the words."""

    MEASURED = "measured"
    DOCUMENTED = "documented"
    UNTESTED = "untested"


class Sourced(Row):
    """A public statement and its address; empty where nothing was found."""

    says: str
    address: str = ""


class Statement(Sourced):
    """What a public document says of a number format on a machine."""

    about: str
    supported: bool = True


class Format(Sourced):
    """A number format, how recipes of it are recognised, and the compute capability it needs.

    Between `weight_only_from` and `compute_capability` only the weights are held in it.
    """

    models: tuple[str, ...]
    quantization: tuple[str, ...]
    compute_capability: Capability | None = None
    weight_only_from: Capability | None = None

    def holds_for(self, recipe: Recipe) -> bool:
        """Whether a recipe serves a checkpoint of this format."""
        model = loaded_model(recipe)
        by_name = any(fnmatch.fnmatchcase(model, pattern) for pattern in self.models)
        return by_name or recipe.engine.quantization in self.quantization


class Checkpoint(Sourced):
    """How large a checkpoint's weights are, in GB: documented, or parameters times their bytes."""

    weights_gb: _Positive | None = None
    parameters_billion: _Positive | None = None
    bytes_per_parameter: _Positive | None = None

    @model_validator(mode="after")
    def _has_a_size(self) -> Self:
        factors = (self.parameters_billion, self.bytes_per_parameter)
        if (self.weights_gb is None) == (None in factors):
            raise ValueError("give `weights_gb`, or parameters_billion and bytes_per_parameter")
        return self

    @property
    def is_derived(self) -> bool:
        """Whether the size is parameters times bytes and not what a document says."""
        return self.weights_gb is None

    @property
    def size_gb(self) -> float:
        """The weights in GB (10^9 bytes)."""
        if self.weights_gb is not None:
            return self.weights_gb
        return (self.parameters_billion or 0) * (self.bytes_per_parameter or 0)


class Machine(Row):
    """One kind of machine. `gpus` are patterns for the names that nvidia-smi reports.

    Memory in GB (10^9 bytes), bandwidth in GB/s; None where no source was found.
    """

    name: str
    gpus: tuple[str, ...]
    compute_capability: Capability | None = None
    memory_gb: _Positive | None = None
    unified_memory: bool = False
    bandwidth_gb_per_second: _Positive | None = None
    status: Standing
    sources: tuple[Sourced, ...]
    statements: tuple[Statement, ...]

    @model_validator(mode="after")
    def _stands_as_it_says(self) -> Self:
        if (self.status is Standing.DOCUMENTED) != bool(self.statements):
            raise ValueError("`documented` has statements, `measured` and `untested` have none")
        return self

    def has_gpu(self, name: str) -> bool:
        """Whether a GPU of this name is this kind of machine."""
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.gpus)


class Hardware(Row):
    """The whole table: number formats, checkpoints and machines by name."""

    formats: Mapping[str, Format]
    checkpoints: Mapping[str, Checkpoint]
    machines: Mapping[str, Machine]

    def machine_of(self, gpu: str) -> str | None:
        """The machine that a GPU's name belongs to."""
        return next((key for key, row in self.machines.items() if row.has_gpu(gpu)), None)

    def format_of(self, recipe: Recipe) -> str | None:
        """The number format that a recipe serves, as far as this table knows it."""
        return next((key for key, row in self.formats.items() if row.holds_for(recipe)), None)


def read_hardware(path: Path, measured_on: Collection[str]) -> Hardware:
    """Read the table. `measured_on` are the machines of the results on record.

    Raises `RecipeError` with every problem in it.
    """
    hardware, places = read_table(path, Hardware)
    problems = [
        Problem(places.key(("machines", name)), message, remedy)
        for name, message, remedy in _mismatches(hardware, measured_on)
    ]
    if problems:
        raise RecipeError(problems)
    return hardware


def _mismatches(hardware: Hardware, measured_on: Collection[str]) -> Iterator[tuple[str, str, str]]:
    for name, machine in hardware.machines.items():
        is_measured = machine.status is Standing.MEASURED
        if is_measured and name not in measured_on:
            yield name, f"no result was measured on `{name}`", "change its status"
        if not is_measured and name in measured_on:
            yield name, f"results were measured on `{name}`", "write `status: measured`"
        for statement in machine.statements:
            if statement.about not in hardware.formats:
                message = f"`{name}` speaks of `{statement.about}`, which is no format here"
                yield name, message, f"one of {', '.join(hardware.formats)}"
    for name in measured_on:
        if name not in hardware.machines:
            yield name, f"results name the machine `{name}`, which is not here", "add it"
