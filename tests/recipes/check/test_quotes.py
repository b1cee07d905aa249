import shlex
import string
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.recipes.checked import FIRST, codes, found

CODE = "value-leaves-quotes"


def recipe(word: str, value: str) -> str:
    return FIRST + yaml.safe_dump(
        {"command": f"vllm serve a/b --x {word}", "defaults": {"v": value}}
    )


@pytest.mark.parametrize(
    ("word", "value"),
    [
        pytest.param('"{v}"', "$(id)", id="substitution"),
        pytest.param('"{v}"', "`id`", id="backticks"),
        pytest.param('"{v}"', "$HOME", id="variable"),
        pytest.param('"{v}"', 'a" b', id="double quote"),
        pytest.param('"{v}"', "a\\", id="backslash"),
        pytest.param("'{v}'", "a'; id; '", id="single quote"),
        pytest.param("'{v}'", "it's", id="open quote"),
    ],
)
def test_value_that_a_shell_would_not_leave_alone_is_a_warning(
    tmp_path: Path, word: str, value: str
) -> None:
    assert found(tmp_path, recipe(word, value), CODE) == [
        (
            "4:29 warning: a value in `{v}` would not stay text inside its quotes in a shell; "
            "here it does (use single quotes, and a value without them)"
        )
    ]


@given(st.text(string.printable.replace("'", "").strip()))
def test_value_without_single_quotes_stays_in_single_quotes(value: str) -> None:
    with TemporaryDirectory() as folder:
        assert CODE not in codes(Path(folder), recipe("'{v}'", value))


@given(st.text("a $`\"'\\#;|(){}[]*~!", max_size=8), st.sampled_from(["'{v}'", '"{v}"', "x'{v}'y"]))
def test_value_without_a_finding_is_read_by_a_shell_as_it_stands(value: str, word: str) -> None:
    with TemporaryDirectory() as folder:
        if CODE in codes(Path(folder), recipe(word, value)):
            return

    assert shlex.split(word.replace("{v}", value)) == [
        word.replace("'", "").replace('"', "").replace("{v}", value)
    ]
