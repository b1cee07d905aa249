"""The machine that a recipe is held against: the one here, or one of the table."""

from dataclasses import dataclass
from typing import Final

from proxy.errors import Place, Problem, RecipeError
from proxy.recipes.evidence.hardware import Hardware
from proxy.recipes.evidence.local_gpu import LocalMachine

_GB: Final = 1e9


@dataclass(frozen=True, slots=True)
class Subject:
    """One machine: what it is called, its row of the table if it has one, what its GPUs are.

    `memory_gb` is what one GPU can use, in GB (10^9 bytes). `gpus` counts GPUs of that kind; None
    where the table does not say how many a machine has. `is_here`: it was looked at; `trouble`
    says why no GPU was found.
    """

    name: str
    gpus: int | None
    is_here: bool
    row: str | None = None
    capability: str | None = None
    memory_gb: float | None = None
    shares_memory: bool = False
    details: tuple[str, ...] = ()
    trouble: str = ""


def here(found: LocalMachine, hardware: Hardware) -> Subject:
    """The machine that was found; several GPUs of different kinds count as the first of them."""
    if not found.gpus:
        return Subject(name="this machine", gpus=0, is_here=True, trouble=found.trouble)
    first = found.gpus[0]
    shares = first.memory_bytes is None
    others = sorted({gpu.name for gpu in found.gpus} - {first.name})
    details = (
        f"driver {first.driver}" if first.driver else "",
        found.architecture,
        f"beside it {', '.join(others)}, not looked at" if others else "",
    )
    return Subject(
        name=first.name,
        row=hardware.machine_of(first.name),
        capability=first.compute_capability,
        memory_gb=_gb(found.memory_bytes if shares else first.memory_bytes),
        shares_memory=shares,
        gpus=sum(gpu.name == first.name for gpu in found.gpus),
        is_here=True,
        details=tuple(filter(None, details)),
    )


def of_the_table(key: str, hardware: Hardware) -> Subject:
    """A machine as the table has it, with nobody looking at one. Raises `RecipeError`."""
    machine = hardware.machines.get(key)
    if machine is None:
        message = f"there is no machine `{key}` in the table"
        remedy = f"one of {', '.join(hardware.machines)}"
        raise RecipeError([Problem(Place("--machine"), message, remedy)])
    return Subject(
        name=machine.name,
        row=key,
        capability=machine.compute_capability,
        memory_gb=machine.memory_gb,
        shares_memory=machine.unified_memory,
        gpus=None,
        is_here=False,
        details=("as the table has it, not looked at",),
    )


def _gb(size: int | None) -> float | None:
    return None if size is None else size / _GB
