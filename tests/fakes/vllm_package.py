"""A Python in which a tiny package `vllm` is installed, laid out as one version or another."""

import venv
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Final

SINCE_0_32: Final = "launchers"
UNTIL_0_31: Final = "openai"

_INIT: Final = """
    print("vLLM greets standard output")
    __version__ = "9.8.7"
"""
_CLI_ARGS: Final = """
    import argparse, json, subprocess
    from pathlib import Path

    class FlexibleArgumentParser(argparse.ArgumentParser):
        pass

    def size(text):
        return int(text.replace("k", "000"))

    def mapping(text):
        return json.loads(text) if text.startswith("{") else text

    def make_arg_parser(parser):
        add = parser.add_argument
        add("model_tag", nargs="?")
        add("--headless", action="store_true")
        add("--eager", "-e", action=argparse.BooleanOptionalAction)
        add("--port", type=int)
        add("--max-len", type=size)
        add("--utilization", "-u", "--share", type=float)
        add("--name", nargs="+")
        add("--token", nargs="?", const=True)
        add("--overrides", type=mapping)
        add("--rules", type=json.loads)
        add("--kv-cache-dtype", choices=["fp8", None, "auto"])
        add("--backend", type=lambda text: text.lower().replace("-", "_"), choices=["deep_gemm"])
        add("--mm-processor-device", choices=["auto", "cpu"])
        add("--imports", type=__import__)
        add("--runs", type=lambda word: subprocess.run([word]))
        return parser

    def validate_parsed_serve_args(args):
        if args.subparser == "serve" and args.headless and not args.name:
            raise TypeError("--headless requires --name")
"""
_MANAGER: Final = """
    class {name}:
        @classmethod
        def list_registered(cls):
            return ["second", "first"]
"""
_ATTENTION: Final = """
    import enum

    class AttentionBackendEnum(enum.Enum):
        FLASHINFER = "a.B"
        CUSTOM = None
"""
_SPECULATIVE: Final = """
    from typing import Literal

    SpeculativeMethod = Literal["ngram", Literal["mtp"]]
"""
_ENVIRONMENT: Final = """
    environment_variables = {"VLLM_B": int, "VLLM_A": int, "LOCAL_RANK": int}
"""


def python_with_vllm(
    folder: Path, layout: str = SINCE_0_32, changed: Mapping[str, str] | None = None
) -> Path:
    """The interpreter; `changed` modules (a path in the package: its source) come on top."""
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    tools = "" if layout == SINCE_0_32 else "entrypoints/openai/"
    modules = {
        "__init__.py": _INIT,
        f"entrypoints/{layout}/cli_args.py": _CLI_ARGS,
        f"{tools}tool_parsers.py": _MANAGER.format(name="ToolParserManager"),
        "reasoning.py": _MANAGER.format(name="ReasoningParserManager"),
        "v1/attention/backends/registry.py": _ATTENTION,
        "model_executor/layers/quantization.py": 'QUANTIZATION_METHODS = ["fp8", "awq"]',
        "config/speculative.py": _SPECULATIVE,
        "envs.py": _ENVIRONMENT,
        **(changed or {}),
    }
    for name, source in modules.items():
        module = packages / "vllm" / name
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(dedent(source))
    return folder / "bin" / "python"
