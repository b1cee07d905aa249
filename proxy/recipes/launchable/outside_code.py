"""Code that a recipe brings in beside vLLM's own: by a variable, or by a flag that names it."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from proxy.recipes.recipe import Flag, Recipe

# What steers the loader, the interpreter or a shell, or puts a library into any process. Python
# loads packages of the user from below HOME.
_STEERING: Final = re.compile(
    r"(LD|DYLD)_\w*|PYTHON\w*|GCONV_PATH|LOCPATH|GLIBC_TUNABLES|PATH|HOME|BASH_ENV|ENV"
    r"|OPENSSL_(CONF|ENGINES|MODULES)|\w+_INJECTION(32|64)?_PATH|OMP_TOOL_LIBRARIES"
)
_HARMLESS: Final = frozenset(
    {
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONFAULTHANDLER",
        "PYTHONHASHSEED",
        "PYTHONUNBUFFERED",
        "PYTHONUTF8",
    }
)
# What vLLM and its libraries load or run by name, and where they keep what they compiled; public
# recipes need some of them.
_LOADS: Final = re.compile(
    r"\w*_(PLUGINS?|SO_PATH|COMPILER|PTXAS_PATH|LIBCUDA_PATH|LIBDEVICE_PATH|EXEC_PREFIX)"
    r"|CC|CXX|CUDA_HOME|CUDA_PATH|COMPILER_PATH|LIBRARY_PATH|NVCC_(PREPEND|APPEND)_FLAGS"
    r"|VLLM_(CACHE_ROOT|LOGGING_CONFIG_PATH|RUST_FRONTEND_PATH|ALLOW_INSECURE_SERIALIZATION)"
    r"|(TORCHINDUCTOR|TRITON|TILELANG|DG_JIT)_CACHE_DIR|TRITON_(HOME|CACHE_MANAGER)"
    r"|FLASHINFER_WORKSPACE_(DIR|BASE)|TORCH_EXTENSIONS_DIR|XDG_CACHE_HOME|HF_MODULES_CACHE"
)
_CODE_FLAGS: Final = frozenset(
    {
        "--trust-remote-code",
        "--tool-parser-plugin",
        "--reasoning-parser-plugin",
        "--io-processor-plugin",
        "--middleware",
        "--worker-extension-cls",
        "--worker-cls",
        "--scheduler-cls",
        "--logits-processors",
    }
)
# Flags whose value is a word of vLLM's own, or else a class by its dotted name.
_WORD_OR_CLASS: Final = frozenset({"--distributed-executor-backend"})
# Keys of the JSON that some flags take, whatever they are nested in.
_CODE_KEY: Final = re.compile(r"\w*(module_path|_cls|_class|_plugin|_qualname)")
_PASSES: Final = "inductor_passes"
_CUSTOM_DRAFTER: Final = "custom_class"


def is_steering(name: str) -> bool:
    """Whether a variable decides what code runs in the engine's process, whatever vLLM does."""
    return bool(_STEERING.fullmatch(name)) and name not in _HARMLESS


def outside_code(recipe: Recipe) -> Iterator[str]:
    """The flags and variables by which code from outside vLLM is run or loaded, as written."""
    for flag in recipe.command.flags.values():
        if not flag.negated:
            yield from _of_flag(flag)
    for name in recipe.environment:
        if _LOADS.fullmatch(name) or is_steering(name):
            yield name


def _of_flag(flag: Flag) -> Iterator[str]:
    if flag.name in _CODE_FLAGS or (flag.name in _WORD_OR_CLASS and "." in (flag.value or "")):
        yield flag.name
    elif (flag.value or "").lstrip().startswith("{"):
        yield from (f"{flag.name} ({key})" for key in _keys(_document(flag)))


def _document(flag: Flag) -> Any:
    """None where it cannot be read, which the engine says itself."""
    try:
        return json.loads(flag.value or "")
    except (ValueError, RecursionError):
        return None


def _keys(document: Any) -> Iterator[str]:
    """What names code in it, however deep."""
    left = [document]
    while left:
        part = left.pop()
        if isinstance(part, list):
            left += part
        elif isinstance(part, dict):
            yield from (key for key, value in part.items() if value and _names_code(key, value))
            left += part.values()


def _names_code(key: str, value: Any) -> bool:
    match key:
        case "backend":
            return isinstance(value, str) and "." in value
        case "method":
            return bool(value == _CUSTOM_DRAFTER)
        case _:
            return key == _PASSES or _CODE_KEY.fullmatch(key) is not None
