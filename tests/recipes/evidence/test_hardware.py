from pathlib import Path

import pytest

from proxy.data_files import recipe_files, recipes_folder
from proxy.errors import RecipeError
from proxy.recipes.evidence import hardware
from proxy.recipes.evidence.hardware import Hardware, Standing, read_hardware
from proxy.recipes.reading import read_recipe
from tests.recipes.made import recipe_of

TABLE = recipes_folder() / hardware.FILE
MEASURED_ON = {"dgx-spark"}


@pytest.fixture(scope="module")
def shipped() -> Hardware:
    return read_hardware(TABLE, MEASURED_ON)


@pytest.mark.parametrize(
    ("gpu", "machine"),
    [
        ("NVIDIA GB10", "dgx-spark"),
        ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "rtx-pro-6000-blackwell"),
        ("NVIDIA GeForce RTX 5090", "rtx-5090"),
        ("NVIDIA GeForce RTX 5090 Laptop GPU", None),
        ("NVIDIA A100-SXM4-80GB", "a100-80gb"),
        ("NVIDIA A100-SXM4-40GB", None),
        ("NVIDIA H100 80GB HBM3", "h100-80gb"),
        ("NVIDIA H200 NVL", "h200"),
        ("Tesla T4", None),
    ],
)
def test_gpu_is_known_by_the_name_that_nvidia_smi_reports(
    shipped: Hardware, gpu: str, machine: str | None
) -> None:
    assert shipped.machine_of(gpu) == machine


def test_only_the_machine_of_the_article_is_measured(shipped: Hardware) -> None:
    measured = [key for key, row in shipped.machines.items() if row.status is Standing.MEASURED]

    assert measured == ["dgx-spark"]


def test_whatever_is_said_of_a_machine_has_an_address(shipped: Hardware) -> None:
    said = [each for row in shipped.machines.values() for each in (*row.sources, *row.statements)]

    assert all(each.address.startswith("https://") for each in said)


def test_numbers_of_a_machine_have_a_source(shipped: Hardware) -> None:
    for row in shipped.machines.values():
        told = " ".join(source.says for source in row.sources)
        assert row.compute_capability is None or "compute capability" in told
        assert row.memory_gb is None or "memory" in told
        assert row.bandwidth_gb_per_second is None or "bandwidth" in told


def test_number_format_of_every_shipped_recipe_is_known(shipped: Hardware) -> None:
    formats = {
        path.stem: shipped.format_of(read_recipe(path)) for path in recipe_files(TABLE.parent)
    }

    assert all(found == ("nvfp4" if "nvfp4" in name else "fp8") for name, found in formats.items())


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param("vllm serve a/b-FP8", "fp8", id="by the checkpoint's name"),
        pytest.param("vllm serve a/b --quantization fp8", "fp8", id="by the flag"),
        pytest.param("vllm serve a/b-AWQ", None, id="not in the table"),
    ],
)
def test_number_format_follows_from_checkpoint_or_flag(
    shipped: Hardware, tmp_path: Path, command: str, expected: str | None
) -> None:
    text = f'recipe_version: "1"\nname: n\ncontainer: c\ncommand: {command}\n'

    assert shipped.format_of(recipe_of(tmp_path, text)) == expected


def test_size_of_weights_is_derived_or_documented(shipped: Hardware) -> None:
    sizes = {key: each.size_gb for key, each in shipped.checkpoints.items()}

    assert sizes == {"Qwen/Qwen3.6-35B-A3B-FP8": 35.0, "nvidia/Qwen3.6-35B-A3B-NVFP4": 23.4}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            "    status: untested",
            "    status: measured",
            "no result was measured on `jetson-thor` (change its status)",
            id="measured by nobody",
        ),
        pytest.param(
            "    status: measured",
            "    status: untested",
            "results were measured on `dgx-spark` (write `status: measured`)",
            id="measured and not said",
        ),
        pytest.param(
            "      - about: nvfp4",
            "      - about: fp4",
            "`rtx-pro-6000-blackwell` speaks of `fp4`, which is no format here (one of fp8, nvfp4)",
            id="unknown format",
        ),
        pytest.param(
            "    status: documented",
            "    status: untested",
            "`machines.rtx-pro-6000-blackwell`: `documented` has statements, `measured` and"
            " `untested` have none (change the value)",
            id="documented and not said",
        ),
        pytest.param(
            "    weights_gb: 23.4\n",
            "",
            "`checkpoints.nvidia/Qwen3.6-35B-A3B-NVFP4`: give `weights_gb`, or"
            " parameters_billion and bytes_per_parameter (change the value)",
            id="no size",
        ),
    ],
)
def test_table_that_contradicts_itself_is_refused(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    path = tmp_path / "hardware.yaml"
    text = TABLE.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")

    with pytest.raises(RecipeError) as caught:
        read_hardware(path, MEASURED_ON)

    assert [str(problem).partition(": ")[2] for problem in caught.value.problems] == [expected]


def test_results_of_a_machine_that_is_not_in_the_table_are_told() -> None:
    with pytest.raises(RecipeError, match="results name the machine `toaster`"):
        read_hardware(TABLE, {"dgx-spark", "toaster"})
