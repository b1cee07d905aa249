import pytest

from proxy.data_files import recipes_folder
from proxy.recipes.compare.comparability import Choice, Chosen, compare
from proxy.recipes.compare.conclusions import conclusions
from proxy.recipes.reading import read_recipe
from proxy.recipes.recipe import Recipe
from tests.recipes.served import CONTAINER, FACTS, served

MTP1 = """--speculative-config '{"method":"mtp","num_speculative_tokens":1}'"""


def concluded(a: Recipe, b: Recipe) -> list[str]:
    return list(conclusions(a, b, compare(a, b)))


def variant(name: str) -> Recipe:
    return read_recipe(recipes_folder() / f"qwen3.6-35b-a3b-{name}.yaml", (), FACTS)


def test_identical_recipes_show_the_scatter_of_measuring() -> None:
    (sentence,) = concluded(served("--port 1"), served("--port 2"))

    assert sentence.startswith("Nothing differs that can move what is measured or promised")


def test_a_difference_is_due_to_the_one_switch_on_one_machine_and_protocol() -> None:
    sentence = concluded(served(), served(MTP1))[0]

    assert sentence == (
        "Only `speculation` differs: a difference in throughput, TTFR or quality is due to it, on"
        " one machine and with one measuring protocol, where it is larger than the scatter of"
        " repeated runs."
    )


# "FlashInfer-Pinning ist Reproduzierbarkeitskontrolle, kein Wundergewinn"
def test_pin_makes_a_path_reproducible_and_is_no_speed_up() -> None:
    _, sentence = concluded(variant("fp8-mtp1-auto"), variant("fp8-mtp1-flashinfer"))

    assert sentence == (
        "B pins `--attention-backend flashinfer`, A lets the engine choose. Where the boot log of A"
        " names the same, both run the same path: a pin makes it reproducible, and is no speed-up"
        " of its own."
    )


# "vLLM hatte bereits im Auto-Modus FlashInfer gewählt."
def test_pin_of_what_the_engine_chose_by_itself_is_the_same_path() -> None:
    baseline, pinned = variant("fp8-baseline"), variant("fp8-mtp1-flashinfer")
    chosen = Chosen(b={"--attention-backend": Choice("flashinfer")})

    sentences = list(conclusions(pinned, baseline, compare(pinned, baseline, chosen)))

    assert sentences[0].startswith("Only `speculation` differs: ")
    assert sentences[1] == (
        "A pins `--attention-backend flashinfer`, which B's engine was seen to choose by itself:"
        " both run the same path. The pin makes it reproducible, and is no speed-up of its own."
    )


# "Die 20 Prozent aus der Zielthese lassen sich FlashInfer nicht isoliert zuschreiben."
def test_gain_of_two_switches_is_laid_to_neither_unless_the_boot_log_tells() -> None:
    sentences = concluded(variant("fp8-baseline"), variant("fp8-mtp1-flashinfer"))

    assert sentences[0].startswith(
        "2 switches differ together: neither speed nor quality can be laid to one of them."
    )
    assert (
        "With the same path on both sides only `speculation` differs: then, and only then, this is"
        " a comparison of one switch."
    ) in sentences


# "Das ist kein belastbarer zweiter Speedup."
def test_pin_of_the_same_path_alone_is_the_scatter_of_measuring() -> None:
    auto, pinned = variant("fp8-mtp1-auto"), variant("fp8-mtp1-flashinfer")
    chosen = Chosen(a={"--attention-backend": Choice("flashinfer")})

    sentences = list(conclusions(auto, pinned, compare(auto, pinned, chosen)))

    assert sentences[0] == (
        "The pin is the only difference, and both run the same path: results of both show how far"
        " measuring alone scatters."
    )
    assert not [sentence for sentence in sentences if "is due to it" in sentence]


def test_several_pins_of_the_same_path_are_laid_to_scatter_too() -> None:
    pinned = served("--attention-backend flashinfer --moe-backend marlin")
    seen = {"--attention-backend": Choice("flashinfer"), "--moe-backend": Choice("MARLIN")}

    sentences = list(conclusions(pinned, served(), compare(pinned, served(), Chosen(b=seen))))

    assert sentences[0].startswith("Pins are the only differences, and both run the same path")
    assert not [sentence for sentence in sentences if "differ together" in sentence]


def test_pin_alone_is_due_only_where_the_engine_chose_another_path() -> None:
    sentence = concluded(served(), served("--attention-backend flashinfer"))[0]

    assert sentence == (
        "Only `--attention-backend` differs, and one side leaves it to the engine: only where that"
        " chose another one can a difference be due to it."
    )


def test_what_follows_from_the_sources_ablation_is_not_called_seen() -> None:
    pinned, mtp2 = variant("fp8-mtp1-flashinfer"), variant("fp8-mtp2")
    chosen = Chosen(b={"--attention-backend": Choice("flashinfer", is_inferred=True)})

    sentence = list(conclusions(pinned, mtp2, compare(pinned, mtp2, chosen)))[1]

    assert sentence == (
        "A pins `--attention-backend flashinfer`, which B's engine chose by itself, as the source's"
        " own ablation implies: both run the same path. The pin makes it reproducible, and is no"
        " speed-up of its own."
    )


