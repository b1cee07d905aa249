"""What can be said of a recipe on a machine without any measurement: number format and memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from proxy.recipes.compare.switches import loaded_model
from proxy.recipes.evidence.fit_finding import Finding, Kind
from proxy.recipes.evidence.hardware import Checkpoint, Format, Hardware, Machine
from proxy.recipes.evidence.subject import Subject
from proxy.recipes.recipe import Recipe

_ALL: Final = 1.0


def machine_findings(recipe: Recipe, subject: Subject, hardware: Hardware) -> Iterator[Finding]:
    """Findings on the number format, the number of GPUs and the memory."""
    judge = _Judge(recipe, subject, hardware)
    yield from judge.number_format()
    yield from judge.count()
    yield from judge.memory()


@dataclass(frozen=True, slots=True)
class _Judge:
    recipe: Recipe
    subject: Subject
    hardware: Hardware

    def number_format(self) -> Iterator[Finding]:
        name = self.hardware.format_of(self.recipe)
        if name is None:
            model = loaded_model(self.recipe)
            yield Finding(Kind.UNKNOWN, f"{model}: its number format is not in the table")
            return
        kind = self.hardware.formats[name]
        yield _by_capability(name.upper(), kind, self.subject)
        row = self._row()
        for statement in row.statements if row else ():
            if statement.about == name and statement.address != kind.address:
                known = Kind.DOCUMENTED if statement.supported else Kind.CONFLICT
                yield Finding(known, statement.says, statement.address)

    def count(self) -> Iterator[Finding]:
        wanted, there = self._gpus_wanted(), self.subject.gpus
        if there and wanted > there:
            text = f"the recipe asks for {wanted} GPUs, and this machine has {there}"
            yield Finding(Kind.CONFLICT, text)

    def memory(self) -> Iterator[Finding]:
        model = loaded_model(self.recipe)
        checkpoint = self.hardware.checkpoints.get(model)
        if checkpoint is None:
            text = f"{model}: the size of its weights is not in the table; memory is not judged"
            yield Finding(Kind.UNKNOWN, text)
        elif self.subject.memory_gb is None:
            yield Finding(Kind.UNKNOWN, "no memory of a GPU is known; memory is not judged")
        else:
            yield self._weights(checkpoint, self.subject.memory_gb)

    def _weights(self, checkpoint: Checkpoint, memory: float) -> Finding:
        used = self.recipe.engine.gpu_memory_utilization or _ALL
        wanted = self._gpus_wanted()
        weights, share = checkpoint.size_gb / wanted, memory * used
        each = f" on each of {wanted} GPUs" if wanted > 1 else ""
        known = "derived" if checkpoint.is_derived else "documented"
        size = f"weights of {weights:.1f} GB{each} ({known}: {checkpoint.says})"
        of_all = f"{share:.1f} GB ({used:g} of {memory:.1f} GB)"
        if weights > memory:
            text = f"{size} are more than its memory of {memory:.1f} GB"
            return Finding(Kind.CONFLICT, text, checkpoint.address)
        if weights > share:
            text = f"{size} are more than the recipe's share of its memory, {of_all}"
            return Finding(Kind.CONFLICT, text, checkpoint.address)
        text = (
            f"{size} leave {share - weights:.1f} GB of the recipe's share of its memory, {of_all}"
            f"{self._uncounted()}; whether that is enough, vLLM says at its start"
        )
        return Finding(Kind.DERIVED, text, checkpoint.address)

    def _uncounted(self) -> str:
        speculation = self.recipe.engine.speculation
        has_drafter = speculation is not None and speculation.model is not None
        return ", the drafter's weights not counted" if has_drafter else ""

    def _gpus_wanted(self) -> int:
        engine = self.recipe.engine
        return (engine.tensor_parallel or 1) * (engine.pipeline_parallel or 1)

    def _row(self) -> Machine | None:
        key = self.subject.row
        return None if key is None else self.hardware.machines[key]


def _by_capability(name: str, kind: Format, subject: Subject) -> Finding:
    if kind.compute_capability is None:
        return Finding(Kind.UNKNOWN, f"{name}: {kind.says}", kind.address)
    if subject.capability is None:
        text = f"{name}: the GPU's compute capability is not known, so it is not judged"
        return Finding(Kind.UNKNOWN, text)
    has, says = f"compute capability {subject.capability}", f"({kind.says})"
    if _parts(subject.capability) >= _parts(kind.compute_capability):
        return Finding(Kind.DOCUMENTED, f"{has} computes in {name} {says}", kind.address)
    least = kind.weight_only_from
    if least is not None and _parts(subject.capability) >= _parts(least):
        text = f"{has} holds only the weights in {name}, so that other kernels run {says}"
        return Finding(Kind.DOCUMENTED, text, kind.address)
    return Finding(Kind.CONFLICT, f"{has} is too low for {name} {says}", kind.address)


def _parts(capability: str) -> tuple[int, ...]:
    return tuple(int(part) for part in capability.split("."))
