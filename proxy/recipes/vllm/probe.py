"""Asks an installed vLLM what it knows. Run by *its* Python, so nothing of ours is imported.

    PYTHON -I probe.py facts                     prints the facts, one flag or name a line
    PYTHON -I probe.py check < arguments.json    prints version, error, skipped

`check` takes a JSON list of what follows `vllm serve` and hands it to vLLM's own parser and
validation, unchanged. No engine is started. As vLLM itself would, that reads the YAML file behind
`--config` and looks whether the file of `--chat-template` exists; plugins are neither imported nor
looked for. One thing it would do is prevented: with `inductor_passes` in a compilation config, the
parser imports the modules named there. Nor may it start a program or open a connection. `skipped`
then says that vLLM could not be asked.

Standard output carries the answer alone; what vLLM logs or prints goes to standard error.
"""

import argparse
import importlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NoReturn, get_args

# The first where vLLM keeps it since 0.32.
_SERVE_PARSER: Final = (
    "vllm.entrypoints.launchers.cli_args",
    "vllm.entrypoints.openai.cli_args",
)
_TOOL_PARSERS: Final = ("vllm.tool_parsers", "vllm.entrypoints.openai.tool_parsers")
_ATTENTION: Final = ("vllm.v1.attention.backends.registry", "vllm.attention.backends.registry")
# Its choices are the devices of this machine, not of this version.
_OF_THE_MACHINE: Final = frozenset({"--mm-processor-device"})
_OFFLINE: Final = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
_FORBIDDEN: Final = ("os.exec", "os.fork", "os.posix_spawn", "os.system", "socket.", "subprocess.")
_ADDRESS: Final = re.compile(r" at 0x[0-9a-f]+")
_ARITIES: Final[dict[int | str | None, str]] = {None: "one", 0: "flag", "?": "optional"}
_LARGEST_INPUT: Final = 4 << 20
_USAGE: Final = "usage: probe.py facts | check < arguments.json"


class _Left(Exception):
    """Argparse wanted to end the process; carries its message."""


class _Prevented(ImportError):
    """The parser was about to do what reading arguments must not."""


def facts() -> dict[str, Any]:
    """What `VllmFacts` holds, names sorted."""
    _, serve, _ = _parsers()
    options = [each for each in serve._actions if each.option_strings]  # noqa: SLF001 - listed nowhere else
    flags = sorted((_flag(option) for option in options), key=lambda flag: str(flag["name"]))
    choices = {flag["name"]: flag["choices"] for flag in flags}
    return {
        "version": _version(),
        "flags": flags,
        "tool_parsers": _names(lambda: _registered(_TOOL_PARSERS, "ToolParserManager")),
        "reasoning_parsers": _names(
            lambda: _registered(("vllm.reasoning",), "ReasoningParserManager")
        ),
        "attention_backends": _names(lambda: _found(_ATTENTION).AttentionBackendEnum.__members__),
        "quantizations": _names(_quantizations),
        "kv_cache_dtypes": choices.get("--kv-cache-dtype", []),
        "speculative_methods": _names(_speculative_methods),
        "environment": _names(_environment),
    }


def check(arguments: Sequence[str]) -> dict[str, Any]:
    """What vLLM's parser and validation say to these arguments; `error` is None if nothing."""
    parser, serve, validate = _parsers()
    serve.format_help()  # argparse imports what it needs for it only then
    _forbid_actions()
    error: str | None = None
    skipped: list[str] = []
    try:
        validate(parser.parse_args(["serve", *arguments]))
    except _Prevented as prevented:
        skipped = [f"vLLM's parser was not asked to the end: {prevented}"]
    except _Left as left:
        error = str(left)
    except Exception as raised:  # noqa: BLE001 - whatever vLLM raises is its answer
        error = f"{type(raised).__name__}: {raised}"
    told = None if error is None else _ADDRESS.sub("", error)
    return {"version": _version(), "error": told, "skipped": skipped}


def _parsers() -> tuple[Any, Any, Callable[[Any], object]]:
    """The parser of the program `vllm`, of its command `serve`, and what validates its result."""
    module = _found(_SERVE_PARSER)
    parser = module.FlexibleArgumentParser(prog="vllm")
    command = parser.add_subparsers(dest="subparser").add_parser("serve")
    serve = module.make_arg_parser(command)
    parser.exit = serve.exit = _leave
    return parser, serve, module.validate_parsed_serve_args


def _leave(_status: int = 0, message: str | None = None) -> NoReturn:
    if not message:
        raise _Left("they ask for help: vLLM would print that and end")
    raise _Left(message.partition(": error: ")[2].strip() or message)


