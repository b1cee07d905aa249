import json
import shlex
import sys
from pathlib import Path

import pytest

from proxy.cli import main
from proxy.data_files import recipe_files, recipes_folder
from tests.recipes.made import written

PROMOTED = "qwen3.6-35b-a3b-fp8-mtp1-flashinfer"
BASELINE = "qwen3.6-35b-a3b-fp8-baseline"
Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("recipe", [path.stem for path in recipe_files(recipes_folder())])
def test_shipped_recipes_have_no_error(recipe: str, capsys: Capture) -> None:
    assert main(["recipe", "check", "--pinned", recipe]) == 0

    assert "0 errors" in capsys.readouterr().out


def test_check_tells_place_and_remedy_of_each_finding(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, "recipe_version: 1\ncommand: vllm serve m --prot 1\n")

    assert main(["recipe", "check", "--pinned", str(path)]) == 1

    line = next(each for each in capsys.readouterr().out.splitlines() if "--prot" in each)
    assert line.startswith(f"{path}:2:23: error[")
    assert "`--port`" in line


def test_warnings_fail_only_where_that_is_wanted(capsys: Capture) -> None:
    assert main(["recipe", "check", "--pinned", PROMOTED]) == 0
    assert main(["recipe", "check", "--pinned", "--strict", PROMOTED]) == 1
    assert "warning[single-brace]" in capsys.readouterr().out


def test_file_that_cannot_be_read_has_its_own_exit_code(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, "a: [1")

    assert main(["recipe", "check", "--pinned", "--json", str(path)]) == 2

    assert json.loads(capsys.readouterr().out)["counts"]["error"] == 1


def test_named_vllm_that_cannot_be_asked_is_an_error(tmp_path: Path, capsys: Capture) -> None:
    assert main(["recipe", "check", "--vllm", str(tmp_path / "none"), PROMOTED]) == 2

    assert str(tmp_path / "none") in capsys.readouterr().err


def test_table_shows_switches_and_their_lines(capsys: Capture) -> None:
    assert main(["recipe", "show", PROMOTED, "--set", "port=9000"]) == 0

    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["--quantization", "line", "25", "fp8"] in lines
    assert ["address", "--port", "--set", "port", "9000"] in lines


def test_command_comes_back_from_a_shell(capsys: Capture) -> None:
    assert main(["recipe", "show", PROMOTED, "--command"]) == 0

    words = shlex.split(capsys.readouterr().out)
    assert words[:3] == ["vllm", "serve", "Qwen/Qwen3.6-35B-A3B-FP8"]
    assert '{"method":"mtp","num_speculative_tokens":1}' in words
    assert len(words) == 32


def test_environment_and_container_are_shown_for_a_shell(capsys: Capture) -> None:
    assert main(["recipe", "show", PROMOTED, "--env"]) == 0
    assert "VLLM_USE_DEEP_GEMM=0" in capsys.readouterr().out.replace("'", "")

    assert main(["recipe", "show", PROMOTED, "--docker"]) == 0
    docker = capsys.readouterr().out
    assert main(["recipe", "up", PROMOTED, "--docker"]) == 0
    assert capsys.readouterr().out == docker
    assert "docker run" in docker
    assert "vllm-node-freshwheels-20260713" in docker


def test_recipe_is_shown_as_one_document(capsys: Capture) -> None:
    assert main(["recipe", "show", PROMOTED, "--json"]) == 0

    assert json.loads(capsys.readouterr().out)["engine"]["max_num_seqs"] == 4


def test_difference_is_shown_with_what_follows_from_it(capsys: Capture) -> None:
    auto = "qwen3.6-35b-a3b-fp8-mtp1-auto"

    assert main(["recipe", "diff", BASELINE, auto]) == 0
    assert "one switch: speculation" in capsys.readouterr().out
    assert main(["recipe", "diff", BASELINE, auto, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "one switch"


def test_fit_tells_evidence_from_transfer(capsys: Capture) -> None:
    assert main(["recipe", "fit", PROMOTED, "--machine", "dgx-spark"]) == 0
    assert "answer      measured" in capsys.readouterr().out
    assert main(["recipe", "fit", PROMOTED, "--machine", "h100-80gb", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == "transfer"


def test_recipe_that_is_not_vllm_is_not_started(tmp_path: Path, capsys: Capture) -> None:
    path = written(tmp_path, "recipe_version: 1\nmodel: m\ncommand: touch here\n")

    assert main(["recipe", "up", str(path), "--vllm", sys.executable]) == 2

    assert f"{path}:3:10: the command starts `touch`" in capsys.readouterr().err
    assert not Path("here").exists()


def test_absent_recipe_is_told(capsys: Capture) -> None:
    assert main(["recipe", "show", "absent"]) == 2
    assert "absent: there is no such file" in capsys.readouterr().err
