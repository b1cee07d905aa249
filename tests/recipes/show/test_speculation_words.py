import pytest

from proxy.recipes.show.speculation_words import speculation_words
from tests.recipes.served import served


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        pytest.param("", "none", id="off"),
        pytest.param(
            """--speculative-config '{"method":"mtp","num_speculative_tokens":1}'""",
            "mtp, 1 draft token a step, from a head of the checkpoint",
            id="a head of the checkpoint",
        ),
        pytest.param(
            "--spec-method dflash --spec-tokens 15 --spec-model o/d",
            "dflash, 15 draft tokens a step, from the drafter o/d",
            id="a drafter",
        ),
        pytest.param(
            """--speculative-config '{"method":"ngram","num_speculative_tokens":4}'""",
            "ngram, 4 draft tokens a step",
            id="neither",
        ),
        pytest.param("--spec-model o/d", "from the drafter o/d", id="only a drafter"),
    ],
)
def test_speculation_is_told_in_words(flags: str, words: str) -> None:
    assert speculation_words(served(flags)) == words
