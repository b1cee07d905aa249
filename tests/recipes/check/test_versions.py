from pathlib import Path

import pytest

from tests.recipes.checked import FIRST, SECOND, codes, findings_of, found

MTP1 = '--speculative-config \'{"method":"mtp","num_speculative_tokens":1}\''
MTP2 = MTP1.replace(":1}", ":2}")
DFLASH = MTP1.replace("mtp", "dflash").replace(":1}", ':15,"model":"a/b"}')
HYBRID = "Qwen/Qwen3.6-35B-A3B-FP8"


def serving(flags: str, version: str = "", model: str = "a/b", keys: str = "") -> str:
    """A recipe whose `runtime_version` is `version`, if there is one."""
    runtime = f"runtime_version: v{version}\n" if version else ""
    return f"{SECOND}{runtime}{keys}command: vllm serve {model} {flags}\n"


def severity(folder: Path, text: str, code: str) -> str:
    return "".join(each.severity for each in findings_of(folder, text) if each.code == code)


def test_several_mtp_tokens_run_one_layer_several_times(tmp_path: Path) -> None:
    assert found(tmp_path, serving(MTP2), "mtp-layer-reused") == [
        (
            "2:46 note: vLLM runs the same MTP layer once for each draft token, and says at the "
            "start that acceptance may fall (compare with one draft token; more is not always "
            "faster)"
        )
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(serving(MTP1), id="one token"),
        pytest.param(serving(DFLASH), id="a drafter of its own"),
        pytest.param(serving(MTP2, model="stepfun-ai/Step-3.7-Flash-FP8"), id="several layers"),
    ],
)
def test_other_speculation_runs_its_layers_once(tmp_path: Path, text: str) -> None:
    assert "mtp-layer-reused" not in codes(tmp_path, text)


@pytest.mark.parametrize(
    ("version", "expected"),
    [("0.24.0", "warning"), ("0.26.1", "warning"), ("0.27.0", ""), ("0.32.0", ""), ("", "note")],
)
def test_structured_output_defect_is_of_versions(
    tmp_path: Path, version: str, expected: str
) -> None:
    text = serving(f"{MTP1} --reasoning-parser qwen3", version)

    assert severity(tmp_path, text, "structured-output-defect") == expected


def test_structured_output_defect_says_what_was_measured(tmp_path: Path) -> None:
    text = serving(f"{MTP1} --reasoning-parser qwen3", "0.24.0")

    assert found(tmp_path, text, "structured-output-defect") == [
        (
            "3:46 warning: `runtime_version` says vLLM 0.24.0: strict JSON may begin twice where "
            "`</think>` is an accepted draft token (measured: with 0.24.0, 0 of 20 such answers "
            "were valid; with 0.32.0, 20 of 20) (use vLLM 0.27.0, the first release after the fix "
            "was merged, or newer; else judge every answer with `strict_json`, as "
            "docs/cold-start.md says)"
        )
    ]


def test_image_older_than_the_fix_has_the_defect(tmp_path: Path) -> None:
    head = FIRST.replace("vllm-node", "vllm-node-freshwheels-20260713")
    doubled = MTP1.replace("{", "{{").replace("}", "}}")
    text = f"{head}command: vllm serve a/b {doubled} --reasoning-parser qwen3\n"

    (line,) = found(tmp_path, text, "structured-output-defect")

    assert line.startswith(
        "4:46 warning: the name of the image is of 2026-07-13, and the fix was merged on "
        "2026-07-23: strict JSON may begin twice"
    )


def test_no_defect_without_reasoning_or_speculation(tmp_path: Path) -> None:
    assert "structured-output-defect" not in codes(tmp_path, serving(MTP1, "0.24.0"))
    assert "structured-output-defect" not in codes(
        tmp_path, serving("--reasoning-parser qwen3", "0.24.0")
    )


