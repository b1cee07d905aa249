import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.data_files import recipes_folder
from proxy.recipes.compare.comparability import Choice, Chosen, Verdict, compare
from proxy.recipes.compare.diff_results import choices_of, record_of
from proxy.recipes.compare.switch_groups import Effect
from proxy.recipes.evidence.evidence import read_evidence
from proxy.recipes.reading import read_recipe
from proxy.recipes.recipe import Recipe
from tests.recipes.served import FACTS, served

BASELINE, AUTO, PINNED, MTP2 = "fp8-baseline", "fp8-mtp1-auto", "fp8-mtp1-flashinfer", "fp8-mtp2"
DFLASH, NVFP4 = "fp8-dflash", "nvfp4-mtp3"
SIX = (BASELINE, AUTO, PINNED, MTP2, DFLASH, NVFP4)

# "DFlash ergänzt einen separaten Drafter und ändert unter anderem KV-Datentyp, Batchbudget und
# Concurrency"
OF_DFLASH = {
    *("speculation method", "speculation tokens", "speculation drafter"),
    *("--kv-cache-dtype", "--max-num-batched-tokens", "--max-num-seqs"),
}
# "NVFP4/MTP3 wechselt zusätzlich Quantisierungsformat und Container." "Quantisierungsformat,
# Container und weitere Serving-Schalter ändern sich gemeinsam."
OF_NVFP4 = {"model", "--quantization", "container", "speculation tokens"}

PIN = "--attention-backend"
PAIRS = {
    # "Die Kern-Ablation friert Checkpoint, Container, Hardware und Benchmark-Konfiguration ein; nur
    # die Zahl der MTP-Draft-Tokens ändert sich." "Auf dem TG128-Profil mit Auto-Backend springt der
    # Durchsatz von 53.8 auf 63.1 tok/s."
    (BASELINE, AUTO): ["speculation"],
    # "Baseline, MTP1 und MTP2 bilden die direkt vergleichbare Kern-Ablation."
    (BASELINE, MTP2): ["speculation"],
    # "Ein zweiter Draft-Token verbessert diese Kurve nicht."
    (AUTO, MTP2): ["speculation tokens"],
    # "Das ist kein belastbarer zweiter Speedup. [...] das Pinning fixiert vor allem die
    # Backend-Identität gegen verschobene Defaults zwischen Container-Builds."
    (AUTO, PINNED): [PIN],
    # "vLLM hatte bereits im Auto-Modus FlashInfer gewählt. [...] Der eigentliche Sprung kommt von
    # MTP1": the pin is the path that ran before.
    (BASELINE, PINNED): ["speculation"],
    # "Baseline, MTP1 und MTP2 bilden die direkt vergleichbare Kern-Ablation."
    (PINNED, MTP2): ["speculation tokens"],
}


def variant(name: str) -> Recipe:
    return read_recipe(recipes_folder() / f"qwen3.6-35b-a3b-{name}.yaml", (), FACTS)


@pytest.mark.parametrize(("pair", "units"), PAIRS.items(), ids=str)
def test_core_ablation_differs_as_the_article_says(pair: tuple[str, str], units: list[str]) -> None:
    evidence = read_evidence(recipes_folder())
    a, b = map(variant, pair)
    chosen = Chosen(*(choices_of(record_of(evidence, recipe)) for recipe in (a, b)))

    comparison = compare(a, b, chosen)

    assert list(comparison.units) == units
    assert comparison.verdict is Verdict.ONE_SWITCH


@pytest.mark.parametrize("pair", [(BASELINE, PINNED), (PINNED, MTP2)], ids=str)
def test_pin_counts_where_nobody_saw_what_the_engine_chose(pair: tuple[str, str]) -> None:
    comparison = compare(variant(pair[0]), variant(pair[1]))

    assert comparison.verdict is Verdict.LIMITED
    assert len(comparison.units) == 2


