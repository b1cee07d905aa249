"""Switches of a recipe that exclude, need, or undo each other."""

from collections.abc import Iterator
from typing import Final

from proxy.recipes.check.finding import Finding, Severity
from proxy.recipes.check.subject import Subject

_SOURCE: Final = "https://github.com/vllm-project/vllm/blob/v0.32.0/vllm"
_LAUNCHER: Final = f"{_SOURCE}/entrypoints/launchers/cli_args.py"
_SCHEDULER: Final = f"{_SOURCE}/config/scheduler.py"
_AUTO_TOOLS: Final = "--enable-auto-tool-choice"
_TOOL_PARSER: Final = "--tool-call-parser"
_BATCH: Final = "--max-num-batched-tokens"
_EAGER: Final = "--enforce-eager"
_BACKEND_VARIABLE: Final = "VLLM_ATTENTION_BACKEND"
_GRAPHS: Final = (
    "--compilation-config",
    "--cudagraph-capture-sizes",
    "--max-cudagraph-capture-size",
)
_EVERYWHERE: Final = frozenset({"0.0.0.0", "::", "[::]"})


def check_contradictions(subject: Subject) -> Iterator[Finding]:
    """Sourced from vLLM 0.32.0 where vLLM is what objects."""
    yield from _tools(subject)
    yield from _batches(subject)
    yield from _attention(subject)
    yield from _graphs(subject)
    yield from _logs(subject)
    yield from _nodes(subject)
    yield from _names(subject)
    yield from _address(subject)


def _tools(subject: Subject) -> Iterator[Finding]:
    auto, parser = subject.flag(_AUTO_TOOLS), subject.flag(_TOOL_PARSER)
    if auto and subject.is_on(_AUTO_TOOLS) and parser is None:
        yield Finding(
            Severity.ERROR,
            "tool-parser-missing",
            auto.place,
            f"`{_AUTO_TOOLS}` needs `{_TOOL_PARSER}`: vLLM does not start",
            f"add `{_TOOL_PARSER}` with the parser of the model",
            _LAUNCHER,
        )
    elif parser and not subject.is_on(_AUTO_TOOLS):
        yield Finding(
            Severity.WARNING,
            "tool-choice-off",
            parser.place,
            f"`{_TOOL_PARSER}` does nothing without `{_AUTO_TOOLS}`: requests with tools are "
            "refused",
            f"add `{_AUTO_TOOLS}`",
            f"{_SOURCE}/renderers/online_renderer.py",
        )


def _batches(subject: Subject) -> Iterator[Finding]:
    engine, flag = subject.recipe.engine, subject.flag(_BATCH)
    batch = engine.max_num_batched_tokens
    if flag is None or batch is None:
        return
    if engine.max_num_seqs is not None and batch < engine.max_num_seqs:
        yield Finding(
            Severity.ERROR,
            "batch-too-small",
            subject.value_place(flag),
            f"`{_BATCH}` is {batch}, below `--max-num-seqs` {engine.max_num_seqs}: vLLM does not "
            "start",
            "raise it, or lower `--max-num-seqs`",
            _SCHEDULER,
        )
    chunked = subject.flag("--enable-chunked-prefill")
    length = engine.max_model_len
    if chunked and chunked.negated and length is not None and batch < length:
        yield Finding(
            Severity.ERROR,
            "batch-below-context",
            subject.value_place(flag),
            f"`{_BATCH}` is {batch}, below `--max-model-len` {length}, and chunked prefill is off: "
            "vLLM does not start",
            f"raise it to {length}, or remove `--no-enable-chunked-prefill`",
            _SCHEDULER,
        )


def _attention(subject: Subject) -> Iterator[Finding]:
    flag = subject.flag("--attention-backend")
    variable = subject.recipe.environment.get(_BACKEND_VARIABLE)
    if flag and flag.value and variable and flag.value.upper() != variable.upper():
        yield Finding(
            Severity.WARNING,
            "two-attention-backends",
            subject.document.places.value(("env", _BACKEND_VARIABLE)),
            f"`{_BACKEND_VARIABLE}` says `{variable[:60]}`, `--attention-backend` says "
            f"`{flag.value[:60]}`",
            "remove the variable; vLLM 0.32.0 reads the flag only",
        )


