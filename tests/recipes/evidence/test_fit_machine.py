from pathlib import Path
from typing import Final

import pytest

from proxy.data_files import recipes_folder
from proxy.recipes.evidence import hardware
from proxy.recipes.evidence.fit_finding import Finding, Kind
from proxy.recipes.evidence.fit_machine import machine_findings
from proxy.recipes.evidence.hardware import read_hardware
from proxy.recipes.evidence.subject import Subject, of_the_table
from proxy.recipes.reading import read_recipe
from tests.recipes.made import recipe_of

FOLDER = recipes_folder()
TABLE = read_hardware(FOLDER / hardware.FILE, {"dgx-spark"})
FP8: Final = "Qwen/Qwen3.6-35B-A3B-FP8"
SAYS: Final = (
    "(vLLM 0.32: FP8 is computed on NVIDIA GPUs from compute capability 8.9 on; from 7.5 on such"
    " models run with FP8 weights only)"
)


def a_gpu(
    capability: str | None = "12.0", memory_gb: float | None = 96.0, gpus: int = 1
) -> Subject:
    return Subject("a GPU", gpus, is_here=True, capability=capability, memory_gb=memory_gb)


def found(folder: Path, flags: str, subject: Subject) -> list[Finding]:
    text = f'recipe_version: "1"\nname: n\ncontainer: c\ncommand: vllm serve {flags}\n'
    return list(machine_findings(recipe_of(folder, text), subject, TABLE))


@pytest.mark.parametrize(
    ("capability", "kind", "text"),
    [
        ("12.1", Kind.DOCUMENTED, f"compute capability 12.1 computes in FP8 {SAYS}"),
        ("8.9", Kind.DOCUMENTED, f"compute capability 8.9 computes in FP8 {SAYS}"),
        (
            "8.6",
            Kind.DOCUMENTED,
            (
                "compute capability 8.6 holds only the weights in FP8, so that other kernels run"
                f" {SAYS}"
            ),
        ),
        ("7.0", Kind.CONFLICT, f"compute capability 7.0 is too low for FP8 {SAYS}"),
        (
            None,
            Kind.UNKNOWN,
            "FP8: the GPU's compute capability is not known, so it is not judged",
        ),
    ],
)
def test_number_format_is_held_against_the_compute_capability(
    tmp_path: Path, capability: str | None, kind: Kind, text: str
) -> None:
    first = found(tmp_path, FP8, a_gpu(capability))[0]

    assert (first.kind, first.text) == (kind, text)


def test_ten_is_more_than_nine(tmp_path: Path) -> None:
    assert found(tmp_path, FP8, a_gpu("10.0"))[0].kind is Kind.DOCUMENTED


def test_format_without_a_documented_need_is_unknown(tmp_path: Path) -> None:
    first = found(tmp_path, "a/b-NVFP4", a_gpu())[0]

    assert first.kind is Kind.UNKNOWN
    assert first.text.startswith("NVFP4: no public statement was found")


def test_format_that_is_not_in_the_table_is_unknown(tmp_path: Path) -> None:
    first = found(tmp_path, "a/b-AWQ", a_gpu())[0]

    assert first == Finding(Kind.UNKNOWN, "a/b-AWQ: its number format is not in the table")


def test_statements_on_the_machine_are_told_with_their_address(tmp_path: Path) -> None:
    findings = found(tmp_path, FP8, of_the_table("h200", TABLE))

    assert any("NVIDIA serves" in each.text and "dynamo" in each.source for each in findings)


def test_format_that_is_said_not_to_run_is_a_conflict(tmp_path: Path) -> None:
    findings = found(tmp_path, FP8, of_the_table("apple-silicon", TABLE))

    assert [each.kind for each in findings] == [Kind.UNKNOWN, Kind.CONFLICT, Kind.UNKNOWN]


@pytest.mark.parametrize(
    ("flags", "memory_gb", "kind", "text"),
    [
        pytest.param(
            "--gpu-memory-utilization 0.7",
            128.0,
            Kind.DERIVED,
            "leave 54.6 GB of the recipe's share of its memory, 89.6 GB (0.7 of 128.0 GB); whether"
            " that is enough, vLLM says at its start",
            id="fits",
        ),
        pytest.param(
            "--gpu-memory-utilization 0.7",
            48.0,
            Kind.CONFLICT,
            "are more than the recipe's share of its memory, 33.6 GB (0.7 of 48.0 GB)",
            id="share too small",
        ),
        pytest.param(
            "--gpu-memory-utilization 0.7",
            34.2,
            Kind.CONFLICT,
            "are more than its memory of 34.2 GB",
            id="memory too small",
        ),
        pytest.param(
            "",
            36.0,
            Kind.DERIVED,
            "leave 1.0 GB of the recipe's share of its memory, 36.0 GB (1 of 36.0 GB); whether"
            " that is enough, vLLM says at its start",
            id="share left to vLLM",
        ),
    ],
)
def test_weights_are_held_against_the_memory(
    tmp_path: Path, flags: str, memory_gb: float, kind: Kind, text: str
) -> None:
    last = found(tmp_path, f"{FP8} {flags}", a_gpu(memory_gb=memory_gb))[-1]

    size = (
        "weights of 35.0 GB (derived: 35 billion parameters, a byte each;"
        " what is not FP8 takes more) "
    )
    assert (last.kind, last.text) == (kind, size + text)
    assert last.source.startswith("https://")


def test_size_that_a_document_gives_is_said_to_be_documented() -> None:
    recipe = read_recipe(FOLDER / "qwen3.6-35b-a3b-nvfp4-mtp3.yaml")

    *_, last = machine_findings(recipe, a_gpu(), TABLE)

    assert last.text.startswith("weights of 23.4 GB (documented: ")
    assert "leave 15.0 GB" in last.text


def test_weights_are_shared_by_the_gpus_that_the_recipe_asks_for(tmp_path: Path) -> None:
    flags = f"{FP8} -tp 2 -pp 2"

    findings = found(tmp_path, flags, a_gpu(memory_gb=24.0, gpus=4))

    assert findings[-1].text.startswith("weights of 8.8 GB on each of 4 GPUs ")
    assert Kind.CONFLICT not in {each.kind for each in findings}


def test_more_gpus_than_there_are_is_a_conflict(tmp_path: Path) -> None:
    findings = found(tmp_path, f"{FP8} -tp 2", a_gpu())

    text = "the recipe asks for 2 GPUs, and this machine has 1"
    assert Finding(Kind.CONFLICT, text) in findings


def test_drafter_is_said_not_to_be_counted() -> None:
    recipe = read_recipe(FOLDER / "qwen3.6-35b-a3b-fp8-dflash.yaml")

    *_, last = machine_findings(recipe, a_gpu(), TABLE)

    assert ", the drafter's weights not counted;" in last.text


@pytest.mark.parametrize(
    ("model", "subject", "text"),
    [
        pytest.param(
            "a/b-FP8",
            a_gpu(),
            "a/b-FP8: the size of its weights is not in the table; memory is not judged",
            id="unknown checkpoint",
        ),
        pytest.param(
            FP8,
            a_gpu(memory_gb=None),
            "no memory of a GPU is known; memory is not judged",
            id="unknown memory",
        ),
    ],
)
def test_memory_is_not_guessed(tmp_path: Path, model: str, subject: Subject, text: str) -> None:
    assert found(tmp_path, model, subject)[-1] == Finding(Kind.UNKNOWN, text)
