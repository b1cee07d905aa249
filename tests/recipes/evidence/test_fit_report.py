import json

import pytest

from proxy.data_files import recipes_folder
from proxy.recipes.evidence.evidence import read_evidence
from proxy.recipes.evidence.fit import fit
from proxy.recipes.evidence.fit_report import fit_lines
from proxy.recipes.evidence.local_gpu import Gpu, LocalMachine
from proxy.recipes.evidence.subject import Subject, here, of_the_table
from proxy.recipes.reading import read_recipe

FOLDER = recipes_folder()
EVIDENCE = read_evidence(FOLDER)
TABLE = EVIDENCE.hardware
PROMOTED = read_recipe(FOLDER / "qwen3.6-35b-a3b-fp8-mtp1-flashinfer.yaml")
SPARK = here(
    LocalMachine((Gpu("NVIDIA GB10", "12.1", None, "580.95.05"),), 128_500_000_000, "aarch64"),
    TABLE,
)


def lines(subject: Subject, *, as_json: bool = False) -> list[str]:
    return list(fit_lines(fit(PROMOTED, subject, EVIDENCE), TABLE, as_json=as_json))


def test_head_names_recipe_machine_and_answer() -> None:
    head = lines(SPARK)[:7]

    assert head == [
        f"recipe      {PROMOTED.name} ({PROMOTED.file})",
        (
            "machine     NVIDIA GB10: compute capability 12.1, 128.5 GB shared with the CPU,"
            " driver 580.95.05, aarch64"
        ),
        (
            "            in the table: dgx-spark, NVIDIA DGX Spark, ASUS Ascent GX10; measured,"
            " memory bandwidth 273 GB/s"
        ),
        "            compute capability: https://developer.nvidia.com/cuda-gpus",
        "            memory: https://huggingface.co/hardware/gb10",
        "            bandwidth: https://huggingface.co/blog/exolabs/the-dgx-spark-handbook",
        "answer      measured: this recipe was measured on this kind of machine",
    ]


def test_answer_names_what_is_assumed_of_a_measured_recipe() -> None:
    baseline = read_recipe(FOLDER / "qwen3.6-35b-a3b-fp8-baseline.yaml")

    found = list(fit_lines(fit(baseline, SPARK, EVIDENCE), TABLE, as_json=False))

    (answer,) = (line for line in found if line.startswith("answer"))
    assert answer.endswith("on this kind of machine, but for what is `assumed` of it below")
    assert "assumed     these switches are not the source's: --attention-backend" in found


def test_findings_of_one_source_stand_together_above_it() -> None:
    found = lines(SPARK)

    source = "            source: Qwen auf dem DGX Spark optimieren: 20 Prozent mehr Durchsatz mit"
    above = found[: next(at for at, line in enumerate(found) if line.startswith(source))]
    assert "evidence    TG128: 64.6 tok/s, stated; mean of 3 runs" in above
    assert sum(line.startswith(source) for line in found) == 1


@pytest.mark.parametrize(
    ("subject", "machine"),
    [
        pytest.param(
            Subject("this machine", 0, is_here=True, trouble="nvidia-smi is not installed"),
            ["machine     this machine: nvidia-smi is not installed"],
            id="no GPU",
        ),
        pytest.param(
            of_the_table("l40s", TABLE),
            [
                (
                    "machine     NVIDIA L40S: compute capability 8.9, 48.0 GB, as the table has it,"
                    " not looked at"
                ),
                "            in the table: l40s; documented",
            ],
            id="from the table",
        ),
        pytest.param(
            Subject("NVIDIA\x1b[2J X", 2, is_here=True, capability="9.9", memory_gb=10.0),
            [
                r"machine     NVIDIA\x1b[2J X: 2 GPUs, compute capability 9.9, 10.0 GB",
                "            no machine of the table: nothing is known of the recipes on it",
            ],
            id="unknown and hostile",
        ),
        pytest.param(
            Subject("NVIDIA X", 1, is_here=True),
            ["machine     NVIDIA X: nothing is known of it"],
            id="nothing told",
        ),
    ],
)
def test_machine_is_described_as_far_as_it_is_known(subject: Subject, machine: list[str]) -> None:
    assert lines(subject)[1 : 1 + len(machine)] == machine


def test_json_holds_the_same_answer_and_findings() -> None:
    (text,) = lines(SPARK, as_json=True)

    document = json.loads(text)
    assert document["answer"] == "measured"
    assert document["recipe"]["hash"] == PROMOTED.hash
    assert document["machine"]["row"] == "dgx-spark"
    assert document["machine"]["bandwidth_gb_per_second"] == 273
    assert document["record"]["verdict"] == "identical"
    assert {finding["kind"] for finding in document["findings"]} == {
        "evidence",
        "unknown",
        "documented",
        "derived",
    }


def test_json_of_an_unknown_machine_leaves_open_what_is_not_known() -> None:
    (text,) = lines(Subject("NVIDIA X", 1, is_here=True), as_json=True)

    machine = json.loads(text)["machine"]
    assert (machine["row"], machine["status"], machine["memory_gb"]) == (None, None, None)
