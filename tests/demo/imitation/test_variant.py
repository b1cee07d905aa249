import pytest

from proxy.data_files import recipes_folder
from proxy.demo.imitation.variant import VariantName
from proxy.recipes.evidence.results import read_results
from tests.fakes.imitation import variant

NAMES = list(VariantName)
ARTICLE = {
    VariantName.BASELINE: "baseline",
    VariantName.MTP1: "mtp1-flashinfer",
    VariantName.MTP2: "mtp2",
    VariantName.DFLASH: "dflash",
    VariantName.NVFP4: "nvfp4-mtp3",
}


@pytest.mark.parametrize("name", NAMES)
def test_what_the_article_states_is_kept_and_the_rest_says_assumed(name: VariantName) -> None:
    figures = read_results(recipes_folder() / "results" / "article.yaml").variants[ARTICLE[name]]
    kept = {"ttfr": variant(name).ttfr} | {
        f"tg{length}": given for length, given in variant(name).rates.items()
    }

    for measure, given in kept.items():
        figure = figures.figures.get(measure)
        stated = figure is not None and figure.value is not None
        assert given.assumed == (not stated)
        if figure is not None and figure.value is not None:
            assert given.value == float(figure.value)


def test_assumed_response_time_of_mtp2_lies_in_the_article_s_bounds() -> None:
    assert 178.4 <= variant(VariantName.MTP2).ttfr.value <= 190.8


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tokens", [32, 128, 256, 512])
def test_acceptance_and_rate_agree(name: VariantName, tokens: int) -> None:
    kept = variant(name)
    chance = kept.acceptance(tokens)

    mean = 1 + sum(chance**position for position in range(1, kept.draft_tokens + 1))

    assert 0 <= chance < 1
    if kept.draft_tokens:
        assert mean / kept.step_seconds == pytest.approx(kept.tokens_per_second(tokens), rel=1e-6)


@pytest.mark.parametrize(
    ("tokens", "rate"), [(1, 65.9), (32, 65.9), (80, 65.25), (128, 64.6), (9000, 60.0)]
)
def test_rate_between_two_lengths_lies_between_theirs(tokens: int, rate: float) -> None:
    assert variant().tokens_per_second(tokens) == pytest.approx(rate)


def test_draft_tokens_and_sequences_are_the_recipe_s() -> None:
    assert [variant(name).draft_tokens for name in NAMES] == [0, 1, 2, 15, 3]
    assert [variant(name).seats.assumed for name in NAMES] == [False, False, False, True, False]


def test_numbers_say_how_they_are_known() -> None:
    told = [str(number) for number in variant().numbers()]

    assert "TTFR 148.2 ms: stated in the article" in told
    assert "decode rate at 32 tokens 65.9 tok/s: derived in the article" in told
    assert "max_num_seqs 4: in the recipe" in told
    assert any(line.startswith("acceptance of a draft token 0.7: assumed: ") for line in told)


def test_model_is_named_an_imitation() -> None:
    assert variant(VariantName.NVFP4).model == "imitation-nvfp4"
