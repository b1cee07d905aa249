import shlex
import string
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from proxy.data_files import recipe_files, recipes_folder
from proxy.errors import RecipeError
from proxy.launch.plan import launch_plan
from proxy.recipes.launchable.refusals import Allowance
from proxy.recipes.reading import open_recipe
from tests.fakes.launch import reading_at
from tests.recipes.made import reading_of

PROGRAM: Final = ("/venv/bin/vllm",)
_PLAIN: Final = "vllm serve m --port {port}"
# What means something to a shell, to Python's format, or to YAML.
HOSTILE: Final = (
    *("$(touch {canary})", "`touch {canary}`", "; touch {canary}", "| touch {canary}", "&& true"),
    *("> {canary}", "2>&1", "'", '"', "\\", "{port}", "{{port}}", "{nobody}", "$HOME", "~", "*"),
    *("#", "--", "-", "=", "é", "!x", "%", "&a", "*a", "!!python/object:os.system", "[", ": "),
)
HOSTILE_WORDS: Final = [
    word for each in HOSTILE if "{" not in (word := each.replace("{canary}", "/canary"))
]
UNSEEN: Final = ("\n touch {canary}\n", "\t", "\u202e", "\x7f")


def refusal(folder: Path, text: str, allowance: Allowance | None = None) -> str:
    with pytest.raises(RecipeError) as refused:
        launch_plan(reading_of(folder, text), PROGRAM, allowance)
    return str(refused.value)


def document(**members: Any) -> str:
    """A version 2 recipe whose command is plain, but for what is given."""
    plain = {
        "recipe_version": "2",
        "model": "m",
        "container": "image",
        "command": "vllm serve m --port 8000",
    }
    return yaml.safe_dump({**plain, **members})


def test_plan_is_vllm_s_own_program_and_the_recipe_s_arguments(tmp_path: Path) -> None:
    reading = reading_at(tmp_path, 8000)

    plan = launch_plan(reading, PROGRAM)

    assert plan.arguments == ("/venv/bin/vllm", "serve", *reading.whole().command.arguments)
    assert plan.environment == {"VLLM_STAND_IN": "a b"}
    assert plan.notes == ()


def test_path_of_a_program_in_the_recipe_is_not_what_is_started(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, document(command="/evil/vllm serve m"))

    assert launch_plan(reading, PROGRAM).arguments[0] == "/venv/bin/vllm"


@pytest.mark.parametrize(
    "command", ["sglang serve m", "python -m vllm.entrypoints.openai.api_server --model m"]
)
def test_other_programs_are_refused(tmp_path: Path, command: str) -> None:
    assert "only `vllm serve` can be launched" in refusal(tmp_path, document(command=command))


@pytest.mark.parametrize("members", [{"min_nodes": 2}, {"cluster_only": True}])
def test_recipe_for_several_machines_is_refused(tmp_path: Path, members: dict[str, Any]) -> None:
    assert "needs 2 machines" in refusal(tmp_path, document(**members))


@pytest.mark.parametrize("flag", ["--headless", "--uds /tmp/x", "--config x.yaml"])
def test_engine_without_an_address_of_its_own_is_refused(tmp_path: Path, flag: str) -> None:
    told = refusal(tmp_path, document(command=f"vllm serve m {flag}"))

    assert "r.yaml:1:" in told


def test_mods_and_hooks_that_would_be_missing_are_refused_and_named(tmp_path: Path) -> None:
    text = document(mods=["mods/fix"], pre_exec=["touch /x"])

    told = refusal(tmp_path, text)

    assert "mods/fix" in told
    assert "pre_exec" in told
    assert "--ignore-mods" in told


def test_mods_and_hooks_may_be_left_out_knowingly(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, document(mods=["mods/fix"], pre_exec=["touch /x"]))

    plan = launch_plan(reading, PROGRAM, Allowance(without_mods=True))

    assert plan.notes == ("left out: mods/fix, pre_exec",)


@pytest.mark.parametrize(
    "name",
    ["LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONWARNINGS", "PATH"],
)
def test_variable_that_steers_more_than_vllm_is_refused_unless_allowed(
    tmp_path: Path, name: str
) -> None:
    text = document(env={name: "/x"})

    told = refusal(tmp_path, text)
    plan = launch_plan(
        reading_of(tmp_path, text), PROGRAM, Allowance(environment=frozenset({name}))
    )

    assert f"env.{name}" in told
    assert f"--allow-env {name}" in told
    assert plan.environment == {name: "/x"}
    assert plan.notes == (f"code from outside vLLM is run or loaded: {name}",)