@pytest.mark.parametrize(
    ("chosen", "verdict"),
    [
        pytest.param(Chosen(a={PIN: Choice("FLASHINFER")}), Verdict.ONE_SWITCH, id="the same"),
        pytest.param(Chosen(a={PIN: Choice("FLASH_ATTN")}), Verdict.LIMITED, id="another"),
        pytest.param(Chosen(b={PIN: Choice("FLASHINFER")}), Verdict.LIMITED, id="of who pins"),
    ],
)
def test_pin_of_what_the_other_engine_chose_is_the_same_path(
    chosen: Chosen, verdict: Verdict
) -> None:
    a, b = served("--max-num-seqs 4"), served("--max-num-seqs 8 --attention-backend flashinfer")

    comparison = compare(a, b, chosen)

    assert comparison.verdict is verdict
    assert [each.same_path for each in comparison.differences if each.name == PIN] == [
        verdict is Verdict.ONE_SWITCH
    ]


# "Diese beiden Alternativen sind nur eingeschränkt vergleichbar."
@pytest.mark.parametrize("other", [name for name in SIX if name != DFLASH])
def test_dflash_is_limited_and_its_switches_are_named(other: str) -> None:
    comparison = compare(variant(other), variant(DFLASH))

    assert comparison.verdict is Verdict.LIMITED
    assert {each.name for each in comparison.differences} >= OF_DFLASH


# "NVFP4/MTP3 ist ein alternatives Recipe, kein A/B"
@pytest.mark.parametrize("other", [name for name in SIX if name != NVFP4])
def test_nvfp4_is_limited_and_its_switches_are_named(other: str) -> None:
    comparison = compare(variant(other), variant(NVFP4))

    assert comparison.verdict is Verdict.LIMITED
    assert {each.name for each in comparison.differences} >= OF_NVFP4


def test_every_pair_of_the_six_is_judged_above() -> None:
    pairs = {frozenset(pair) for pair in itertools.combinations(SIX, 2)}
    of_alternatives = {pair for pair in pairs if pair & {DFLASH, NVFP4}}

    assert len(pairs) == 15
    assert {frozenset(pair) for pair in PAIRS} == pairs - of_alternatives


# "bilden wegen der zusätzlichen Stack-Unterschiede bei DFlash und NVFP4 aber kein striktes
# Qualitätsranking"
@pytest.mark.parametrize("other", [DFLASH, NVFP4])
def test_switches_of_the_alternatives_may_move_quality(other: str) -> None:
    comparison = compare(variant(BASELINE), variant(other))

    assert any(Effect.QUALITY in each.effects for each in comparison.differences)


def test_pin_of_the_same_path_moves_nothing_and_a_pin_of_another_does() -> None:
    a, b = served(), served("--attention-backend flashinfer")

    same = compare(a, b, Chosen(a={PIN: Choice("FLASHINFER")}))
    other = compare(a, b, Chosen(a={PIN: Choice("FLASH_ATTN")}))

    assert [each.effects for each in same.differences] == [()]
    assert [Effect.QUALITY in each.effects for each in other.differences] == [True]
    assert (same.is_same_path, other.is_same_path) == (True, False)


# "DFlash dreimal 53 von 100, mit Strukturbrüchen und verstümmelten Tool-Argumenten."
def test_speculation_of_dflash_may_move_quality_and_not_only_its_kv_type() -> None:
    comparison = compare(variant(BASELINE), variant(DFLASH))

    moving = {each.name for each in comparison.differences if Effect.QUALITY in each.effects}
    assert moving >= {"speculation method", "speculation drafter", PIN, "--kv-cache-dtype"}


@pytest.mark.parametrize(
    ("a", "b", "units"),
    [
        pytest.param('runtime_version: "0.24.0"', 'runtime_version: "0.32.0"', "runtime version"),
        pytest.param("model_revision: abc", "model_revision: def", "revision"),
        pytest.param("build_args: [--ref, abc]", "build_args: [--ref, def]", "build args"),
        pytest.param("builder: docker-pull", "", "builder"),
        pytest.param("builder_config: {ref: 1}", "builder_config: {ref: 2}", "builder config"),
        pytest.param("containers: {a: b}", "containers: {a: c}", "containers"),
        pytest.param("runtime_config: {a: b}", "", "runtime config"),
        pytest.param("executor: docker", "executor: podman", "executor"),
        pytest.param("executor_config: {shm_size: 1gb}", "", "executor config"),
    ],
)
def test_what_says_which_build_runs_is_a_switch(a: str, b: str, units: str) -> None:
    comparison = compare(served(keys=a), served(keys=b))

    assert comparison.verdict is Verdict.ONE_SWITCH
    assert comparison.units == (units,)


