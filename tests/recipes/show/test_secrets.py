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
