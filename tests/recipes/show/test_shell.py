import dataclasses
import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.errors import Place, RecipeError
from proxy.recipes.recipe import Argument, Recipe
from proxy.recipes.show.shell import command_line, command_lines, variable_lines
from tests.recipes.served import served

RECIPE = served()
PLACE = Place("tiny.yaml", 5, 14)
HOSTILE = (
    *("$(touch canary)", "`touch canary`", "; touch canary", "| tee canary", "> canary"),
    *("'", '"', "\\", "a'b\"c\\", "{a,b}", "*", "~", "#", "", " ", "\n", "a\nb \\\n c", "\t", "!!"),
    *("--flag=$(touch canary)", "-x", "größe — 8", "$HOME", "${HOME}", "&&", "\\\n"),
)
safe_texts = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Cf"])
    | st.sampled_from("\n\t'\"\\$`")
)


def with_words(texts: Sequence[str]) -> Recipe:
    words = tuple(Argument(text, PLACE) for text in texts)
    return dataclasses.replace(RECIPE, command=dataclasses.replace(RECIPE.command, words=words))


def with_environment(environment: Mapping[str, str]) -> Recipe:
    return dataclasses.replace(RECIPE, environment=environment)


def run(script: str, folder: Path, programs: str = os.defpath) -> list[str]:
    """What a real shell prints, taken apart at NUL characters."""
    done = subprocess.run(
        ["/bin/sh", "-euc", script],
        cwd=folder,
        env={"HOME": "/nowhere", "PATH": programs},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=30,
    )
    return done.stdout.decode().split("\0")[:-1]


def words_in_a_shell(text: str, folder: Path, programs: str = os.defpath) -> list[str]:
    return run(f"vllm() {{ printf '%s\\0' \"$@\"; }}\n{text}\n", folder, programs)


def test_one_flag_stands_on_each_line() -> None:
    recipe = served("--port 8000 --enable-prefix-caching -tp 2 --api-key a b")

    assert list(command_lines(recipe)) == [
        "vllm serve owner/Tiny-8B-FP8 \\",
        "  --port 8000 \\",
        "  --enable-prefix-caching \\",
        "  -tp 2 \\",
        "  --api-key a b",
    ]


def test_command_without_flags_is_one_line() -> None:
    assert list(command_lines(RECIPE)) == ["vllm serve owner/Tiny-8B-FP8"]


@given(st.lists(safe_texts))
def test_line_splits_into_exactly_the_argument_list(texts: list[str]) -> None:
    assert shlex.split(command_line(with_words(texts))) == ["vllm", "serve", *texts]


def test_pasted_lines_give_a_shell_exactly_the_argument_list(tmp_path: Path) -> None:
    text = "\n".join(command_lines(with_words(HOSTILE)))

    assert words_in_a_shell(text, tmp_path) == ["serve", *HOSTILE]
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=40)
@given(st.lists(safe_texts, min_size=1, max_size=20))
def test_pasted_lines_hold_for_any_text(texts: list[str]) -> None:
    text = "\n".join(command_lines(with_words(texts)))

    with tempfile.TemporaryDirectory() as folder:
        found = words_in_a_shell(text, Path(folder), programs="/nowhere")

    assert found == ["serve", *texts]


def test_variables_are_assignments_with_quotes() -> None:
    lines = variable_lines(with_environment({"VLLM_USE_DEEP_GEMM": "0", "A": "it's"}))

    assert list(lines) == ["VLLM_USE_DEEP_GEMM='0'", "A='it'\\''s'"]


def test_variables_have_exactly_their_values_in_a_shell(tmp_path: Path) -> None:
    environment = {f"V{number}": value for number, value in enumerate(HOSTILE)}
    names = " ".join(f'"${name}"' for name in environment)

    text = "\n".join(variable_lines(with_environment(environment)))

    assert run(f"{text}\nprintf '%s\\0' {names}", tmp_path) == list(HOSTILE)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "character", ["\x00", "\x1b", "\r", "\x9b", "\u202e", "\u2066", "\u2028", "\ud800"]
)
def test_character_that_a_terminal_may_obey_is_refused(character: str) -> None:
    recipe = with_words(("a", f"b{character}"))
    message = (
        f"tiny.yaml:5:14: the value holds the character U+{ord(character):04X}, which a terminal"
        " may obey (remove it, or read the value from `--json`)"
    )

    for refused in (command_line, lambda each: list(command_lines(each))):
        with pytest.raises(RecipeError) as caught:
            refused(recipe)
        assert str(caught.value) == message
    with pytest.raises(RecipeError, match=r"U\+"):
        list(variable_lines(with_environment({"A": character})))


@pytest.mark.parametrize("name", ["", "1A", "A-B", "A;touch canary", "A\nB", "Ä"])
def test_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(RecipeError, match="is no name of an environment variable") as caught:
        list(variable_lines(with_environment({name: "1", "GOOD": "1"})))

    assert len(caught.value.problems) == 1
