import json
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from proxy.recipes.vllm.facts import Arity, Kind, VllmFlag, read_facts
from tests.fakes.vllm_package import SINCE_0_32, UNTIL_0_31, python_with_vllm

PROBE: Final = Path(__file__).parents[3] / "proxy" / "recipes" / "vllm" / "probe.py"
IMPORTED: Final = """
    from pathlib import Path
    Path(__file__).with_suffix(".imported").touch()
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return python_with_vllm(
        tmp_path_factory.mktemp("environment"), changed={"../named.py": IMPORTED}
    )


def _run(python: Path, what: str, question: str = "") -> "subprocess.CompletedProcess[str]":
    command = (python, "-I", PROBE, what)
    return subprocess.run(command, input=question, capture_output=True, text=True, check=False)


def _checked(python: Path, *arguments: str) -> Any:
    done = _run(python, "check", json.dumps(arguments))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("layout", [SINCE_0_32, UNTIL_0_31])
def test_facts_are_those_of_the_installed_package(layout: str, tmp_path: Path) -> None:
    python = python_with_vllm(tmp_path, layout)

    facts = read_facts(_run(python, "facts").stdout.encode())

    assert facts.version == "9.8.7"
    assert facts.tool_parsers == facts.reasoning_parsers == ("first", "second")
    assert facts.attention_backends == ("CUSTOM", "FLASHINFER")
    assert facts.quantizations == ("awq", "fp8")
    assert facts.kv_cache_dtypes == ("auto", "fp8")
    assert facts.speculative_methods == ("mtp", "ngram")
    assert facts.environment == ("VLLM_A", "VLLM_B")


@pytest.mark.parametrize(
    "flag",
    [
        VllmFlag("--headless", (), Arity.FLAG, Kind.TEXT),
        VllmFlag("--eager", ("-e",), Arity.SWITCH, Kind.TEXT),
        VllmFlag("--port", (), Arity.ONE, Kind.INTEGER),
        VllmFlag("--max-len", (), Arity.ONE, Kind.SIZE),
        VllmFlag("--utilization", ("-u", "--share"), Arity.ONE, Kind.NUMBER),
        VllmFlag("--name", (), Arity.MANY, Kind.TEXT),
        VllmFlag("--token", (), Arity.OPTIONAL, Kind.TEXT),
        VllmFlag("--overrides", (), Arity.ONE, Kind.JSON_OR_TEXT),
        VllmFlag("--rules", (), Arity.ONE, Kind.JSON),
        VllmFlag("--kv-cache-dtype", (), Arity.ONE, Kind.TEXT, ("auto", "fp8")),
        VllmFlag("--backend", (), Arity.ONE, Kind.TEXT, ("deep_gemm",), any_case=True),
    ],
    ids=lambda flag: flag.name,
)
def test_flag_is_told_as_the_parser_declares_it(flag: VllmFlag, python: Path) -> None:
    facts = read_facts(_run(python, "facts").stdout.encode())

    assert facts.flag(flag.name) == flag


def test_choices_that_depend_on_the_machine_are_left_out(python: Path) -> None:
    facts = read_facts(_run(python, "facts").stdout.encode())

    device = facts.flag("--mm-processor-device")
    assert device is not None
    assert device.choices == ()


def test_facts_stand_one_a_line(python: Path) -> None:
    lines = _run(python, "facts").stdout.splitlines()

    assert '"awq",' in lines
    assert sum('"name": "--' in line for line in lines) == len(
        [line for line in lines if line.startswith("{") and line != "{"]
    )


def test_registry_that_is_nowhere_is_empty_and_the_rest_is_told(tmp_path: Path) -> None:
    python = python_with_vllm(tmp_path, changed={"envs.py": "", "reasoning.py": "import nowhere"})

    done = _run(python, "facts")
    facts = read_facts(done.stdout.encode())

    assert facts.environment == facts.reasoning_parsers == ()
    assert facts.quantizations == ("awq", "fp8")
    assert "nowhere" in done.stderr


def test_parser_that_lacks_a_dependency_is_not_taken_for_an_older_layout(tmp_path: Path) -> None:
    broken = {"entrypoints/launchers/cli_args.py": "import something_missing"}
    python = python_with_vllm(tmp_path, changed=broken)

    done = _run(python, "facts")

    assert (done.returncode, done.stdout) == (1, "")
    assert "No module named 'something_missing'" in done.stderr


def test_sound_arguments_have_no_error(python: Path) -> None:
    answer = _checked(python, "model", "--port", "8000", "--name", "a", "b", "--no-eager")

    assert answer == {"version": "9.8.7", "error": None, "skipped": []}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["m", "--prot", "1"], "unrecognized arguments: --prot 1"),
        (["m", "--port", "one"], "argument --port: invalid int value: 'one'"),
        (["m", "--port"], "argument --port: expected one argument"),
        (["m", "--headless"], "TypeError: --headless requires --name"),
        (["m", "--help"], "they ask for help: vLLM would print that and end"),
        (["m", "--overrides", "{"], "argument --overrides: invalid mapping value: '{'"),
    ],
    ids=["unknown", "no integer", "no value", "validation", "help", "no JSON"],
)
def test_error_is_in_the_words_of_vllm(arguments: list[str], error: str, python: Path) -> None:
    assert _checked(python, *arguments)["error"] == error


def test_addresses_of_functions_are_left_out(tmp_path: Path) -> None:
    raises = "raise ValueError(validate_parsed_serve_args)"
    module = "entrypoints/launchers/cli_args.py"
    python = python_with_vllm(tmp_path)
    (found,) = tmp_path.glob(f"lib/*/site-packages/vllm/{module}")
    found.write_text(f"{found.read_text()}    {raises}\n")

    assert _checked(python, "m")["error"] == "ValueError: <function validate_parsed_serve_args>"


def test_module_that_arguments_name_is_not_imported(python: Path) -> None:
    (named,) = python.parent.parent.glob("lib/*/site-packages/named.py")

    answer = _checked(python, "m", "--imports", "named")

    assert answer["error"] is None
    assert answer["skipped"] == [
        "vLLM's parser was not asked to the end: it would have imported `named`"
    ]
    assert not named.with_suffix(".imported").exists()


def test_parser_cannot_start_a_program(python: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'started'}\n")
    program.chmod(0o755)

    answer = _checked(python, "m", "--runs", str(program))

    assert "would have called subprocess.Popen" in answer["skipped"][0]
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("question", ["", "{", "{}", "[1]", '"m"'])
def test_question_that_is_no_list_of_texts_is_refused(question: str, python: Path) -> None:
    done = _run(python, "check", question)

    assert (done.returncode, done.stdout) == (1, "")


def test_unknown_command_is_answered_with_the_usage(python: Path) -> None:
    done = _run(python, "serve")

    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: probe.py" in done.stderr