@pytest.mark.parametrize(
    ("version", "expected"), [("0.28.0", "warning"), ("0.32.0", "note"), ("", "note")]
)
def test_prefix_cache_with_mtp_on_a_hybrid_model(
    tmp_path: Path, version: str, expected: str
) -> None:
    text = serving(MTP1, version, HYBRID)

    assert severity(tmp_path, text, "prefix-cache-with-mtp") == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(serving(f"{MTP1} --no-enable-prefix-caching", model=HYBRID), id="off"),
        pytest.param(serving(MTP1, model="deepseek-ai/DeepSeek-V4-Flash"), id="no hybrid"),
        pytest.param(serving("--enable-prefix-caching", model=HYBRID), id="no MTP"),
    ],
)
def test_prefix_cache_alone_is_no_finding(tmp_path: Path, text: str) -> None:
    assert "prefix-cache-with-mtp" not in codes(tmp_path, text)


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        pytest.param(f"{MTP1} -pp 2", "mtp-with-pipeline", id="pipeline"),
        pytest.param(MTP1, "first-greedy-request-compiles", id="first request"),
        pytest.param(MTP1, "sampling-without-effect", id="min_p"),
        pytest.param(
            "--tool-call-parser qwen3_xml", "tool-parser-takes-reasoning", id="tool parser"
        ),
        pytest.param(
            "--attention-backend flash_attn --kv-cache-dtype fp8",
            "flash-attention-with-fp8-cache",
            id="FlashAttention with FP8",
        ),
        pytest.param(
            f"{DFLASH} --kv-cache-dtype fp8", "dflash-with-fp8-cache", id="DFlash with FP8"
        ),
    ],
)
def test_what_is_known_of_switches_is_a_note_where_no_version_is_told(
    tmp_path: Path, flags: str, code: str
) -> None:
    text = serving(flags)

    (finding,) = [each for each in findings_of(tmp_path, text) if each.code == code]

    assert finding.severity == "note"
    assert finding.source.startswith("https://github.com/vllm-project/vllm/")


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        (MTP1, "mtp-with-pipeline"),
        ("--tool-call-parser qwen3_xml --reasoning-parser qwen3", "tool-parser-takes-reasoning"),
        ("--attention-backend flashinfer --kv-cache-dtype fp8", "flash-attention-with-fp8-cache"),
        ("--attention-backend flash_attn", "flash-attention-with-fp8-cache"),
        (DFLASH, "dflash-with-fp8-cache"),
        ("", "first-greedy-request-compiles"),
    ],
)
def test_what_a_recipe_does_not_do_is_no_finding(tmp_path: Path, flags: str, code: str) -> None:
    assert code not in codes(tmp_path, serving(flags))


def advisories(folder: Path, text: str) -> list[str]:
    return [line.partition(": ")[2] for line in found(folder, text, "known-vulnerability")]


def test_known_version_has_its_own_advisories(tmp_path: Path) -> None:
    assert advisories(tmp_path, serving("", "0.30.0")) == [
        (
            "`runtime_version` says vLLM 0.30.0: GHSA-4xqp-c3mv-qff7: one request with a huge "
            "`min_tokens` stalls the engine while `/health` stays 200 (fixed in vLLM 0.31.0)"
        )
    ]
    assert advisories(tmp_path, serving("", "0.31.0")) == []


@pytest.mark.parametrize(
    ("flags", "version", "name"),
    [
        ("--trust-remote-code", "0.30.0", "GHSA-h3rc-6mm3-gc2m"),
        ("", "0.29.0", "CVE-2026-105757"),
        (MTP1, "0.23.0", "CVE-2026-54234"),
        ("--api-key $KEY", "0.21.0", "CVE-2026-48746"),
        ("--tool-call-parser qwen3_coder --enable-auto-tool-choice", "0.10.1", "CVE-2025-9141"),
    ],
)
def test_advisory_concerns_who_has_what_it_is_about(
    tmp_path: Path, flags: str, version: str, name: str
) -> None:
    assert any(name in line for line in advisories(tmp_path, serving(flags, version)))


@pytest.mark.parametrize(
    ("flags", "version", "name"),
    [
        ("", "0.30.0", "GHSA-h3rc-6mm3-gc2m"),
        (MTP1, "0.17.0", "CVE-2026-54234"),
        ("", "0.21.0", "CVE-2026-48746"),
        ("--tool-call-parser qwen3_coder", "0.9.2", "CVE-2025-9141"),
    ],
)
def test_advisory_does_not_concern_others(
    tmp_path: Path, flags: str, version: str, name: str
) -> None:
    assert not any(name in line for line in advisories(tmp_path, serving(flags, version)))


def test_key_in_the_environment_counts_as_a_key(tmp_path: Path) -> None:
    text = serving("", "0.21.0", keys="env: {VLLM_API_KEY: $KEY}\n")

    assert any(line.startswith("3:21 ") for line in found(tmp_path, text, "known-vulnerability"))


def test_advisories_are_one_note_where_no_version_is_told(tmp_path: Path) -> None:
    text = f"{FIRST}command: vllm serve a/b --trust-remote-code\n"

    assert found(tmp_path, text, "known-vulnerability") == [
        (
            "3:12 note: the recipe does not say which vLLM it runs; before 0.31.0 these concern "
            "it: GHSA-4xqp-c3mv-qff7, GHSA-h3rc-6mm3-gc2m, CVE-2026-105757, CVE-2026-55574, "
            "CVE-2026-34756 (see that the image has vLLM 0.31.0 or newer)"
        )
    ]