def test_harmless_variable_of_python_is_allowed(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, document(env={"PYTHONUNBUFFERED": 1, "OMP_NUM_THREADS": 4}))

    plan = launch_plan(reading, PROGRAM)

    assert plan.environment == {"PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "4"}


def test_code_that_vllm_itself_loads_is_told_and_not_refused(tmp_path: Path) -> None:
    command = "vllm serve m --trust-remote-code --reasoning-parser-plugin p.py"
    reading = reading_of(tmp_path, document(command=command, env={"CUDA_HOME": "/x"}))

    (note,) = launch_plan(reading, PROGRAM).notes

    assert note.endswith("--trust-remote-code, --reasoning-parser-plugin, CUDA_HOME")


@pytest.mark.parametrize(
    ("command", "place", "told"),
    [
        pytest.param("vllm serve m --x $(id)", "1:27", "run a program", id="substitution"),
        pytest.param("vllm serve m --x `id`", "1:27", "a backtick", id="backtick"),
        pytest.param("vllm serve m; id", "1:22", "`;` is for a shell", id="separator"),
        pytest.param("vllm serve m | tee log", "1:23", "`|` is for a shell", id="pipe"),
        pytest.param("vllm serve m &", "1:23", "`&` is for a shell", id="background"),
        pytest.param("vllm serve m > log", "1:23", "would redirect", id="redirection"),
        pytest.param("vllm serve m --x $HOME", "1:27", "a variable in its place", id="variable"),
        pytest.param("cd /x && vllm serve m", "1:10", "`cd` is not run", id="command before"),
        pytest.param("A=1 vllm serve m", "1:10", "the assignment of `A`", id="assignment"),
        pytest.param("nice vllm serve m", "1:10", "`nice` before the engine", id="wrapper"),
        pytest.param("vllm serve m --x $'a'", "1:27", "a quote of bash", id="quote of bash"),
        pytest.param("vllm serve ~/m", "1:21", "names of files", id="home folder"),
        pytest.param("vllm serve m --x {split!r}", "1:27", "stays as it stands", id="field"),
        pytest.param("vllm serve m --x {x}", "1:27", "`{x}` has no value", id="no value"),
        pytest.param("vllm serve m --x {split}", "1:27", "would split or change", id="split"),
    ],
)
def test_text_that_a_shell_would_read_otherwise_is_refused_at_its_place(
    tmp_path: Path, command: str, place: str, told: str
) -> None:
    text = f"command: {command}\nmodel: m\ndefaults: {{split: a b}}\n"

    assert any(
        f"r.yaml:{place}: " in line and told in line
        for line in refusal(tmp_path, text).splitlines()
    )


@pytest.mark.parametrize(
    ("lines", "place", "told"),
    [
        pytest.param("m\n  --port 8000", "2:15", "without a backslash", id="no continuation"),
        pytest.param("m \\ \n  --port 8000", "2:17", "blank behind the backslash", id="blank"),
        pytest.param("m # all\n  --port 8000", "2:16", "a comment inside", id="comment"),
        pytest.param("m\n  touch /x", "3:3", "`touch` is not run", id="command behind"),
    ],
)
def test_command_that_ends_too_early_for_a_shell_is_refused(
    tmp_path: Path, lines: str, place: str, told: str
) -> None:
    text = f"command: |\n  vllm serve {lines}\nmodel: m\n"

    first = refusal(tmp_path, text).splitlines()[0]

    assert f"r.yaml:{place}: " in first
    assert told in first


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("|\n  # all of it\n  exec vllm serve m --port 8000 # ours\n", id="comments"),
        pytest.param("vllm serve m --x '$HOME > `x`'", id="in single quotes"),
        pytest.param('vllm serve m -sc \'{"method":"mtp"}\'', id="single braces"),
        pytest.param("vllm serve m --x '{split}'", id="value in quotes"),
    ],
)
def test_text_that_a_shell_would_read_the_same_is_started(tmp_path: Path, command: str) -> None:
    head = 'recipe_version: "1"\nname: r\ncontainer: c\nmodel: m\ndefaults: {split: a b}\n'

    plan = launch_plan(reading_of(tmp_path, f"{head}command: {command}"), PROGRAM)

    assert plan.arguments[:3] == (*PROGRAM, "serve", "m")