def _graphs(subject: Subject) -> Iterator[Finding]:
    if not subject.is_on(_EAGER):
        return
    for name in _GRAPHS:
        if flag := subject.flag(name):
            yield Finding(
                Severity.WARNING,
                "eager-without-graphs",
                flag.place,
                f"`{name}` has no effect on graphs beside `{_EAGER}`, which turns compilation and "
                "CUDA graphs off",
                "remove one of the two",
                f"{_SOURCE}/config/vllm.py",
            )


def _logs(subject: Subject) -> Iterator[Finding]:
    stats, outputs = subject.flag("--disable-log-stats"), subject.flag("--enable-log-outputs")
    if outputs and not outputs.negated and not subject.is_on("--enable-log-requests"):
        yield Finding(
            Severity.ERROR,
            "log-outputs-alone",
            outputs.place,
            "`--enable-log-outputs` needs `--enable-log-requests`: vLLM does not start",
            "add `--enable-log-requests`",
            _LAUNCHER,
        )
    if stats:
        yield Finding(
            Severity.WARNING,
            "metrics-off",
            stats.place,
            "`--disable-log-stats` turns vLLM's counters off, by which cold starts and acceptance "
            "rates are told",
            "remove it",
            f"{_SOURCE}/v1/engine/async_llm.py",
        )


def _nodes(subject: Subject) -> Iterator[Finding]:
    engine, recipe = subject.recipe.engine, subject.recipe
    if recipe.max_nodes != 1:
        return
    gpus = (engine.tensor_parallel or 1) * (engine.pipeline_parallel or 1)
    flag = subject.flag("--tensor-parallel-size") or subject.flag("--pipeline-parallel-size")
    if gpus > 1 and flag:
        yield Finding(
            Severity.WARNING,
            "more-gpus-than-one-node",
            subject.value_place(flag),
            f"the recipe runs on one node and wants {gpus} GPUs; a DGX Spark has one",
            "lower it to 1, or allow more nodes",
        )
    executor = subject.flag("--distributed-executor-backend")
    if executor and executor.value == "ray":
        yield Finding(
            Severity.NOTE,
            "ray-on-one-node",
            executor.place,
            "one node needs no Ray; run-recipe removes the flag there, others hand it over",
            "remove it",
        )


def _names(subject: Subject) -> Iterator[Finding]:
    recipe, flag = subject.recipe, subject.flag("--served-model-name")
    loaded = recipe.command.model
    if flag and loaded and flag.values == (loaded,):
        yield Finding(
            Severity.NOTE,
            "served-name-is-model",
            subject.value_place(flag),
            "`served_model_name` equals the model: it changes nothing, and clients must ask for "
            f"`{loaded[:80]}`",
            "give it a short name, or remove it",
        )
    named = subject.document.text("model")
    is_path = loaded is not None and loaded.startswith(("/", ".", "~", "$"))
    if named and loaded and named != loaded and not is_path:
        yield Finding(
            Severity.WARNING,
            "model-differs",
            subject.document.places.value(("model",)),
            f"`model` is `{named[:80]}`, and the command loads `{loaded[:80]}`",
            "name the same one in both",
        )


def _address(subject: Subject) -> Iterator[Finding]:
    flag, host = subject.flag("--host"), subject.recipe.engine.host
    if host is None and flag is None and subject.flag("--uds") is None:
        yield Finding(
            Severity.NOTE,
            "default-address",
            subject.document.places.value(("command",)),
            "without `--host`, vLLM listens on every address: whoever reaches the port uses the "
            "engine past the gate",
            "with Sluicegate on the same machine, add `--host 127.0.0.1`",
        )
    if flag and host in _EVERYWHERE:
        yield Finding(
            Severity.NOTE,
            "open-address",
            subject.value_place(flag),
            f"with the host `{host}`, whoever reaches the port uses the engine past the gate",
            "with Sluicegate on the same machine, use `127.0.0.1`",
        )
