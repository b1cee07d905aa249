import pytest

from proxy.data_files import recipes_folder
from proxy.errors import RecipeError
from proxy.recipes.evidence import hardware
from proxy.recipes.evidence.hardware import read_hardware
from proxy.recipes.evidence.local_gpu import Gpu, LocalMachine
from proxy.recipes.evidence.subject import Subject, here, of_the_table

TABLE = read_hardware(recipes_folder() / hardware.FILE, {"dgx-spark"})
SPARK = Gpu("NVIDIA GB10", "12.1", None, "580.95.05")
CARD = Gpu("NVIDIA L40S", "8.9", 48_000_000_000, "580.95.05")


def test_gpu_without_memory_of_its_own_uses_that_of_the_machine() -> None:
    subject = here(LocalMachine((SPARK,), 128_000_000_000, "aarch64"), TABLE)

    assert subject == Subject(
        name="NVIDIA GB10",
        gpus=1,
        is_here=True,
        row="dgx-spark",
        capability="12.1",
        memory_gb=128.0,
        shares_memory=True,
        details=("driver 580.95.05", "aarch64"),
    )


def test_gpu_with_memory_of_its_own_does_not_count_that_of_the_machine() -> None:
    subject = here(LocalMachine((CARD, CARD), 999_000_000_000, "x86_64"), TABLE)

    assert (subject.memory_gb, subject.shares_memory, subject.gpus) == (48.0, False, 2)


def test_gpus_of_another_kind_are_named_and_not_counted() -> None:
    other = Gpu("NVIDIA T400", "7.5", 4_000_000_000, "580.95.05")

    subject = here(LocalMachine((CARD, other), None, "x86_64"), TABLE)

    assert subject.gpus == 1
    assert "beside it NVIDIA T400, not looked at" in subject.details


def test_gpu_that_the_table_does_not_know_has_no_row() -> None:
    unknown = Gpu("NVIDIA X", "9.9", 1_000_000_000, "")

    subject = here(LocalMachine((unknown,), None, "x86_64"), TABLE)

    assert subject.row is None
    assert subject.details == ("x86_64",)


def test_machine_without_gpu_keeps_the_reason() -> None:
    subject = here(LocalMachine((), 1_000, "x86_64", "no driver"), TABLE)

    assert (subject.gpus, subject.memory_gb, subject.trouble) == (0, None, "no driver")


def test_machine_of_the_table_is_not_looked_at() -> None:
    subject = of_the_table("rtx-5090", TABLE)

    assert not subject.is_here
    assert subject.gpus is None
    assert (subject.row, subject.capability, subject.memory_gb) == ("rtx-5090", "12.0", 32.0)


def test_machine_that_is_not_in_the_table_is_refused_with_those_that_are() -> None:
    with pytest.raises(RecipeError) as caught:
        of_the_table("toaster", TABLE)

    (problem,) = caught.value.problems
    assert str(problem).startswith("--machine: there is no machine `toaster` in the table (one of")
    assert "dgx-spark" in problem.remedy
