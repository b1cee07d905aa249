from pathlib import Path

import pytest

from proxy.data_files import recipes_folder
from proxy.recipes.evidence.evidence import read_evidence
from proxy.recipes.evidence.fit import Answer, Fit, fit
from proxy.recipes.evidence.fit_finding import Kind
from proxy.recipes.evidence.subject import Subject, of_the_table
from proxy.recipes.reading import read_recipe
from tests.recipes.made import recipe_of

FOLDER = recipes_folder()
EVIDENCE = read_evidence(FOLDER)
NO_GPU = Subject("this machine", 0, is_here=True, trouble="no driver")


def held(variant: str, machine: str, *overrides: str) -> Fit:
    recipe = read_recipe(FOLDER / f"qwen3.6-35b-a3b-{variant}.yaml", overrides)
    return fit(recipe, of_the_table(machine, EVIDENCE.hardware), EVIDENCE)


def texts(found: Fit, kind: Kind) -> list[str]:
    return [finding.text for finding in found.findings if finding.kind is kind]


@pytest.mark.parametrize(
    ("variant", "machine", "answer"),
    [
        ("fp8-mtp1-flashinfer", "dgx-spark", Answer.MEASURED),
        ("fp8-baseline", "dgx-spark", Answer.MEASURED),
        ("fp8-mtp1-auto", "dgx-spark", Answer.MEASURED),
        ("fp8-mtp2", "dgx-spark", Answer.MEASURED),
        # The article tells only in part what it measured here.
        ("fp8-dflash", "dgx-spark", Answer.TRANSFER),
        ("nvfp4-mtp3", "dgx-spark", Answer.TRANSFER),
        ("fp8-mtp1-flashinfer", "h200", Answer.TRANSFER),
        ("fp8-mtp1-flashinfer", "rtx-5090", Answer.CONFLICT),
        ("fp8-mtp1-flashinfer", "apple-silicon", Answer.CONFLICT),
        ("fp8-mtp1-flashinfer", "strix-halo", Answer.TRANSFER),
    ],
)
def test_answer_says_how_much_is_known(variant: str, machine: str, answer: Answer) -> None:
    assert held(variant, machine).answer is answer


def test_conflict_stands_first() -> None:
    found = held("fp8-mtp1-flashinfer", "rtx-5090")

    kinds = [finding.kind for finding in found.findings]
    assert kinds[0] is Kind.CONFLICT
    assert kinds.count(Kind.CONFLICT) == 1


def test_measured_recipe_on_the_measured_machine_shows_its_numbers_as_evidence() -> None:
    found = held("fp8-mtp1-flashinfer", "dgx-spark")

    evidence = texts(found, Kind.EVIDENCE)
    assert "TG128: 64.6 tok/s, stated; mean of 3 runs" in evidence
    assert "TTFR: 148.2 ms, stated" in evidence
    assert not [text for text in evidence if "derived" in text or "bounded" in text]


@pytest.mark.parametrize(
    ("variant", "kind", "text"),
    [
        (
            "fp8-mtp1-flashinfer",
            Kind.DERIVED,
            "TG32: 65.9 tok/s, derived; = mtp2.tg32 / (1 + mtp2.tg32_more_than_mtp1 / 100)",
        ),
        (
            "fp8-mtp1-auto",
            Kind.BOUNDED,
            (
                "TG512: at least about 59.1 tok/s, bounded; = baseline.tg512 * (1 +"
                " tg512_more_than_baseline / 100)"
            ),
        ),
    ],
)
def test_what_was_not_measured_is_no_evidence(variant: str, kind: Kind, text: str) -> None:
    found = held(variant, "dgx-spark")

    assert text in texts(found, kind)
    assert text not in texts(found, Kind.EVIDENCE)


def test_what_the_source_leaves_out_is_said() -> None:
    unknown = texts(held("nvfp4-mtp3", "dgx-spark"), Kind.UNKNOWN)

    assert "not stated: TG32, TG256, TG512, TTFR, Tool Eval short, teasers" in unknown
    assert any(text.startswith("not stated of any recipe: ") for text in unknown)


def test_on_another_machine_no_number_is_shown_but_how_they_compare() -> None:
    found = held("fp8-mtp1-flashinfer", "h200")

    transfer = texts(found, Kind.TRANSFER)
    assert texts(found, Kind.EVIDENCE) == []
    assert not any("tok/s" in text or " ms" in text for text in transfer)
    assert any(text.startswith("TG128 more than baseline: 20.0 percent") for text in transfer)
    assert 'says the source: "Die Messwerte gelten nur für die getestete DGX Spark."' in transfer


def test_one_switch_away_the_numbers_are_transfer_and_the_switch_is_named() -> None:
    found = held("fp8-mtp1-flashinfer", "dgx-spark", "max_num_seqs=8")

    transfer = texts(found, Kind.TRANSFER)
    assert found.answer is Answer.TRANSFER
    assert transfer[0] == (
        "the nearest on record is qwen3.6-35b-a3b-fp8-mtp1-flashinfer.yaml, measured on this kind"
        " of machine (dgx-spark); yours differs in --max-num-seqs"
    )
    assert "TG128: 64.6 tok/s, stated; mean of 3 runs" in transfer
    assert texts(found, Kind.EVIDENCE) == []


def test_several_switches_away_no_number_is_shown() -> None:
    found = held("fp8-mtp1-flashinfer", "dgx-spark", "max_num_seqs=8", "max_model_len=4096")

    (standing,) = texts(found, Kind.TRANSFER)
    assert standing.endswith("yours differs in --max-num-seqs, --max-model-len")


def test_recipe_that_only_stands_for_what_was_measured_says_what_is_assumed() -> None:
    found = held("fp8-dflash", "dgx-spark")

    assumed = texts(found, Kind.ASSUMED)
    assert texts(found, Kind.TRANSFER)[0] == (
        "this recipe is qwen3.6-35b-a3b-fp8-dflash.yaml, which only stands for what was measured"
        " on this kind of machine (dgx-spark)"
    )
    assert assumed[0].startswith("these switches are not the source's: speculation drafter, ")
    assert assumed[1].startswith("of all other switches: the article names what changes")


def test_article_limits_how_an_alternative_may_be_compared() -> None:
    transfer = texts(held("fp8-dflash", "dgx-spark"), Kind.TRANSFER)

    assert any(
        text.startswith("comparable with the other recipes only within") for text in transfer
    )


def test_another_model_has_nothing_on_record(tmp_path: Path) -> None:
    text = 'recipe_version: "1"\nname: n\ncontainer: c\ncommand: vllm serve openai/gpt-oss-120b\n'
    subject = of_the_table("dgx-spark", EVIDENCE.hardware)

    found = fit(recipe_of(tmp_path, text), subject, EVIDENCE)

    assert found.answer is Answer.UNKNOWN
    assert found.match is None
    assert texts(found, Kind.UNKNOWN)[0] == "no result is on record for this model"


def test_machine_without_a_gpu_has_no_evidence() -> None:
    recipe = read_recipe(FOLDER / "qwen3.6-35b-a3b-fp8-baseline.yaml")

    found = fit(recipe, NO_GPU, EVIDENCE)

    assert found.answer is Answer.TRANSFER
    assert texts(found, Kind.EVIDENCE) == []
