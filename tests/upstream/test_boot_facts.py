import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.upstream.boot_facts import Facts, facts_of_models, facts_of_page, facts_of_version
from proxy.upstream.counters import MetricsPage

RECORDED = Path(__file__).parents[1] / "recorded"


def _page(text: bytes) -> Facts:
    page = MetricsPage()
    page.feed(text)
    return facts_of_page(page)


@pytest.mark.parametrize(
    ("page", "drafts"),
    [
        ("cold", {"speculative": "False"}),
        ("ngram", {"speculative": "True", "speculative_tokens": "2"}),
    ],
)
def test_page_of_a_real_engine_tells_model_cache_and_drafts(page: str, drafts: Facts) -> None:
    assert _page((RECORDED / f"vllm_metrics_{page}.txt").read_bytes()) == {
        "model": "tiny",
        "num_gpu_blocks": "364",
        "block_size": "128",
        "cache_dtype": "auto",
        "enable_prefix_caching": "True",
        "gpu_memory_utilization": "0.92",
        **drafts,
    }


def test_page_of_another_server_tells_nothing() -> None:
    assert _page(b"llamacpp:tokens_total 3\nprocess_start_time_seconds 1\n") == {}


def test_facts_that_are_not_set_are_left_out() -> None:
    page = b'vllm:cache_config_info{num_gpu_blocks="None",block_size="",cache_dtype="fp8"} 1\n'

    assert _page(page) == {"cache_dtype": "fp8", "speculative": "False"}


@pytest.mark.parametrize("position", ["", "-1", "1e3", "1000", "²", "one"])
def test_position_that_is_no_number_counts_no_draft_token(position: str) -> None:
    name = "vllm:spec_decode_num_accepted_tokens_per_pos_total"

    facts = _page(f'{name}{{position="{position}"}} 0\n{name}{{position="0"}} 0\n'.encode())

    assert facts["speculative_tokens"] == "1"


def test_first_of_several_engines_and_models_counts() -> None:
    lines = (
        'vllm:prompt_tokens_total{engine="0",model_name="one"} 0',
        'vllm:prompt_tokens_total{engine="1",model_name="two"} 0',
        'vllm:cache_config_info{engine="0",block_size="16"} 1',
        'vllm:cache_config_info{engine="1",block_size="32"} 1',
        "",
    )

    facts = _page("\n".join(lines).encode())

    assert (facts["model"], facts["block_size"]) == ("one", "16")


def test_version_is_what_the_server_says() -> None:
    assert facts_of_version(b'{"version":"0.32.0"}') == {"vllm": "0.32.0"}


def test_first_model_tells_its_names_and_length() -> None:
    first = {"id": "base", "root": "Qwen/base", "max_model_len": 2048, "object": "model"}
    models = [first, {"id": "adapter", "root": "lora"}]

    facts = facts_of_models(json.dumps({"object": "list", "data": models}).encode())

    assert facts == {"model": "base", "root": "Qwen/base", "max_model_len": "2048"}


@pytest.mark.parametrize(
    "body",
    [b"", b"Not Found", b"[]", b'{"version":3}', b'{"data":{}}', b"\xff", b"[" * 100_000],
    ids=["empty", "text", "list", "number", "object", "bytes", "deep"],
)
def test_body_that_cannot_be_read_tells_nothing(body: bytes) -> None:
    assert facts_of_version(body) == {}
    assert facts_of_models(body) == {}


def test_values_are_cut_and_printable() -> None:
    facts = facts_of_version(json.dumps({"version": "1\n\x1b[31m\u202e" + "9" * 500}).encode())

    assert facts["vllm"] == ("1[31m" + "9" * 500)[:200]


@given(st.text())
def test_any_name_of_a_model_becomes_a_short_printable_fact(name: str) -> None:
    facts = facts_of_models(json.dumps({"data": [{"id": name}]}).encode())

    assert all(len(value) <= 200 and value.isprintable() for value in facts.values())
