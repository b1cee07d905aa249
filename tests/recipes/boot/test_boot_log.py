"""Lines of 0.32 were printed by a real vLLM on the CPU; those for GPUs are quoted from reports."""

from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.recipes.boot.boot_log import BootLog, Phase

RECORDED: Final = Path(__file__).parents[2] / "recorded" / "vllm_boot_mtp2.log"
GPU: Final = """\
(APIServer pid=1) INFO 05-01 19:34:01 [utils.py:286] non-default args: {'model_tag': 'm'}
(EngineCore pid=187) INFO 05-01 19:35:12 [core.py:105] Initializing a V1 LLM engine (v0.20.1) with \
config: model='m', speculative_config=None, tokenizer='m'
(EngineCore pid=187) INFO 05-01 19:35:13 [gpu_model_runner.py:4800] Starting to load model m...
(EngineCore pid=187) INFO 05-01 19:35:13 [cuda.py:368] Using FLASHINFER attention backend out of \
potential backends: ['FLASHINFER', 'TRITON_ATTN'].
Loading safetensors checkpoint shards:  36% Completed | 4/11 [00:03<00:06,  1.05it/s]
(EngineCore pid=187) INFO 05-01 19:15:56 [default_loader.py:384] Loading weights took 28.10 seconds
(EngineCore pid=187) INFO 05-01 19:15:56 [gpu_model_runner.py:4879] Model loading took 21.86 GiB \
memory and 30.729705 seconds
(EngineCore pid=187) INFO 05-01 19:16:14 [backends.py:1128] Dynamo bytecode transform time: 7.29 s
(EngineCore pid=187) INFO 05-01 19:16:51 [monitor.py:53] torch.compile took 44.17 s in total
(EngineCore pid=187) INFO 05-01 19:17:40 [gpu_worker.py:436] Available KV cache memory: 10.14 GiB
(EngineCore pid=187) INFO 05-01 19:17:40 [kv_cache_utils.py:1307] GPU KV cache size: 33,216 tokens
(EngineCore pid=187) INFO 05-01 19:17:40 [kv_cache_utils.py:1312] Maximum concurrency for 448 \
tokens per request: 26.62x
Capturing CUDA graphs (decode, FULL): 100%|##########| 35/35 [00:02<00:00, 13.85it/s]
(EngineCore pid=187) INFO 05-01 19:17:50 [gpu_model_runner.py:5063] Graph capturing finished in \
3 secs, took 0.22 GiB
(EngineCore pid=187) INFO 05-01 19:17:50 [core.py:290] init engine (profile, create kv cache, \
warmup model) took 70.62 s (compilation: 42.18 s)
"""


def read(text: str) -> BootLog:
    log = BootLog()
    for line in text.splitlines():
        log.read(line)
    return log


def phases(text: str) -> list[Phase]:
    log = BootLog()
    seen = [log.phase]
    for line in text.splitlines():
        log.read(line)
        if log.phase is not seen[-1]:
            seen.append(log.phase)
    return seen


def test_real_boot_passes_its_phases_in_order() -> None:
    assert phases(RECORDED.read_text()) == [
        Phase.PROGRAM,
        Phase.ARGUMENTS,
        Phase.ENGINE,
        Phase.WEIGHTS,
        Phase.KV_CACHE,
        Phase.SERVER,
    ]


def test_real_boot_tells_its_facts_and_the_warning_of_two_draft_tokens() -> None:
    log = read(RECORDED.read_text())

    assert log.same_mtp_layer
    assert log.facts == {
        "vllm": "0.32.0",
        "max_model_len": "2048",
        "speculative_config": "method=mtp, model=/models/smollm2-mtp, num_spec_tokens=2",
        "weights_seconds": "1.32",
        "kv_cache_tokens": "45056",
        "max_concurrency": "22.00",
        "engine_seconds": "3.85",
        "same_mtp_layer": "warned",
    }


def test_boot_on_a_gpu_profiles_compiles_and_captures_graphs_too() -> None:
    assert phases(GPU) == list(Phase)[:-1]


def test_boot_on_a_gpu_tells_memory_and_times() -> None:
    log = read(GPU)

    assert not log.same_mtp_layer
    assert log.facts == {
        "vllm": "0.20.1",
        "speculative_config": "none",
        "attention_backend": "FLASHINFER",
        "weights_seconds": "28.10",
        "model_gib": "21.86",
        "load_seconds": "30.729705",
        "compile_seconds": "44.17",
        "kv_cache_gib": "10.14",
        "kv_cache_tokens": "33216",
        "max_concurrency": "26.62",
        "graph_seconds": "3",
        "graph_gib": "0.22",
        "engine_seconds": "70.62",
    }


@pytest.mark.parametrize(
    ("said", "backend"),
    [
        ("Using AttentionBackendEnum.FLASHINFER backend.", "FLASHINFER"),
        ("Using CPU_MLA backend.", "CPU_MLA"),
        ("Using FLASHINFER_MLA attention backend out of potential backends: [", "FLASHINFER_MLA"),
        ("Using ROCM_ATTN backend out of potential backends: [", "ROCM_ATTN"),
        ("Using Flash Attention backend on V1 engine.", "Flash Attention"),
        ("Using FlashInfer backend on V1 engine.", "FlashInfer"),
    ],
    ids=["enum", "name", "chosen", "rocm", "words", "camel"],
)
def test_attention_backend_is_found_in_every_wording(said: str, backend: str) -> None:
    log = read(f"(EngineCore pid=187) INFO 05-01 19:35:13 [cuda.py:368] {said}")

    assert log.facts == {"attention_backend": backend}


@pytest.mark.parametrize(
    "said",
    [
        "Using Triton backend",
        "Using 'FLASHINFER_CUTLASS' NvFp4 MoE backend out of potential backends: ['MARLIN'].",
        "Using AttentionBackendEnum.FLASH_ATTN for MMEncoderAttention.",
        "Cannot use FLASH_ATTN backend on CPU.",
    ],
    ids=["moe", "nvfp4", "vision", "refused"],
)
def test_backend_of_another_part_is_not_taken_for_attention(said: str) -> None:
    assert "attention_backend" not in read(f"INFO 05-01 19:35:13 [x.py:3] {said}").facts


def test_first_statement_of_a_fact_counts_since_a_drafter_repeats_them() -> None:
    log = read("Loading weights took 9.5 seconds\nLoading weights took 0.5 seconds")

    assert log.facts["weights_seconds"] == "9.5"


def test_progress_is_that_of_the_running_phase() -> None:
    log = read(
        "Starting to load model m...\n"
        "Loading safetensors checkpoint shards:  36% Completed | 4/11 [00:03"
    )
    during = log.progress

    log.read("Model loading took 21.86 GiB memory and 30.7 seconds")

    assert (during, log.progress) == ("36% of the shards, 4/11", "")


def test_phase_never_goes_back() -> None:
    log = read("INFO:     Started server process [7306]\nStarting to load model the drafter...")
    log.reach(Phase.WEIGHTS)

    assert log.phase is Phase.SERVER


@given(st.text(max_size=300))
def test_no_line_breaks_the_reading_and_facts_stay_short_and_printable(line: str) -> None:
    log = BootLog()

    for text in (
        line,
        f"Initializing a V1 LLM engine (v1) speculative_config=SpeculativeConfig({line})",
    ):
        log.read(text)

    assert all(len(fact) <= 200 and fact.isprintable() for fact in log.facts.values())
