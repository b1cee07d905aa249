import json
from pathlib import Path

import msgspec
import pytest

from proxy.recipes.vllm.facts import Arity, Kind, VllmFacts, VllmFlag, pinned_facts, read_facts


@pytest.fixture(scope="module")
def facts() -> VllmFacts:
    return pinned_facts()


@pytest.mark.parametrize(
    "spelling",
    ["--tensor-parallel-size", "--tensor_parallel_size", "--tensor-parallel_size", "-tp"],
)
def test_flag_is_found_by_any_spelling(spelling: str, facts: VllmFacts) -> None:
    found = facts.flag(spelling)

    assert found == VllmFlag("--tensor-parallel-size", ("-tp",), Arity.ONE, Kind.INTEGER)


@pytest.mark.parametrize(
    "spelling",
    [
        "--no-enable-prefix-caching",
        "--enable-prefix",
        "--Port",
        "--port=1",
        "--speculative-config.method",
        "-t_p",
        "port",
        "-port",
        "",
        "--",
    ],
)
def test_what_is_no_whole_name_is_not_found(spelling: str, facts: VllmFacts) -> None:
    assert facts.flag(spelling) is None


def test_each_spelling_belongs_to_one_flag(facts: VllmFacts) -> None:
    spellings = [name for flag in facts.flags for name in (flag.name, *flag.aliases)]

    assert len(spellings) == len(set(spellings))
    assert all(name.startswith("-") and not name.startswith("--no-") for name in spellings)


@pytest.mark.parametrize(
    ("name", "arity", "kind"),
    [
        ("--enable-prefix-caching", Arity.SWITCH, Kind.TEXT),
        ("--headless", Arity.FLAG, Kind.TEXT),
        ("--hf-token", Arity.OPTIONAL, Kind.TEXT),
        ("--served-model-name", Arity.MANY, Kind.TEXT),
        ("--max-num-seqs", Arity.ONE, Kind.INTEGER),
        ("--max-model-len", Arity.ONE, Kind.SIZE),
        ("--gpu-memory-utilization", Arity.ONE, Kind.NUMBER),
        ("--speculative-config", Arity.ONE, Kind.JSON),
        ("--compilation-config", Arity.ONE, Kind.JSON),
        ("--hf-overrides", Arity.ONE, Kind.JSON_OR_TEXT),
    ],
)
def test_pinned_flags_are_told_apart(name: str, arity: Arity, kind: Kind, facts: VllmFacts) -> None:
    found = facts.flag(name)

    assert found is not None
    assert (found.arity, found.kind) == (arity, kind)


def test_pinned_names_are_those_of_the_promoted_recipe(facts: VllmFacts) -> None:
    assert facts.version == "0.32.0"
    assert "qwen3_coder" in facts.tool_parsers
    assert "qwen3" in facts.reasoning_parsers
    assert "FLASHINFER" in facts.attention_backends
    assert "fp8" in facts.quantizations
    assert "fp8" in facts.kv_cache_dtypes
    assert {"mtp", "dflash", "ngram"} <= set(facts.speculative_methods)
    assert "VLLM_ENABLE_CUDAGRAPH_GC" in facts.environment


def test_choices_are_in_lower_case_where_any_case_is_taken(facts: VllmFacts) -> None:
    folded = [flag for flag in facts.flags if flag.any_case]

    assert {flag.name for flag in folded} >= {"--moe-backend", "--linear-backend"}
    assert all(choice == choice.lower() for flag in folded for choice in flag.choices)


@pytest.mark.parametrize("source", [b"", b"{}", b"[]", b'{"version": 1}', b"\xff"])
def test_what_are_no_facts_is_refused(source: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        read_facts(source)


def test_pinned_file_stands_beside_the_module_under_its_version(facts: VllmFacts) -> None:
    folder = Path(__file__).parents[3] / "proxy" / "recipes" / "vllm" / "data"

    versions = [json.loads(file.read_bytes())["version"] for file in folder.glob("vllm-*.json")]

    assert versions == [facts.version]