def test_order_of_a_builds_options_makes_no_difference() -> None:
    a, b = (served(keys=f"builder_config: {{{text}}}") for text in ("x: 1, y: 2", "y: 2, x: 1"))

    assert compare(a, b).verdict is Verdict.IDENTICAL


@pytest.mark.parametrize(
    ("flags", "keys"),
    [
        ("--attention-config.backend FLASHINFER", ""),
        ("""--attention-config '{"backend": "flashinfer"}'""", ""),
        ("", "env: {VLLM_ATTENTION_BACKEND: FLASHINFER}"),
    ],
)
def test_attention_backend_is_one_switch_in_any_of_its_spellings(flags: str, keys: str) -> None:
    pinned, other = served(f"{PIN} flashinfer"), served(f"{PIN} flash_attn")
    spelled = served(flags, keys=keys)

    assert compare(pinned, spelled).verdict is Verdict.IDENTICAL
    assert compare(other, spelled).units == (PIN,)
    (pin,) = compare(served(), spelled, Chosen(a={PIN: Choice("flashinfer")})).differences
    assert pin.same_path


def test_address_key_and_served_name_do_not_count() -> None:
    a = served("--port 8000 --host 0.0.0.0 --served-model-name a")
    b = served("--port 8001 --host 127.0.0.1 --served-model-name b --api-key secret")

    comparison = compare(a, b)

    assert comparison.verdict is Verdict.IDENTICAL
    assert comparison.differences == ()
    assert {each.name for each in comparison.uncounted} == {
        *("--port", "--host", "--served-model-name", "--api-key"),
    }


@pytest.mark.parametrize(
    ("a", "b", "units"),
    [
        pytest.param(
            '{"method":"mtp","num_speculative_tokens":1}',
            '{"method":"mtp","num_speculative_tokens":2}',
            ("speculation tokens",),
            id="more tokens",
        ),
        pytest.param(
            '{"method":"mtp","num_speculative_tokens":1}',
            '{"method":"eagle3","num_speculative_tokens":3,"model":"o/d"}',
            ("speculation",),
            id="another method brings the rest with it",
        ),
        pytest.param(
            '{"method":"eagle3","num_speculative_tokens":2,"model":"o/c"}',
            '{"method":"eagle3","num_speculative_tokens":3,"model":"o/d"}',
            ("speculation tokens", "speculation drafter"),
            id="tokens and drafter of one method are two",
        ),
        pytest.param(
            '{"method":"qwen3_next_mtp","num_speculative_tokens":1}',
            '{"method":"mtp","num_speculative_tokens":1}',
            (),
            id="two names of one method",
        ),
    ],
)
def test_speculation_counts_by_its_method(a: str, b: str, units: Sequence[str]) -> None:
    comparison = compare(
        served(f"--speculative-config '{a}'"), served(f"--speculative-config '{b}'")
    )

    assert comparison.units == units


def test_variable_beside_speculation_is_a_switch_of_its_own() -> None:
    speculating = served(
        """--speculative-config '{"method":"mtp","num_speculative_tokens":1}'""",
        keys="env: {VLLM_MTP_INDEX_SHARE: 1}",
    )

    assert set(compare(served(), speculating).units) == {"speculation", "VLLM_MTP_INDEX_SHARE"}


@pytest.mark.parametrize(
    ("model", "verdict"),
    [
        pytest.param("other/Tiny-8B-NVFP4", Verdict.LIMITED, id="another format"),
        pytest.param("other/Tiny-8B-FP8", Verdict.LIMITED, id="another maker"),
        pytest.param("owner/Tiny-9B-FP8", Verdict.DIFFERENT_MODEL, id="another model"),
    ],
)
def test_other_checkpoint_is_never_one_switch(model: str, verdict: Verdict) -> None:
    assert compare(served(), served(model=model)).verdict is verdict


