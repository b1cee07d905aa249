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

from proxy.errors import RecipeError
from proxy.launch.plan import Allowance, launch_plan
from proxy.recipes.reading import read_recipe
from tests.fakes.launch import recipe_at
from tests.recipes.made import recipe_of

PROGRAM: Final = ("/venv/bin/vllm",)
_PLAIN: Final = "vllm serve m --port {port}"
# What means something to a shell, to Python's format, or to YAML.
HOSTILE: Final = (
    *("$(touch {canary})", "`touch {canary}`", "; touch {canary}", "| touch {canary}", "&& true"),
    *("> {canary}", "2>&1", "'", '"', "\\", "{port}", "{{port}}", "{nobody}", "$HOME", "~", "*"),
    *("#", "--", "-", "=", "é", "!x", "%", "&a", "*a", "!!python/object:os.system", "[", ": "),
)
UNSEEN: Final = ("\n touch {canary}\n", "\t", "\u202e", "\x7f")


def refusal(folder: Path, text: str, allowance: Allowance | None = None) -> str:
    with pytest.raises(RecipeError) as refused:
        launch_plan(recipe_of(folder, text), PROGRAM, allowance)
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
    recipe = recipe_at(tmp_path, 8000)

    plan = launch_plan(recipe, PROGRAM)

    assert plan.arguments == ("/venv/bin/vllm", "serve", *recipe.command.arguments)
    assert plan.environment == {"VLLM_STAND_IN": "a b"}
    assert plan.notes == ()


def test_path_of_a_program_in_the_recipe_is_not_what_is_started(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path, document(command="/evil/vllm serve m"))

    assert launch_plan(recipe, PROGRAM).arguments[0] == "/venv/bin/vllm"


@pytest.mark.parametrize(
    "command", ["sglang serve m", "python -m vllm.entrypoints.openai.api_server --model m"]
)
def test_other_programs_are_refused(tmp_path: Path, command: str) -> None:
    assert "only vLLM can be launched" in refusal(tmp_path, document(command=command))


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
    recipe = recipe_of(tmp_path, document(mods=["mods/fix"], pre_exec=["touch /x"]))

    plan = launch_plan(recipe, PROGRAM, Allowance(without_mods=True))

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
    plan = launch_plan(recipe_of(tmp_path, text), PROGRAM, Allowance(environment=frozenset({name})))

    assert f"env.{name}" in told
    assert f"--allow-env {name}" in told
    assert plan.environment == {name: "/x"}
    assert plan.notes == (f"code from outside vLLM is run or loaded: {name}",)


def test_harmless_variable_of_python_is_allowed(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path, document(env={"PYTHONUNBUFFERED": 1, "OMP_NUM_THREADS": 4}))

    plan = launch_plan(recipe, PROGRAM)

    assert plan.environment == {"PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "4"}


def test_code_that_vllm_itself_loads_is_told_and_not_refused(tmp_path: Path) -> None:
    command = "vllm serve m --trust-remote-code --reasoning-parser-plugin p.py"
    recipe = recipe_of(tmp_path, document(command=command, env={"CUDA_HOME": "/x"}))

    (note,) = launch_plan(recipe, PROGRAM).notes

    assert note.endswith("--trust-remote-code, --reasoning-parser-plugin, CUDA_HOME")


def test_all_reasons_are_told_at_once(tmp_path: Path) -> None:
    text = document(command="sglang serve m", min_nodes=2, mods=["x"], env={"PATH": "/x"})

    assert len(refusal(tmp_path, text).splitlines()) == 4


def test_unseen_characters_are_refused_whoever_made_the_recipe(tmp_path: Path) -> None:
    recipe = replace(recipe_at(tmp_path, 8000), environment={"A": "1\n2", "B\n": "1"})

    with pytest.raises(RecipeError) as refused:
        launch_plan(recipe, PROGRAM)

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
    word = st.one_of(quoted, quoted, st.just("{extra}"), st.just("--flag={extra}"), text)
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
            recipe = read_recipe(path)
            plan = launch_plan(recipe, PROGRAM)
        except RecipeError:
            return

    assert plan.arguments == (*PROGRAM, "serve", *recipe.command.arguments)
    assert plan.environment == recipe.environment
    assert all(word.isprintable() for word in (*plan.arguments, *plan.environment.values()))


@pytest.mark.parametrize("piece", [each for each in HOSTILE if "{{" not in each])
def test_hostile_word_is_one_argument_as_it_stands(tmp_path: Path, piece: str) -> None:
    recipe = recipe_of(tmp_path, document(command=f"vllm serve m {shlex.quote(piece)}"))

    assert launch_plan(recipe, PROGRAM).arguments == (*PROGRAM, "serve", "m", piece)


@pytest.mark.parametrize("piece", [each for each in HOSTILE if "{" not in each])
def test_hostile_value_of_a_placeholder_is_one_argument(tmp_path: Path, piece: str) -> None:
    text = document(command="vllm serve m --x {extra}", defaults={"extra": piece})

    arguments = launch_plan(recipe_of(tmp_path, text), PROGRAM).arguments

    assert arguments == (*PROGRAM, "serve", "m", "--x", piece)
