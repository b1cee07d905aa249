from pathlib import Path

import pytest

from proxy.recipes.launchable.outside_code import is_steering, outside_code
from tests.recipes.made import recipe_of


def told(folder: Path, arguments: str = "", environment: str = "{}") -> list[str]:
    text = f"env: {environment}\ncommand: vllm serve m {arguments}\nmodel: m\n"
    return list(outside_code(recipe_of(folder, text)))


@pytest.mark.parametrize(
    "name",
    [
        *("LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "GCONV_PATH", "GLIBC_TUNABLES"),
        *("PYTHONPATH", "PYTHONSTARTUP", "PATH", "HOME", "BASH_ENV", "ENV"),
        *("OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "OMP_TOOL_LIBRARIES"),
        *("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"),
    ],
)
def test_variable_that_reaches_any_process_is_steering(name: str) -> None:
    assert is_steering(name)


@pytest.mark.parametrize(
    "name", ["PYTHONUNBUFFERED", "OMP_NUM_THREADS", "HOMEPAGE", "CUDA_DEVICE_ORDER", "VLLM_PLUGINS"]
)
def test_other_variable_is_not_steering(name: str) -> None:
    assert not is_steering(name)


@pytest.mark.parametrize(
    "name",
    [
        *("LD_PRELOAD", "HOME", "VLLM_PLUGINS", "VLLM_NCCL_SO_PATH", "NCCL_NET_PLUGIN", "CC"),
        *("CUDA_HOME", "TRITON_PTXAS_PATH", "VLLM_CACHE_ROOT", "TORCHINDUCTOR_CACHE_DIR"),
        *("VLLM_LOGGING_CONFIG_PATH", "VLLM_RUST_FRONTEND_PATH"),
        *("VLLM_ALLOW_INSECURE_SERIALIZATION", "HF_MODULES_CACHE"),
    ],
)
def test_variable_by_which_code_is_loaded_is_told(tmp_path: Path, name: str) -> None:
    assert told(tmp_path, environment=f"{{{name}: /x, OMP_NUM_THREADS: 4}}") == [name]


@pytest.mark.parametrize(
    "arguments",
    [
        "--trust-remote-code",
        "--tool-parser-plugin p.py",
        "--reasoning-parser-plugin p.py",
        "--io-processor-plugin p",
        "--middleware a.b",
        "--worker-cls a.B",
        "--worker-extension-cls a.B",
        "--scheduler-cls a.B",
        "--logits-processors a:B",
        "--distributed-executor-backend a.B",
    ],
)
def test_flag_that_names_code_is_told(tmp_path: Path, arguments: str) -> None:
    assert told(tmp_path, arguments) == [arguments.partition(" ")[0]]


@pytest.mark.parametrize(
    ("flag", "document", "key"),
    [
        (
            "--kv-transfer-config",
            '{"kv_connector":"X","kv_connector_module_path":"a.b"}',
            "kv_connector_module_path",
        ),
        (
            "--kv-transfer-config",
            '{"kv_connector_extra_config":{"spec_module_path":"a.b"}}',
            "spec_module_path",
        ),
        (
            "--ec-transfer-config",
            '{"ec_connector_module_path":"a.b"}',
            "ec_connector_module_path",
        ),
        ("--compilation-config", '{"backend":"a.B"}', "backend"),
        ("--compilation-config", '{"inductor_passes":{"p":"a.b"}}', "inductor_passes"),
        ("--speculative-config", '{"method":"custom_class","model":"a.B"}', "method"),
    ],
)
def test_code_that_is_named_inside_json_is_told(
    tmp_path: Path, flag: str, document: str, key: str
) -> None:
    assert told(tmp_path, f"{flag} '{document}'") == [f"{flag} ({key})"]


@pytest.mark.parametrize(
    "arguments",
    [
        "--no-trust-remote-code",
        "--distributed-executor-backend mp",
        '--compilation-config \'{"backend":"inductor"}\'',
        "--kv-transfer-config '{\"kv_connector_module_path\":null}'",
        "--hf-overrides '{[}'",
        '--speculative-config \'{"method":"mtp"}\'',
    ],
)
def test_words_of_vllm_s_own_are_not_told(tmp_path: Path, arguments: str) -> None:
    assert told(tmp_path, arguments) == []


def test_document_however_deep_is_walked(tmp_path: Path) -> None:
    deep = '{"a":' * 800 + '{"x_cls":"a.B"}' + "}" * 800

    assert told(tmp_path, f"--hf-overrides '{deep}'") == ["--hf-overrides (x_cls)"]
