from pathlib import Path

import pytest

from tests.recipes.checked import FIRST, codes, findings_of, found

SERVE = "command: vllm serve a/b\n"
OWN_BUILD = FIRST.replace("vllm-node", "owner/fork")


@pytest.mark.parametrize(
    ("entry", "code", "expected"),
    [
        pytest.param(
            '"A B": x',
            "environment-name",
            "4:7 error: `A B` is no name of an environment variable "
            "(use letters, digits and `_`, and no digit first)",
            id="blank in the name",
        ),
        pytest.param(
            "1A: x",
            "environment-name",
            "4:7 error: `1A` is no name of an environment variable "
            "(use letters, digits and `_`, and no digit first)",
            id="digit first",
        ),
        pytest.param(
            '"A=B": x',
            "environment-name",
            "4:7 error: `A=B` is no name of an environment variable "
            "(use letters, digits and `_`, and no digit first)",
            id="equals sign",
        ),
        pytest.param(
            'A: "x\\ny"',
            "control-character",
            "4:10 error: `env.A` holds a line break or another character that cannot be seen "
            "(write the value on one line)",
            id="line break",
        ),
        pytest.param(
            'A: "x\\0y"',
            "control-character",
            "4:10 error: `env.A` holds a line break or another character that cannot be seen "
            "(write the value on one line)",
            id="NUL",
        ),
        pytest.param(
            "VLLM_USE_DEEP_GEMM: true",
            "environment-switch",
            "4:27 warning: `env.VLLM_USE_DEEP_GEMM` becomes the text `True` "
            "(most switches of vLLM are read as numbers: write `1`)",
            id="switch of YAML",
        ),
        pytest.param(
            "VLLM_USE_DEEPGEMM: 1",
            "unknown-variable",
            "4:7 warning: vLLM 0.32.0 does not read `VLLM_USE_DEEPGEMM` "
            "(did you mean `VLLM_USE_DEEP_GEMM`?)",
            id="misspelt variable of vLLM",
        ),
        pytest.param(
            "VLLM_ZZZ: 1",
            "unknown-variable",
            "4:7 warning: vLLM 0.32.0 does not read `VLLM_ZZZ` (remove it)",
            id="unknown variable of vLLM",
        ),
        pytest.param(
            "VLLM_ATTENTION_BACKEND: FLASHINFER",
            "unknown-variable",
            "4:7 warning: vLLM 0.32.0 does not read `VLLM_ATTENTION_BACKEND` "
            "(use `--attention-backend` instead)",
            id="variable that a flag replaced",
        ),
        pytest.param(
            "A: 'x/${NODE_IP}'",
            "variable-in-environment",
            "4:10 note: `${NODE_IP}` stays as it stands here; sparkrun puts the variable of the "
            "control machine in its place, and run-recipe that of the container "
            "(write the value out)",
            id="reference",
        ),
        pytest.param(
            "HF_TOKEN: hf_12345678",
            "secret-in-file",
            "4:17 warning: `env.HF_TOKEN` holds a secret in a file that others may read "
            "(set it in the environment of the engine instead, or hand it over with `--set`)",
            id="secret",
        ),
    ],
)
def test_each_finding_has_place_message_and_remedy(
    tmp_path: Path, entry: str, code: str, expected: str
) -> None:
    assert found(tmp_path, f"{FIRST}env: {{{entry}}}\n{SERVE}", code) == [expected]


def test_secret_is_never_shown(tmp_path: Path) -> None:
    findings = findings_of(tmp_path, f"{FIRST}env: {{HF_TOKEN: hf_12345678}}\n{SERVE}")

    assert "hf_12345678" not in str(findings)


def test_build_of_its_own_may_read_other_variables(tmp_path: Path) -> None:
    text = f"{OWN_BUILD}env: {{VLLM_ZZZ: 1}}\n{SERVE}"

    assert found(tmp_path, text, "unknown-variable") == [
        (
            "4:7 warning: vLLM 0.32.0 does not read `VLLM_ZZZ` "
            "(remove it; the recipe names a build of its own, which may know it)"
        )
    ]


@pytest.mark.parametrize(
    "entry", ["VLLM_USE_DEEP_GEMM: 0", "NCCL_DEBUG: INFO", "VLLM_API_KEY: $KEY", "_a1: ''"]
)
def test_sound_variable_is_no_finding(tmp_path: Path, entry: str) -> None:
    unsound = codes(tmp_path, f"{FIRST}env: {{{entry}}}\n{SERVE}") - {
        "known-vulnerability",
        "default-address",
    }

    assert unsound <= {"variable-in-environment"}
