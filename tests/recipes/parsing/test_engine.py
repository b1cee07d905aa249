import pytest

from proxy.recipes.parsing.engine import plain_start, program_length, wrapped_start

SERVER = "vllm.entrypoints.openai.api_server"
CLI = "vllm.entrypoints.cli.main"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param("vllm serve m", 0, id="at once"),
        pytest.param("/opt/bin/vllm serve m", 0, id="by its path"),
        pytest.param("sglang serve --x", 0, id="another engine"),
        pytest.param("A=1 B= vllm serve m", 2, id="behind assignments"),
        pytest.param("env A=1 vllm serve m", 2, id="behind env"),
        pytest.param("exec env A=1 sglang serve", 3, id="another engine behind both"),
        pytest.param(f"python3 -m {SERVER} --model m", 0, id="as a module"),
        pytest.param(f"A=1 python3.12 -u -X dev -m {CLI} serve m", 1, id="as another module"),
        pytest.param("numactl -N 0 vllm serve m", None, id="handed to a program"),
        pytest.param(f"python3 -m {CLI} bench", None, id="module that serves nothing"),
        pytest.param("python3 -m", None, id="no module"),
        pytest.param("env A=1", None, id="no program"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_engine_begins_behind_assignments_exec_and_env(command: str, expected: int | None) -> None:
    assert plain_start(command.split()) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param("numactl -N 0 nice -n 5 vllm serve m", 6, id="behind two programs"),
        pytest.param(f"nohup python -m {SERVER}", 1, id="as a module"),
        pytest.param("env -i A=1 /x/vllm serve m", 3, id="env with an option"),
        pytest.param("run --engine vllm --port 1", None, id="only its name"),
        pytest.param("sudo sglang serve m", None, id="another engine"),
    ],
)
def test_vllm_is_found_among_the_words_of_other_programs(
    command: str, expected: int | None
) -> None:
    assert wrapped_start(command.split()) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("vllm serve m", 2),
        ("vllm m", 1),
        ("sglang serve m", 2),
        ("python3 run.py", 1),
        (f"python3 -W ignore -m {SERVER} --model m", 5),
        (f"python3 -m {CLI} serve m", 4),
        (f"python3 -m {CLI} bench", 1),
        ("", 0),
    ],
)
def test_program_is_as_many_words(command: str, expected: int) -> None:
    assert program_length(command.split()) == expected
