from pathlib import Path

import pytest

from tests.recipes.checked import FIRST, codes, found

CONTRADICTIONS = {
    "tool-parser-missing",
    "tool-choice-off",
    "batch-too-small",
    "batch-below-context",
    "two-attention-backends",
    "eager-without-graphs",
    "log-outputs-alone",
    "metrics-off",
    "more-gpus-than-one-node",
    "ray-on-one-node",
    "served-name-is-model",
    "model-differs",
    "open-address",
}


def command(flags: str, keys: str = "") -> str:
    return f"{FIRST}{keys}command: vllm serve a/b {flags}\n"


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [
        pytest.param(
            command("--enable-auto-tool-choice"),
            "tool-parser-missing",
            "4:25 error: `--enable-auto-tool-choice` needs `--tool-call-parser`: vLLM does not "
            "start (add `--tool-call-parser` with the parser of the model)",
            id="tools without a parser",
        ),
        pytest.param(
            command("--tool-call-parser hermes"),
            "tool-choice-off",
            "4:25 warning: `--tool-call-parser` does nothing without `--enable-auto-tool-choice`: "
            "requests with tools are refused (add `--enable-auto-tool-choice`)",
            id="parser without tools",
        ),
        pytest.param(
            command("--max-num-batched-tokens 4 --max-num-seqs 8"),
            "batch-too-small",
            "4:50 error: `--max-num-batched-tokens` is 4, below `--max-num-seqs` 8: vLLM does not "
            "start (raise it, or lower `--max-num-seqs`)",
            id="batch below the sequences",
        ),
        pytest.param(
            command("--max-num-batched-tokens 8k --max-model-len 16k --no-enable-chunked-prefill"),
            "batch-below-context",
            "4:50 error: `--max-num-batched-tokens` is 8000, below `--max-model-len` 16000, and "
            "chunked prefill is off: vLLM does not start "
            "(raise it to 16000, or remove `--no-enable-chunked-prefill`)",
            id="batch below the context",
        ),
        pytest.param(
            command(
                "--attention-backend flashinfer", "env: {VLLM_ATTENTION_BACKEND: FLASH_ATTN}\n"
            ),
            "two-attention-backends",
            "4:31 warning: `VLLM_ATTENTION_BACKEND` says `FLASH_ATTN`, `--attention-backend` says "
            "`flashinfer` (remove the variable; vLLM 0.32.0 reads the flag only)",
            id="two attention backends",
        ),
        pytest.param(
            command("--enforce-eager --compilation-config '{{}}'"),
            "eager-without-graphs",
            "4:41 warning: `--compilation-config` has no effect on graphs beside "
            "`--enforce-eager`, which turns compilation and CUDA graphs off "
            "(remove one of the two)",
            id="graphs of an eager engine",
        ),
        pytest.param(
            command("--enable-log-outputs"),
            "log-outputs-alone",
            "4:25 error: `--enable-log-outputs` needs `--enable-log-requests`: vLLM does not "
            "start (add `--enable-log-requests`)",
            id="outputs logged, requests not",
        ),
        pytest.param(
            command("--disable-log-stats"),
            "metrics-off",
            "4:25 warning: `--disable-log-stats` turns vLLM's counters off, by which cold starts "
            "and acceptance rates are told (remove it)",
            id="no counters",
        ),
        pytest.param(
            command("-tp 2 -pp 2", "solo_only: true\n"),
            "more-gpus-than-one-node",
            "5:29 warning: the recipe runs on one node and wants 4 GPUs; a DGX Spark has one "
            "(lower it to 1, or allow more nodes)",
            id="more GPUs than one node has",
        ),
        pytest.param(
            command("--distributed-executor-backend ray", "solo_only: true\n"),
            "ray-on-one-node",
            "5:25 note: one node needs no Ray; run-recipe removes the flag there, others hand it "
            "over (remove it)",
            id="Ray on one node",
        ),
        pytest.param(
            command("--served-model-name a/b"),
            "served-name-is-model",
            "4:45 note: `served_model_name` equals the model: it changes nothing, and clients must "
            "ask for `a/b` (give it a short name, or remove it)",
            id="name that is the model",
        ),
        pytest.param(
            command("", "model: c/d\n"),
            "model-differs",
            "4:8 warning: `model` is `c/d`, and the command loads `a/b` "
            "(name the same one in both)",
            id="two models",
        ),
        pytest.param(
            command("--host {host}", "defaults: {host: 0.0.0.0}\n"),
            "open-address",
            "4:18 note: with the host `0.0.0.0`, whoever reaches the port uses the engine past "
            "the gate (with Sluicegate on the same machine, use `127.0.0.1`)",
            id="open address",
        ),
    ],
)
def test_each_finding_has_place_message_and_remedy(
    tmp_path: Path, text: str, code: str, expected: str
) -> None:
    assert found(tmp_path, text, code) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        command("--enable-auto-tool-choice --tool-call-parser hermes"),
        command("--no-enable-auto-tool-choice"),
        command("--max-num-batched-tokens 8k --max-model-len 16k --max-num-seqs 8"),
        command("--attention-backend flash_attn", "env: {VLLM_ATTENTION_BACKEND: FLASH_ATTN}\n"),
        command("--no-enforce-eager --compilation-config '{{}}'"),
        command("--enable-log-outputs --enable-log-requests --host 127.0.0.1"),
        command("-tp 2 --distributed-executor-backend ray"),
        command("--served-model-name a/b short", "model: a/b\n"),
        f"{FIRST}model: a/b\ncommand: vllm serve /models/b\n",
    ],
)
def test_switches_that_agree_are_no_finding(tmp_path: Path, text: str) -> None:
    assert not codes(tmp_path, text) & CONTRADICTIONS


def test_address_that_is_left_to_vllm_is_a_note(tmp_path: Path) -> None:
    assert found(tmp_path, command("--port 1"), "default-address") == [
        (
            "4:10 note: without `--host`, vLLM listens on every address: whoever reaches the port "
            "uses the engine past the gate (with Sluicegate on the same machine, add "
            "`--host 127.0.0.1`)"
        )
    ]


@pytest.mark.parametrize("flag", ["--host 127.0.0.1", "--host 0.0.0.0", "--uds /tmp/x"])
def test_address_that_is_named_is_not_left_to_vllm(tmp_path: Path, flag: str) -> None:
    assert "default-address" not in codes(tmp_path, command(flag))