def test_shipped_recipes_are_started() -> None:
    for path in recipe_files(recipes_folder()):
        assert launch_plan(open_recipe(path), PROGRAM).arguments[0] == PROGRAM[0]


def test_what_cannot_be_read_and_what_cannot_be_had_are_told_together(tmp_path: Path) -> None:
    text = document(command="vllm serve m --port 70000 --x `id`", min_nodes=2)

    port, backtick, machines = refusal(tmp_path, text).splitlines()

    assert "a port from 1 to 65535" in port
    assert "a backtick" in backtick
    assert "needs 2 machines" in machines


def test_all_reasons_are_told_at_once(tmp_path: Path) -> None:
    text = document(command="sglang serve m", min_nodes=2, mods=["x"], env={"PATH": "/x"})

    assert len(refusal(tmp_path, text).splitlines()) == 4


def test_unseen_characters_are_refused_whoever_made_the_recipe(tmp_path: Path) -> None:
    reading = reading_at(tmp_path, 8000)
    recipe = replace(reading.whole(), environment={"A": "1\n2", "B\n": "1"})

    with pytest.raises(RecipeError) as refused:
        launch_plan(replace(reading, recipe=recipe), PROGRAM)

    assert len(refused.value.problems) == 2


def hostile_texts(canary: str) -> st.SearchStrategy[str]:
    """Such pieces in any order; now and then one that cannot be seen."""
    pieces = [*HOSTILE * 3, *UNSEEN]
    hostile = st.sampled_from([each.replace("{canary}", canary) for each in pieces])
    plain = st.text(string.ascii_letters + string.digits + " -.{}", min_size=1, max_size=8)
    return st.lists(hostile | plain, min_size=1, max_size=4).map("".join)


def hostile_documents(canary: str) -> st.SearchStrategy[str]:
    """Recipes, most of which can be launched: quoted, as a placeholder's value, or bare."""
    text = hostile_texts(canary)
    quoted = text.map(shlex.quote)
    word = st.one_of(quoted, quoted, st.just("'{extra}'"), st.just("--flag='{extra}'"), text)
    commands = st.lists(word, max_size=4).map(lambda words: " ".join([_PLAIN, *words]))
    environment = st.dictionaries(st.sampled_from(["A", "B_1"]), text, max_size=2)
    members = st.fixed_dictionaries(
        {
            "recipe_version": st.sampled_from(["1", "2"]),
            "model": st.just("m"),
            "command": commands,
            "defaults": st.fixed_dictionaries({"extra": text, "port": st.just(8000)}),
            "env": environment,
        },
    )
    odd = st.fixed_dictionaries(
        {},
        optional={
            "name": text,
            "model": text,
            "container": text,
            "command": text,
            "env": st.dictionaries(text, text, max_size=2),
            "mods": st.lists(text, max_size=1),
            "pre_exec": st.lists(text, max_size=1),
        },
    )
    return st.one_of(
        members, members, members, st.tuples(members, odd).map(lambda pair: pair[0] | pair[1])
    ).map(lambda made: yaml.safe_dump(made, allow_unicode=True))


@examples(max_examples=200)
@given(hostile_documents("/canary"))
def test_no_recipe_text_makes_anything_but_vllm_s_argument_list(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "hostile.yaml")
        path.write_bytes(text.encode("utf-8"))
        try:
            reading = open_recipe(path)
            plan = launch_plan(reading, PROGRAM)
        except RecipeError:
            return
    recipe = reading.whole()

    assert plan.arguments == (*PROGRAM, "serve", *recipe.command.arguments)
    assert plan.environment == recipe.environment
    assert all(word.isprintable() for word in (*plan.arguments, *plan.environment.values()))


@pytest.mark.parametrize("piece", HOSTILE_WORDS)
def test_hostile_word_is_one_argument_as_it_stands(tmp_path: Path, piece: str) -> None:
    reading = reading_of(tmp_path, document(command=f"vllm serve m {shlex.quote(piece)}"))

    assert launch_plan(reading, PROGRAM).arguments == (*PROGRAM, "serve", "m", piece)


@pytest.mark.parametrize("piece", [word for word in HOSTILE_WORDS if word != "'"])
def test_hostile_value_of_a_placeholder_is_one_argument(tmp_path: Path, piece: str) -> None:
    text = document(command="vllm serve m --x '{extra}'", defaults={"extra": piece})

    arguments = launch_plan(reading_of(tmp_path, text), PROGRAM).arguments

    assert arguments == (*PROGRAM, "serve", "m", "--x", piece)
