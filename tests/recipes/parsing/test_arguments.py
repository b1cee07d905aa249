from pathlib import Path

import pytest

from proxy.recipes.parsing.arguments import MAX_FILLED_CHARACTERS
from tests.recipes.made import problems_of, reading_of, recipe_of

HEAD = 'recipe_version: "{version}"\nname: r\nmodel: a/b\ncontainer: c\n'


def recipe_text(command: str, *, version: int = 1, defaults: str = "{}") -> str:
    block = "\n".join(f"  {line}" for line in command.split("\n"))
    return HEAD.format(version=version) + f"defaults: {defaults}\ncommand: |\n{block}\n"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param("vllm serve a/b --x {p}", ["a/b", "--x", "1 2; rm"], id="one word"),
        pytest.param("vllm serve a/b --x '{p}'", ["a/b", "--x", "1 2; rm"], id="in quotes"),
        pytest.param("vllm serve a/b --x={p}{p}", ["a/b", "--x=1 2; rm1 2; rm"], id="in a word"),
        pytest.param("vllm serve {model}", ["a/b"], id="the model is always known"),
        pytest.param("vllm serve a/b --x {q}", ["a/b", "--x", "{q}"], id="not known"),
        pytest.param("vllm serve a/b --x ${{p}}", ["a/b", "--x", "${p}"], id="doubled behind $"),
    ],
)
def test_values_fill_words_and_never_become_several(
    tmp_path: Path, command: str, expected: list[str]
) -> None:
    recipe = recipe_of(tmp_path, recipe_text(command, defaults='{p: "1 2; rm"}'))

    assert list(recipe.command.arguments) == expected
    assert recipe.command.program == ("vllm", "serve")


def test_values_name_others_in_version_2_only(tmp_path: Path) -> None:
    command, defaults = "vllm serve a/b --x {p}", '{p: "{q}", q: "1"}'

    first = recipe_of(tmp_path, recipe_text(command, defaults=defaults))
    second = recipe_of(tmp_path, recipe_text(command, version=2, defaults=defaults))

    assert first.command.arguments[-1] == "{q}"
    assert second.command.arguments[-1] == "1"


@pytest.mark.parametrize(
    ("command", "program", "model"),
    [
        pytest.param("vllm serve m --port 1", ("vllm", "serve"), "m", id="vllm"),
        pytest.param("/opt/x/vllm serve m", ("/opt/x/vllm", "serve"), "m", id="by its path"),
        pytest.param("exec vllm serve m", ("vllm", "serve"), "m", id="exec"),
        pytest.param("export A=1; vllm serve m", ("vllm", "serve"), "m", id="behind others"),
        pytest.param("vllm serve m\necho done", ("vllm", "serve"), "m", id="before others"),
        pytest.param("vllm serve --port 1 m", ("vllm", "serve"), "m", id="model later on"),
        pytest.param("vllm serve --model m", ("vllm", "serve"), "m", id="model as a flag"),
        pytest.param("vllm serve --port 1", ("vllm", "serve"), None, id="no model"),
        pytest.param("sglang serve --port 1", ("sglang", "serve"), None, id="another engine"),
        pytest.param("run it", ("run",), "it", id="something else"),
        pytest.param("vllm m", ("vllm",), "m", id="no serve"),
    ],
)
def test_engine_is_found_among_the_commands(
    tmp_path: Path, command: str, program: tuple[str, ...], model: str | None
) -> None:
    reading = reading_of(tmp_path, recipe_text(command))

    assert reading.command is not None
    assert reading.command.command.program == program
    assert reading.command.command.model == model
    assert reading.command.command.is_vllm is (program[-1] == "serve" and "vllm" in program[0])


SERVER = ("python3", "-m", "vllm.entrypoints.openai.api_server")


@pytest.mark.parametrize(
    ("command", "before", "program", "model"),
    [
        pytest.param("A=1 vllm serve m", ("A=1",), ("vllm", "serve"), "m", id="assignment"),
        pytest.param(
            "exec env A={p} vllm serve m", ("env", "A=x"), ("vllm", "serve"), "m", id="env"
        ),
        pytest.param("nice vllm serve m", ("nice",), ("vllm", "serve"), "m", id="wrapper"),
        pytest.param("vllm serve m\nnice vllm serve n", (), ("vllm", "serve"), "m", id="plain"),
        pytest.param(" ".join((*SERVER, "--model m")), (), SERVER, "m", id="module"),
        pytest.param(" ".join((*SERVER, "m")), (), SERVER, None, id="word that is not read"),
    ],
)
def test_engine_is_found_behind_what_only_a_shell_obeys(
    tmp_path: Path, command: str, before: tuple[str, ...], program: tuple[str, ...], model: str
) -> None:
    recipe = recipe_of(tmp_path, recipe_text(command, defaults="{p: x}"))

    assert recipe.command.is_vllm
    assert (recipe.command.before, recipe.command.program) == (before, program)
    assert recipe.command.model == model
    assert recipe.runtime == "vllm"


def test_words_stand_at_their_places(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path, recipe_text("vllm serve m \\\n  --port 1 \\\n  -tp 2 more"))

    places = {word.text: (word.place.line, word.place.column) for word in recipe.command.words}
    assert places == {
        "m": (7, 14),
        "--port": (8, 5),
        "1": (8, 12),
        "-tp": (9, 5),
        "2": (9, 9),
        "more": (9, 11),
    }
    assert [word.text for word in recipe.command.stray] == ["more"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            HEAD.format(version=1),
            ["r.yaml:1:1: the key `command` is missing (add `command: vllm serve MODEL ...`)"],
            id="no command",
        ),
        pytest.param(
            HEAD.format(version=1) + "command: [vllm]",
            ["r.yaml:5:10: `command` must be text (write it in quotes)"],
            id="a list",
        ),
        pytest.param(
            recipe_text("vllm serve m" + " --max-model 1" * 5000),
            [
                (
                    "r.yaml:6:10: `command` is longer than 64 KiB "
                    "(no command line needs that; check the indentation)"
                ),
            ],
            id="endless",
        ),
        pytest.param(
            recipe_text("# nothing"),
            ["r.yaml:6:10: `command` starts nothing (write `vllm serve MODEL ...`)"],
            id="a comment",
        ),
        pytest.param(
            recipe_text("vllm serve m \\\n --x '{}"),
            ["r.yaml:8:8: the quote ' is not closed (close it)"],
            id="open quote",
        ),
        pytest.param(
            recipe_text("vllm serve m --x {p}", version=2, defaults='{p: "{p}"}'),
            [
                (
                    "r.yaml:7:20: `{p}` needs values that name each other: `p`, `p` "
                    "(let no value name itself, and write long ones out)"
                )
            ],
            id="value without an end",
        ),
    ],
)
def test_bad_command_is_told(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert problems_of(tmp_path, text) == expected


def test_values_that_fill_more_than_a_command_line_holds_are_a_problem(tmp_path: Path) -> None:
    text = f"model: m\ndefaults: {{a: {'x' * 60_000}}}\ncommand: vllm serve m {'{a} ' * 9_000}\n"

    reading = reading_of(tmp_path, text)

    assert reading.command is not None
    assert len("".join(reading.command.command.arguments)) < 2 * MAX_FILLED_CHARACTERS
    assert [problem.message for problem in reading.problems] == [
        "the arguments grow beyond 256 KiB here"
    ]