def test_copy_in_a_hubs_cache_is_the_same_checkpoint() -> None:
    folder = "/cache/models--owner--Tiny-8B-FP8"

    assert compare(served(), served(model=folder)).verdict is Verdict.IDENTICAL
    assert compare(served(), served(model=f"{folder}/snapshots/60d8d70770c6")).units == (
        "revision",
    )


@pytest.mark.parametrize(
    ("a", "b", "is_pin"),
    [
        ("", f"{PIN} flashinfer", True),
        (f"{PIN} auto", f"{PIN} flashinfer", True),
        (f"{PIN} flash_attn", f"{PIN} flashinfer", False),
        ("", "--enforce-eager", False),
        ("", "--distributed-executor-backend ray", False),
    ],
)
def test_pin_is_a_kernels_backend_that_only_one_side_fixes(a: str, b: str, is_pin: bool) -> None:
    (difference,) = compare(served(a), served(b)).differences

    assert difference.is_pin is is_pin


def test_default_is_not_guessed() -> None:
    comparison = compare(served(), served("--max-num-seqs 256"))

    (difference,) = comparison.differences
    assert difference.a is None
    assert comparison.verdict is Verdict.ONE_SWITCH


# Spellings of one switch, each a list of words.
SPELLINGS = (
    ("-tp 2", "-tp=2", "--tensor-parallel-size 2", "--tensor_parallel_size=2"),
    ("--max-model-len 262144", "--max-model-len=256K", "--max_model_len 262144"),
    ("--gpu-memory-utilization 0.70", "--gpu-memory-utilization=0.7"),
    (
        "--attention-backend flashinfer",
        "--attention-backend=FLASHINFER",
        "--attention-config.backend flashinfer",
        """--attention-config '{"backend":"FLASHINFER"}'""",
    ),
    ("--enable-prefix-caching", "--enable_prefix_caching"),
    (
        """--speculative-config '{"method":"mtp","num_speculative_tokens":1}'""",
        """-sc '{"num_speculative_tokens": 1, "method": "mtp"}'""",
        "--speculative-config.method mtp --speculative-config.num_speculative_tokens 1",
        "--spec-tokens 1 --spec-method=mtp",
    ),
)
SWITCHES = (
    *(spellings[0] for spellings in SPELLINGS),
    "--max-num-seqs 4",
    "--max-num-seqs 8",
    "--kv-cache-dtype fp8",
    "--port 8001",
    "--tool-call-parser qwen3_coder",
    """--speculative-config '{"method":"dflash","num_speculative_tokens":15,"model":"o/d"}'""",
)


@st.composite
def spelled_flags(draw: st.DrawFn) -> str:
    chosen = [draw(st.sampled_from(spellings)) for spellings in SPELLINGS]
    return " ".join(draw(st.permutations(chosen)))


flags = st.lists(st.sampled_from(SWITCHES), unique=True, max_size=6).map(" ".join)


@given(spelled_flags(), spelled_flags())
def test_order_and_spelling_never_make_a_difference(one: str, other: str) -> None:
    comparison = compare(served(one), served(other))

    assert comparison.differences == comparison.uncounted == ()


@given(flags)
def test_recipe_is_identical_with_itself(one: str) -> None:
    comparison = compare(served(one), served(one))

    assert comparison.verdict is Verdict.IDENTICAL
    assert comparison.uncounted == ()


@given(flags, flags)
def test_what_differs_does_not_depend_on_which_comes_first(one: str, other: str) -> None:
    there, back = compare(served(one), served(other)), compare(served(other), served(one))

    assert there.verdict is back.verdict
    assert set(there.units) == set(back.units)
    assert {(each.name, each.a is None, each.b is None) for each in there.differences} == {
        (each.name, each.b is None, each.a is None) for each in back.differences
    }