def _forbid_actions() -> None:
    """From now on no package is imported that vLLM has not, nothing is started or connected."""
    loaded = frozenset(name.partition(".")[0] for name in sys.modules)

    def watch(event: str, details: tuple[Any, ...]) -> None:
        if event == "import" and str(details[0]).partition(".")[0] not in loaded:
            raise _Prevented(f"it would have imported `{details[0]}`")
        if event.startswith(_FORBIDDEN):
            raise _Prevented(f"it would have called {event}")

    sys.addaudithook(watch)


def _flag(action: Any) -> dict[str, Any]:
    switch = isinstance(action, argparse.BooleanOptionalAction)
    spellings = [
        each for each in action.option_strings if not (switch and each.startswith("--no-"))
    ]
    name = next((each for each in spellings if each.startswith("--")), spellings[0])
    known = [] if name in _OF_THE_MACHINE else action.choices or []
    choices = sorted(str(each) for each in known if each is not None)
    return {
        "name": name,
        "aliases": [each for each in spellings if each != name],
        "arity": "switch" if switch else _ARITIES.get(action.nargs, "many"),
        "kind": _kind(action.type),
        "choices": choices,
        "any_case": bool(choices) and _folds(action.type, choices[0]),
    }


def _kind(convert: Callable[[str], object] | None) -> str:
    """Found by trying, since vLLM wraps the functions that convert a value."""
    if convert is None or not _refuses(convert, "text"):
        braces = convert is not None and _refuses(convert, "{no JSON}")
        return "json_or_text" if braces else "text"
    if not _refuses(convert, "1k"):
        return "size"
    if not _refuses(convert, "{}") or _refuses(convert, "1"):
        return "json"
    return "integer" if _refuses(convert, "0.5") else "number"


def _refuses(convert: Callable[[str], object], value: str) -> bool:
    try:
        convert(value)
    except Exception:  # noqa: BLE001 - the functions are vLLM's, and so is what they raise
        return True
    return False


def _folds(convert: Callable[[str], object] | None, choice: str) -> bool:
    spelled = choice.upper().replace("_", "-")
    return convert is not None and spelled != choice and convert(spelled) == choice


def _registered(places: Sequence[str], name: str) -> Iterable[str]:
    listed: Iterable[str] = getattr(_found(places), name).list_registered()
    return listed


def _quantizations() -> Iterable[str]:
    known: Iterable[str] = _found(("vllm.model_executor.layers.quantization",)).QUANTIZATION_METHODS
    return known


def _speculative_methods() -> Iterable[str]:
    return get_args(_found(("vllm.config.speculative",)).SpeculativeMethod)


def _environment() -> Iterable[str]:
    known: Iterable[str] = _found(("vllm.envs",)).environment_variables
    return (name for name in known if name.startswith("VLLM_"))


def _names(listed: Callable[[], Iterable[str]]) -> list[str]:
    """Sorted; none where this vLLM keeps the registry elsewhere."""
    try:
        return sorted(set(listed()))
    except (ImportError, AttributeError) as error:
        sys.stderr.write(f"probe: not found in this vLLM: {error}\n")
        return []


def _found(places: Sequence[str]) -> Any:
    """The first of these modules that exists. Raises `ImportError`."""
    *earlier, last = places
    for place in earlier:
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as error:
            if not place.startswith(str(error.name)):
                raise  # it is there, but what it needs is not
    return importlib.import_module(last)


def _version() -> str:
    return str(importlib.import_module("vllm").__version__)


def _printed(document: dict[str, Any]) -> str:
    """JSON with an item a line, so that two versions can be compared."""
    parts = []
    for key, value in document.items():
        items = ",\n".join(json.dumps(item) for item in value) if isinstance(value, list) else ""
        parts.append(f'"{key}": ' + (f"[\n{items}\n]" if items else json.dumps(value)))
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _arguments(source: str) -> list[str]:
    """Raises `ValueError`."""
    found = json.loads(source)
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise ValueError("standard input must be a JSON list of texts")
    return found


def main(command: Sequence[str]) -> int:
    """Print the answer to one command; the exit status."""
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    os.environ.update(_OFFLINE)
    if list(command) == ["facts"]:
        told = facts()
    elif list(command) == ["check"]:
        told = check(_arguments(sys.stdin.read(_LARGEST_INPUT)))
    else:
        sys.stderr.write(f"{_USAGE}\n")
        return 2
    with answer:
        answer.write(_printed(told))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
