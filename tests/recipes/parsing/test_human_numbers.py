import pytest

from proxy.recipes.parsing.human_numbers import read_number


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("262144", 262144),
        ("-1", -1),
        ("8k", 8000),
        ("8K", 8192),
        ("256K", 262144),
        ("1m", 1_000_000),
        ("2G", 2 * 1024**3),
        ("25.6k", 25_600),
    ],
)
def test_suffixes_mean_what_vllm_means(text: str, expected: int) -> None:
    assert read_number(text) == expected


@pytest.mark.parametrize(
    "text", ["", "auto", "8 k", "1.5", "25.6K", "8kb", "1e5", "\uff19", "9" * 19]
)
def test_other_texts_are_no_numbers(text: str) -> None:
    assert read_number(text) is None
