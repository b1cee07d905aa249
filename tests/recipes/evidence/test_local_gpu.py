import json
import sys
from pathlib import Path

import pytest

from proxy.recipes.evidence.local_gpu import Gpu, LocalMachine, Surroundings, look_around
from proxy.recipes.vllm.asked_program import AskLimits

GB10 = "NVIDIA GB10, 12.1, [N/A], 580.95.05"


def surroundings(folder: Path, limits: AskLimits | None = None) -> Surroundings:
    """A machine whose PATH is one folder, and which has 128 GiB."""
    memory = folder / "meminfo"
    memory.write_text("MemTotal:       134217728 kB\nMemFree: 1 kB\n", encoding="ascii")
    environment = {"PATH": str(folder)}
    return Surroundings(environment, "aarch64", memory, limits or AskLimits(seconds=30))


def install_nvidia_smi(folder: Path, lines: str) -> None:
    """A stand-in for the program: a real child, since there is no GPU here."""
    program = folder / "nvidia-smi"
    program.write_text(f"#!{sys.executable}\nimport os, sys\n{lines}\n", encoding="utf-8")
    program.chmod(0o755)


def seen(folder: Path, lines: str) -> LocalMachine:
    install_nvidia_smi(folder, lines)
    return look_around(surroundings(folder))


def test_gpu_that_shares_the_memory_reports_none_of_its_own(tmp_path: Path) -> None:
    machine = seen(tmp_path, f"print({GB10!r})")

    assert machine.gpus == (Gpu("NVIDIA GB10", "12.1", None, "580.95.05"),)
    assert machine.memory_bytes == 128 * 1024**3
    assert machine.architecture == "aarch64"
    assert machine.trouble == ""


def test_gpus_with_memory_of_their_own_are_told_one_by_one(tmp_path: Path) -> None:
    line = "NVIDIA GeForce RTX 5090, 12.0, 32607, 610.43.02"

    machine = seen(tmp_path, f"print({line!r})\nprint({line!r})")

    gpu = Gpu("NVIDIA GeForce RTX 5090", "12.0", 32607 * 1024**2, "610.43.02")
    assert machine.gpus == (gpu, gpu)


def test_program_is_asked_for_four_fields_as_bare_values(tmp_path: Path) -> None:
    asked = tmp_path / "asked.json"

    seen(tmp_path, f"import json\njson.dump(sys.argv[1:], open({str(asked)!r}, 'w'))")

    assert json.loads(asked.read_text()) == [
        "--query-gpu=name,compute_cap,memory.total,driver_version",
        "--format=csv,noheader,nounits",
    ]


@pytest.mark.parametrize(
    ("lines", "trouble"),
    [
        pytest.param("", "nvidia-smi tells of no GPU", id="says nothing"),
        pytest.param("print('No devices were found')", "nvidia-smi tells of no GPU", id="no GPU"),
        pytest.param(
            "sys.exit(9)",
            "nvidia-smi gave no answer: it ended with status 9 (is the NVIDIA driver loaded?)",
            id="no driver",
        ),
        pytest.param(
            "sys.exit('no\\x1b[2J library')",
            r"nvidia-smi gave no answer: it ended with status 1; no\x1b[2J library"
            " (is the NVIDIA driver loaded?)",
            id="complains with terminal codes",
        ),
    ],
)
def test_program_that_tells_no_gpu_is_the_trouble(tmp_path: Path, lines: str, trouble: str) -> None:
    machine = seen(tmp_path, lines)

    assert machine.gpus == ()
    assert machine.trouble == trouble


def test_driver_that_does_not_answer_is_not_waited_for(tmp_path: Path) -> None:
    install_nvidia_smi(tmp_path, "import signal\nsignal.pause()")

    machine = look_around(surroundings(tmp_path, AskLimits(seconds=0.2)))

    assert "it had not answered after 0.2 s" in machine.trouble


def test_endless_output_is_cut_off(tmp_path: Path) -> None:
    install_nvidia_smi(tmp_path, "while True: print('NVIDIA', flush=True)")

    machine = look_around(surroundings(tmp_path, AskLimits(seconds=30, output_bytes=1000)))

    assert "it printed more than 1000 bytes" in machine.trouble


def test_without_the_program_no_gpu_is_found(tmp_path: Path) -> None:
    machine = look_around(surroundings(tmp_path))

    assert machine.gpus == ()
    assert machine.trouble.startswith("nvidia-smi is not installed")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param(
            "NVIDIA X, [N/A], [N/A], 1", Gpu("NVIDIA X", None, None, "1"), id="no capability"
        ),
        pytest.param(
            "\x1b[31mX, 8.9, 99999999999999999999, 1",
            Gpu(r"\x1b[31mX", "8.9", None, "1"),
            id="hostile text and a number that is none",
        ),
    ],
)
def test_fields_that_do_not_hold_are_left_open(tmp_path: Path, line: str, expected: Gpu) -> None:
    assert seen(tmp_path, f"print({line!r})").gpus == (expected,)


@pytest.mark.parametrize("text", ["", "MemTotal: much kB\n"])
def test_memory_that_the_system_does_not_tell_is_left_open(tmp_path: Path, text: str) -> None:
    where = surroundings(tmp_path)
    where.memory_file.write_text(text, encoding="ascii")

    assert look_around(where).memory_bytes is None


def test_system_without_a_memory_file_leaves_it_open(tmp_path: Path) -> None:
    where = surroundings(tmp_path)
    where.memory_file.unlink()

    assert look_around(where).memory_bytes is None