def test_pin_of_another_path_than_the_engines_own_is_told_as_two_paths() -> None:
    a, b = served(), served("--attention-backend flashinfer")
    chosen = Chosen(a={"--attention-backend": Choice("FLASH_ATTN")})

    sentences = list(conclusions(a, b, compare(a, b, chosen)))

    assert "is due to it" in sentences[0]
    assert sentences[1] == (
        "B pins `--attention-backend flashinfer`; A's engine was seen to choose `FLASH_ATTN` by"
        " itself: two paths."
    )


@pytest.mark.parametrize(
    ("flags", "unit"),
    [(MTP1, "speculation"), (MTP1.replace(":1}", ":2}"), "speculation tokens")],
)
def test_speculation_is_said_to_be_exact_in_theory_only(flags: str, unit: str) -> None:
    other = served() if unit == "speculation" else served(MTP1)

    sentence = concluded(other, served(flags))[-1]

    assert sentence.startswith(f"`{unit}`: drafts are verified, so that in theory no answer")
    assert "can break tool arguments and strict JSON" in sentence


def test_recipes_that_draft_alike_have_no_word_on_drafts() -> None:
    sentences = concluded(served(f"{MTP1} --max-num-seqs 4"), served(f"{MTP1} --max-num-seqs 8"))

    assert not [sentence for sentence in sentences if "drafts are verified" in sentence]


def test_pins_of_both_sides_are_told_apart() -> None:
    sentences = concluded(
        served("--attention-backend flashinfer --kv-cache-dtype fp8"),
        served("--moe-backend marlin --linear-backend auto"),
    )

    told = [sentence.partition(",")[0] for sentence in sentences if " pins " in sentence]
    assert told == [
        "A pins `--attention-backend flashinfer`",
        "B pins `--moe-backend marlin`",
    ]


def test_pin_beside_several_switches_leaves_no_comparison_of_one() -> None:
    sentences = concluded(variant("fp8-baseline"), variant("fp8-dflash"))

    assert [sentence for sentence in sentences if sentence.startswith("B pins ")]
    assert not [sentence for sentence in sentences if sentence.startswith("With the same path")]


def test_two_pins_alone_are_not_called_one_switch() -> None:
    sentences = concluded(served("--attention-backend flashinfer"), served("--moe-backend marlin"))

    assert not [sentence for sentence in sentences if sentence.startswith("With the same path")]


# "Die Qualitätswerte [...] zeigen den Agentenvertrag des jeweiligen Recipes, bilden [...] aber kein
# striktes Qualitätsranking."
@pytest.mark.parametrize("other", ["fp8-dflash", "nvfp4-mtp3"])
def test_alternatives_are_no_strict_ranking_of_quality(other: str) -> None:
    sentences = concluded(variant("fp8-baseline"), variant(other))

    (ranking,) = [each for each in sentences if each.startswith("No strict ranking of quality")]
    assert ranking.endswith("each result shows what its own recipe promises an agent.")


# "Es ist kein isoliertes A/B: Quantisierungsformat, Container und weitere Serving-Schalter ändern
# sich gemeinsam."
def test_other_quantisation_and_container_are_told() -> None:
    sentences = concluded(variant("fp8-mtp1-flashinfer"), variant("nvfp4-mtp3"))

    assert (
        "Same base model `qwen3.6-35b-a3b`, other quantisation format (FP8 and NVFP4): no direct"
        " A/B, which needs one checkpoint."
    ) in sentences
    assert (
        "Other container: not the same build, so that defaults and kernels may differ without any"
        " switch."
    ) in sentences


def test_checkpoint_of_another_place_is_not_said_to_have_other_weights() -> None:
    sentences = concluded(served(), served(model="other/Tiny-8B-FP8"))

    assert sentences[0] == (
        "Same base model `tiny-8b` from another place: whether the weights are the same, the names"
        " do not tell."
    )


def test_unquantised_checkpoint_has_no_format_to_name() -> None:
    sentences = concluded(served(), served(model="owner/Tiny-8B"))

    assert "other quantisation format (FP8)" in sentences[0]


def test_different_models_are_named_and_their_pins_are_not() -> None:
    sentences = concluded(served("--attention-backend flashinfer"), served(model="o/Other-1B"))

    (sentence,) = sentences
    assert sentence == (
        "`owner/Tiny-8B-FP8` and `o/Other-1B` are different models by their names: nothing that is"
        " measured can be laid to a switch."
    )


def test_image_that_names_no_build_is_told_once() -> None:
    sentences = concluded(served(container="vllm-node"), served(container="vllm-node"))

    assert len(sentences) == 2
    assert sentences[1].startswith("`vllm-node` names no fixed build")


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (
            None,
            None,
            ["No container is named: that both ran the same build must be seen elsewhere."],
        ),
        (CONTAINER, CONTAINER, []),
    ],
)
def test_missing_container_is_told(a: str | None, b: str | None, expected: list[str]) -> None:
    assert concluded(served(container=a), served(container=b))[1:] == expected


def test_other_version_of_the_runtime_may_be_another_build() -> None:
    a, b = (served(keys=f'runtime_version: "{version}"') for version in ("0.24.0", "0.32.0"))

    assert concluded(a, b)[-1] == (
        "`runtime version` may mean another build, so that defaults and kernels may differ without"
        " any switch."
    )


def test_hooks_are_named_since_what_they_do_is_not_seen() -> None:
    sentences = concluded(served(), served(keys="pre_exec: [a]\npost_exec: [b]"))

    assert sentences[-1] == (
        "`pre_exec`, `post_exec` run commands beside the engine; what they do is not compared."
    )
