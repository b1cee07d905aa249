import dataclasses

import pytest

from proxy.recipes.show.secrets import MASK, Secrets, is_secret
from tests.recipes.served import served


@pytest.mark.parametrize(
    "name", ["--api-key", "HF_TOKEN", "VLLM_API_KEY", "api_key", "--hf-token", "DB_PASSWORD"]
)
def test_keys_tokens_and_passwords_are_secret(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize(
    "name", ["--max-num-batched-tokens", "--ssl-keyfile", "model", "MONKEY", "--tokenizer"]
)
def test_other_names_are_not(name: str) -> None:
    assert not is_secret(name)


def test_secrets_of_flags_variables_and_defaults_are_found() -> None:
    recipe = served(
        "--api-key one two --port 8000", keys="env: {HF_TOKEN: three}\ndefaults: {api_key: four}"
    )

    assert Secrets.of(recipe).values == {"one", "two", "three", "four"}


def test_recipe_without_secrets_masks_nothing() -> None:
    assert Secrets.of(served("--port 8000", keys='env: {HF_TOKEN: ""}')).values == frozenset()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("8", MASK, id="the whole text"),
        pytest.param("--api-key=8", f"--api-key={MASK}", id="behind an equals sign"),
        pytest.param("128", "128", id="a short one is not looked for inside"),
        pytest.param("http://u:hf_0123456@h", f"http://u:{MASK}@h", id="a long one is"),
        pytest.param("hf_0123456789", MASK, id="the longest first"),
    ],
)
def test_secret_is_masked_where_it_can_be_told(text: str, expected: str) -> None:
    secrets = Secrets(frozenset({"8", "hf_0123456", "hf_0123456789"}))

    assert secrets.mask(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgres://u:passw0rd@h/db", f"postgres://u:{MASK}@h/db"),
        ("redis://:pw@h", f"redis://:{MASK}@h"),
        ("Authorization: Bearer abc.1-x", f"Authorization: Bearer {MASK}"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("http://h:80/a@b", "http://h:80/a@b"),
        ("Bearer authentication", "Bearer authentication"),
    ],
)
def test_secret_without_a_telling_name_is_known_by_its_form(text: str, expected: str) -> None:
    assert Secrets(frozenset()).mask(text) == expected


def test_short_secret_is_masked_inside_json() -> None:
    secrets = Secrets(frozenset({"six"}))

    assert secrets.mask('{"TOKEN": "six", "b": ["A=six"], "c": "sixty"}') == (
        f'{{"TOKEN": "{MASK}", "b": ["A={MASK}"], "c": "sixty"}}'
    )


def test_secrets_beside_the_command_are_found_at_any_depth() -> None:
    recipe = served(
        keys="executor_config: {env: {HF_TOKEN: three, A: [1, 'API_KEY=four', b=c]}}\n"
        "build_args: [--build-arg, DB_PASSWORD=five]\nbuilder: TOKEN=six"
    )

    assert Secrets.of(recipe).values == {"three", "four", "five", "six"}


def test_secret_of_an_assignment_before_the_engine_is_found() -> None:
    recipe = served()
    command = dataclasses.replace(recipe.command, before=("env", "HF_TOKEN=five", "PORT=6"))

    assert Secrets.of(dataclasses.replace(recipe, command=command)).values == {"five"}
