import re
from pathlib import Path

import pytest

from proxy.data_files import recipes_folder
from proxy.errors import RecipeError
from proxy.recipes.evidence.figures import Figure, Status
from proxy.recipes.evidence.results import Measure, Results, read_results

ARTICLE = recipes_folder() / "results" / "article.yaml"
SHIPPED = read_results(ARTICLE)
STATED = [
    pytest.param(figure, id=f"{variant}-{name}")
    for variant, held in SHIPPED.variants.items()
    for name, figure in held.figures.items()
    if figure.status is Status.STATED
]


def changed(folder: Path, old: str, new: str) -> Path:
    """The shipped file with one passage replaced."""
    text = ARTICLE.read_text(encoding="utf-8")
    assert old in text
    path = folder / "article.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def value_of(results: Results, name: str) -> float:
    found = results.figure("", name)
    assert found is not None
    assert found.value is not None
    return float(found.value)


@pytest.mark.parametrize("figure", STATED)
def test_stated_number_stands_in_its_quote(figure: Figure) -> None:
    numbers = {figure.value, figure.at_least, figure.at_most, figure.of} - {None}

    missing = [
        number
        for number in numbers
        if not re.search(rf"(?<![\d.]){number}(?!\d|\.\d)", figure.quote)
    ]

    assert numbers
    assert missing == []


def test_six_variants_are_on_record_and_each_measure_is_a_figure_or_not_stated() -> None:
    variants = {name: held for name, held in SHIPPED.variants.items() if held.recipe}

    assert len(variants) == 6
    for held in variants.values():
        assert {*held.figures, *held.not_stated} >= set(Measure)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("mtp1-auto.tg128_more_than_baseline", 100 * (63.1 / 53.8 - 1), id="auto"),
        pytest.param("mtp1-flashinfer.tg32", 67.6 / 1.026, id="TG32 from that of MTP2"),
        pytest.param("mtp1-flashinfer.ttfr_above_baseline", 148.2 - 112.7, id="TTFR in ms"),
        pytest.param(
            "mtp1-flashinfer.ttfr_more_than_baseline", 100 * (148.2 / 112.7 - 1), id="TTFR"
        ),
        pytest.param("mtp2.tg128_more_than_baseline", 100 * (60.1 / 53.8 - 1), id="MTP2"),
        pytest.param("nvfp4-mtp3.tg128_more_than_baseline", 100 * (114.0 / 53.8 - 1), id="NVFP4"),
    ],
)
def test_derived_number_follows_from_the_stated_ones(name: str, value: float) -> None:
    assert value_of(SHIPPED, name) == pytest.approx(value, abs=0.051)


def test_seven_percent_of_mtp2_fit_the_pinned_run_and_not_the_automatic_one(
    tmp_path: Path,
) -> None:
    path = changed(
        tmp_path, "{percent_less: [tg128, mtp1-flashinfer", "{percent_less: [tg128, mtp1-auto"
    )

    with pytest.raises(RecipeError, match=r"`tg128_less_than_mtp1` does not fit 4\.75"):
        read_results(path)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            "value: 17.3",
            "value: 17.4",
            "`tg128_more_than_baseline` follows as 17.29 (17.08 to 17.49) (correct the number)",
            id="wrong value",
        ),
        pytest.param(
            "at_most: 17.5",
            "at_most: 18.5",
            "`tg128_more_than_baseline` follows as 17.29 (17.08 to 17.49) (correct the number)",
            id="wrong range",
        ),
        pytest.param(
            "        at_most: 17.5\n",
            "",
            "`tg128_more_than_baseline` follows as 17.29 (17.08 to 17.49) (correct the number)",
            id="half a range",
        ),
        pytest.param(
            "at_least: 59.1\n        about: true",
            "at_least: 59.1",
            "`tg512` follows from an approximate number: add `about: true` (correct the number)",
            id="approximate number forgotten",
        ),
        pytest.param(
            "[ttfr, baseline.ttfr]",
            "[ttfr, baseline.ttft]",
            "there is no figure `baseline.ttft` (write NAME or VARIANT.NAME)",
            id="unknown term",
        ),
        pytest.param(
            "      tg256: slightly more than the pinned run\n",
            "",
            "`mtp1-auto`: `tg256` is a figure or not stated, one of both (add or remove `tg256`)",
            id="measure forgotten",
        ),
        pytest.param(
            "    recipe: qwen3.6-35b-a3b-fp8-mtp2.yaml\n",
            "",
            "`mtp2`: every variant but `common` names its recipe (write `recipe: FILE.yaml`)",
            id="no recipe",
        ),
        pytest.param(
            "against: mtp1-auto",
            "against: mtp7",
            "there is no variant `mtp7` (one of common, baseline, mtp1-auto, mtp1-flashinfer, mtp2,"
            " dflash, nvfp4-mtp3)",
            id="held against an unknown variant",
        ),
        pytest.param(
            "ttfr:\n        value: 112.7",
            "ttfr:\n        at_most: 1\n        value: 0",
            "`ttfr_more_than_baseline` cannot be computed from these numbers (correct the number)",
            id="division by zero",
        ),
    ],
)
def test_file_that_contradicts_itself_is_refused(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    path = changed(tmp_path, old, new)

    with pytest.raises(RecipeError) as caught:
        read_results(path)

    found = [str(problem) for problem in caught.value.problems]
    assert any(text.startswith(str(path)) and text.endswith(expected) for text in found)


def test_problem_stands_at_the_figure(tmp_path: Path) -> None:
    path = changed(tmp_path, "value: 17.3", "value: 17.4")
    line = path.read_text(encoding="utf-8").split("value: 17.4")[0].count("\n")

    with pytest.raises(RecipeError) as caught:
        read_results(path)

    assert [problem.place.line for problem in caught.value.problems] == [line]


def test_relative_number_names_the_variant_that_it_is_held_against() -> None:
    relative = {
        name: figure.against
        for held in SHIPPED.variants.values()
        for name, figure in held.figures.items()
        if "_than_" in name or "_above_" in name
    }

    assert relative
    assert all(relative.values())


def test_figure_of_another_variant_is_found_by_both_names() -> None:
    assert SHIPPED.figure("mtp2", "tg32") is SHIPPED.figure("dflash", "mtp2.tg32")
    assert SHIPPED.figure("mtp2", "nothing") is None
    assert SHIPPED.figure("mtp2", "nobody.tg32") is None
