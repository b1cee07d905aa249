"""What the log of a starting vLLM tells: how far it is, and what it found and chose.

Wordings are those of vLLM 0.11 to 0.32 (vllm/v1/engine/core.py, v1/core/kv_cache_utils.py,
v1/worker/gpu_model_runner.py, platforms/*.py, compilation/*.py, config/speculative.py). A log is
untrusted and no line of it is needed: what is not found is left out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from proxy.recipes.boot.boot_line import plain

_FACT_CHARACTERS: Final = 200


class Phase(StrEnum):
    """How far a start has come, in order; a start may leave some of them out."""

    PROGRAM = "program"
    ARGUMENTS = "arguments"
    ENGINE = "engine"
    WEIGHTS = "weights"
    PROFILING = "profiling"
    COMPILATION = "compilation"
    KV_CACHE = "KV cache"
    GRAPHS = "CUDA graphs"
    SERVER = "server"
    READY = "ready"


_ORDER: Final = {phase: number for number, phase in enumerate(Phase)}


@dataclass(frozen=True, slots=True)
class _Sign:
    """A line that shows that a phase has begun; the group, if any, is how far it is."""

    phase: Phase
    pattern: re.Pattern[str]


def _states(pattern: str) -> re.Pattern[str]:
    """A line that states facts: named groups are their names. The first such line counts."""
    return re.compile(pattern, re.ASCII)


_SIGNS: Final = (
    _Sign(
        Phase.ARGUMENTS,
        re.compile(r"vLLM (?:API )?server version |.{0,40}█  version |non-default args: "),
    ),
    _Sign(Phase.ENGINE, re.compile(r"Initializing a V1 LLM engine ")),
    _Sign(Phase.WEIGHTS, re.compile(r"Starting to load model ")),
    _Sign(
        Phase.WEIGHTS,
        re.compile(
            r"Loading \w+ checkpoint shards: +(?P<progress>\d+% Completed \| \d+/\d+)", re.ASCII
        ),
    ),
    _Sign(Phase.COMPILATION, re.compile(r"(?:\[\w+\] )?Starting torch\.compile")),
    _Sign(Phase.COMPILATION, re.compile(r"Dynamo bytecode transform time: |Compiling a graph ")),
    _Sign(Phase.PROFILING, re.compile(r"Model loading took ")),
    _Sign(
        Phase.KV_CACHE,
        re.compile(r"Available KV cache memory: |\w+(?: \+ host)? KV cache size: "),
    ),
    _Sign(
        Phase.GRAPHS,
        re.compile(r"Capturing CUDA graphs[^:]{0,80}: +(?P<progress>\d+%)|Capturing CUDA graphs"),
    ),
    _Sign(Phase.SERVER, re.compile(r"init engine \(profile, create kv cache")),
    _Sign(
        Phase.SERVER, re.compile(r"Starting vLLM (?:API )?server |INFO: +Started server process")
    ),
)

_NUMBER: Final = r"[\d,]{1,20}(?:\.\d{1,9})?"
_FINDINGS: Final = (
    _states(r"vLLM (?:API )?server version (?P<vllm>[\w.+-]{1,60})"),
    _states(r".{0,40}█  version (?P<vllm>[\w.+-]{1,60})"),
    _states(r"Initializing a V1 LLM engine \(v(?P<vllm>[\w.+-]{1,60})\)"),
    _states(
        r"Using (?P<attention_backend>[A-Z][A-Z0-9_]{1,40}) attention backend out of potential "
    ),
    _states(
        r"Using (?:AttentionBackendEnum\.)?(?P<attention_backend>[A-Z0-9_]{0,30}"
        r"(?:ATTN|ATTENTION|MLA|FLASHINFER|SDPA)[A-Z0-9_]{0,30}) "
        r"backend(?:\.| out of potential |$)"
    ),
    _states(r"Using (?P<attention_backend>[A-Z][\w ]{2,40}?)(?: attention)? backend on V1 engine"),
    _states(r"Loading weights took (?P<weights_seconds>[\d.]{1,12}) seconds"),
    _states(
        r"Model loading took (?P<model_gib>[\d.]{1,12}) ?GiB(?: memory)? and "
        r"(?P<load_seconds>[\d.]{1,12}) seconds"
    ),
    _states(
        r"(?:\[\w+\] )?torch\.compile (?:took|takes) (?P<compile_seconds>[\d.]{1,12}) s in total"
    ),
    _states(r"Available KV cache memory: (?P<kv_cache_gib>[\d.-]{1,12}) GiB"),
    _states(rf"\w+(?: \+ host)? KV cache size: (?P<kv_cache_tokens>{_NUMBER}) tokens"),
    _states(
        r"(?:\w+(?: \+ host)? KV cache size: .{1,40} tokens, )?"
        rf"Maximum concurrency for {_NUMBER} tokens per request: (?P<max_concurrency>{_NUMBER})x"
    ),
    _states(
        r"Graph capturing finished in (?P<graph_seconds>[\d.]{1,12}) secs?, "
        r"took (?P<graph_gib>[\d.-]{1,12}) GiB"
    ),
    _states(
        r"init engine \(profile, create kv cache, warmup model\) took "
        r"(?P<engine_seconds>[\d.]{1,12}) s(?:econds)?"
    ),
    _states(r"Using max model len (?P<max_model_len>\d{1,12})"),
)
_SPECULATION: Final = re.compile(r"speculative_config=(?:SpeculativeConfig\((.{0,2000}?)\)|None)")
# A path or name that a recipe chose may hold anything but the quote that ends it.
_MEMBER: Final = re.compile(
    r"\b(method|model|num_spec_tokens|num_speculative_tokens)=('[^']*'|\w+)"
)
_SAME_LAYER: Final = re.compile("same MTP layer", re.IGNORECASE)


class BootLog:
    """Reads a log line by line. `phase` never goes back; `progress` is that of the phase."""

    def __init__(self) -> None:
        self.phase = Phase.PROGRAM
        self.progress = ""
        self.same_mtp_layer = False
        self._facts: dict[str, str] = {}

    @property
    def facts(self) -> Mapping[str, str]:
        """What was found so far, by name: short texts."""
        warned = {"same_mtp_layer": "warned"} if self.same_mtp_layer else {}
        return {**self._facts, **warned}

    def read(self, line: str) -> None:
        """Take the next line, as it was printed."""
        text = plain(line)
        self._see_phase(text)
        self._learn(text)

    def reach(self, phase: Phase) -> None:
        """Note a phase that was seen by other means than the log."""
        if _ORDER[phase] > _ORDER[self.phase]:
            self.phase = phase
            self.progress = ""

    def _see_phase(self, text: str) -> None:
        for sign in _SIGNS:
            if found := sign.pattern.match(text):
                self.reach(sign.phase)
                progress = found.groupdict().get("progress")
                if progress and self.phase is sign.phase:
                    self.progress = progress.replace(" Completed | ", " of the shards, ")
                return

    def _learn(self, text: str) -> None:
        self.same_mtp_layer = self.same_mtp_layer or bool(_SAME_LAYER.search(text))
        for finding in _FINDINGS:
            if found := finding.match(text):
                for name, value in found.groupdict().items():
                    self._note(name, value.replace(",", ""))
        if text.startswith("Initializing a V1 LLM engine "):
            self._note("speculative_config", _speculation(text))

    def _note(self, name: str, value: str) -> None:
        if value:
            self._facts.setdefault(name, value[:_FACT_CHARACTERS])


def _speculation(text: str) -> str:
    """The speculative configuration as the engine understood it; empty without one."""
    found = _SPECULATION.search(text)
    if found is None or found[1] is None:
        return "none" if found else ""
    members = (f"{name}={value.strip(chr(39))}" for name, value in _MEMBER.findall(found[1]))
    return ", ".join(members)
