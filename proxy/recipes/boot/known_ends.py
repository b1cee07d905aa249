"""The ends of a starting vLLM that are known: how its log words them, and what helps.

The wordings are vLLM's and its libraries': those of 0.32.0 where it was made to die so, else those
of its source or of public reports (tests/recipes/boot/test_known_ends.py says which).
"""

import re
from dataclasses import dataclass
from typing import Final

_LISTED: Final = "`sluicegate recipe check FILE` names the line"
LESS_MEMORY: Final = (
    "lower `--gpu-memory-utilization`, `--max-model-len` or `--max-num-seqs`, or end what else "
    "uses the memory"
)


@dataclass(frozen=True, slots=True)
class KnownEnd:
    """A wording and its meaning; `{name}` stands for a named group of the wording."""

    pattern: re.Pattern[str]
    what: str
    remedy: str


def _end(pattern: str, what: str, remedy: str) -> KnownEnd:
    return KnownEnd(re.compile(pattern), what, remedy)


def _raised(pattern: str, what: str, remedy: str) -> KnownEnd:
    """One that a ValueError tells, by itself or through pydantic; as a warning it ends nothing."""
    return _end(rf"(?:ValueError: |Value error, ){pattern}", what, remedy)


# The first that is found counts, so causes stand before what only follows from them.
KNOWN_ENDS: Final = (
    _end(
        r"vllm(?: serve)?: error: unrecognized arguments: (?P<flags>.{1,120})",
        "vLLM does not know these arguments: {flags}",
        f"remove them, or use a vLLM that knows them; {_LISTED}",
    ),
    _end(
        r"vllm(?: serve)?: error: (?P<why>.{1,200})",
        "vLLM refuses its arguments: {why}",
        f"mend the recipe; {_LISTED}",
    ),
    _end(
        r"TypeError: Error: (?P<why>--\S{1,60} requires --\S{1,60})",
        "vLLM refuses its arguments: {why}",
        "add the flag that is missing",
    ),
    _end(
        r"(?:KeyError: )?.?invalid (?P<kind>tool call|reasoning) parser: (?P<name>\S{1,60})",
        "this vLLM has no {kind} parser `{name}`",
        "choose one of those that the log lists, or use a vLLM that has it",
    ),
    _end(
        r"KeyError: .?(?P<kind>Tool|Reasoning) parser '(?P<name>[^']{1,60})' not found",
        "this vLLM has no parser `{name}` ({kind})",
        "choose one of those that the log lists, or use a vLLM that has it",
    ),
    _raised(
        r"Unknown quantization method: (?P<name>\S{1,60})\. Must",
        "this vLLM has no quantization `{name}`",
        "choose one of those that the log lists",
    ),
    _raised(
        r"The quantization method (?P<name>\S{1,60}) is not supported for the current GPU\. "
        r"Minimum capability: (?P<least>\d{1,4})\. Current capability: (?P<have>\d{1,4})",
        "quantization `{name}` needs compute capability {least}, this GPU has {have}",
        "take a checkpoint with another quantization",
    ),
    _raised(
        r"\S{1,60} is not supported for quantization method (?P<name>\S{1,60})\. Supported dtypes",
        "quantization `{name}` does not go with this `--dtype`",
        "choose one of the dtypes that the log lists, or leave `--dtype` out",
    ),
    _raised(
        r"Quantization method specified in the model config \((?P<model>[^)]{1,60})\) does "
        r"not match the quantization method specified in the `quantization` argument "
        r"\((?P<flag>[^)]{1,60})\)",
        "the checkpoint is quantized with {model}, `--quantization` says {flag}",
        "leave `--quantization` out",
    ),
    _raised(
        r"(?P<name>\S{1,60}) quantization is currently not "
        r"supported in (?P<device>[\w-]{1,40})",
        "quantization `{name}` does not work on this device ({device})",
        "take a checkpoint with another quantization",
    ),
    _raised(
        r"User-specified max_model_len \((?P<asked>\d{1,12})\) is greater than the derived "
        r"max_model_len \(\w{1,40}=(?P<most>[\d.]{1,14})",
        "`--max-model-len` {asked} is more than the model was made for ({most})",
        "lower `--max-model-len`",
    ),
    _raised(
        r"Free memory on device .{0,20}\((?P<free>[\d.]{1,9})/(?P<total>[\d.]{1,9}) GiB\) "
        r"on startup is less than desired GPU memory utilization \((?P<share>[\d.]{1,9}), "
        r"(?P<wanted>[\d.]{1,9}) GiB\)",
        "{wanted} GiB of GPU memory were asked for (`--gpu-memory-utilization` {share}), "
        "{free} of {total} GiB are free",
        "lower `--gpu-memory-utilization`, or end what else uses the memory (on unified memory the "
        "page cache counts too)",
    ),
    _raised(
        r"Available memory on node \d{1,3} \((?P<free>[\d.]{1,9})/(?P<total>[\d.]{1,9}) GiB\) "
        r"on startup is less than desired CPU memory utilization \((?P<share>[\d.]{1,9}), "
        r"(?P<wanted>[\d.]{1,9}) GiB\)",
        "{wanted} GiB of memory were asked for (`--gpu-memory-utilization` {share}, which on a CPU "
        "is of the machine's memory), {free} of {total} GiB are free",
        "lower `--gpu-memory-utilization`, or end what else uses the memory",
    ),
    _raised(
        r"To serve at least one request with the models?'s max seq len \((?P<asked>\d{1,12})"
        r"\).{0,200}the estimated maximum model length is (?P<fits>\d{1,12})",
        "the KV cache is too small for one request of {asked} tokens; about {fits} fit",
        "set `--max-model-len` to {fits} or less, or raise `--gpu-memory-utilization`",
    ),
    _raised(
        r"(?:To serve at least one request with the models?'s max seq len|The model's max "
        r"seq len \(\d{1,12}\) is larger than the maximum number of tokens that can be stored)",
        "the KV cache is too small for one request of `--max-model-len` tokens",
        "lower `--max-model-len`, or raise `--gpu-memory-utilization`",
    ),
    _raised(
        r"No available memory for the cache blocks",
        "after the weights no memory is left for the KV cache",
        "raise `--gpu-memory-utilization`, or take a smaller model",
    ),
    _end(
        r".{0,120}CUDA out of memory\. Tried to allocate (?P<size>[\d.]{1,9} [KMG]iB)",
        "the GPU has no memory left (an allocation of {size} failed)",
        LESS_MEMORY,
    ),
    _end(
        r".{0,120}(?:CUDA error: out of memory|CUDA out of memory|NV_ERR_NO_MEMORY)",
        "the GPU has no memory left",
        LESS_MEMORY,
    ),
    _end(
        r"RuntimeError: Failed to infer device type",
        "vLLM found no device that it can run on",
        "look whether the driver works (`nvidia-smi`) and this vLLM is built for the device",
    ),
    _end(
        r".{0,120}ptxas fatal +: Value '(?P<gpu>sm_\w{1,10})' is not defined for option 'gpu-name'",
        "Triton's own ptxas is too old for this GPU ({gpu})",
        "set TRITON_PTXAS_PATH to the ptxas of CUDA 13, usually /usr/local/cuda/bin/ptxas",
    ),
    _raised(
        r"Unknown attention backend: '(?P<name>[^']{1,60})'",
        "this vLLM has no attention backend `{name}`",
        "choose one of those that the log lists, or leave `--attention-backend` out",
    ),
    _raised(
        r"Selected backend (?:AttentionBackendEnum\.)?(?P<name>\w{1,60}) is not valid for "
        r"this configuration\. Reason: (?P<why>.{1,160})",
        "the attention backend {name} cannot be used here: {why}",
        "choose another `--attention-backend`, or leave it out",
    ),
    _raised(
        r"No valid attention backend found for ",
        "no attention backend fits this model, device and KV cache type",
        "look into the reasons that the log lists; often `--kv-cache-dtype` is one",
    ),
    _end(
        r".{0,200}(?:GatedRepoError|[Cc]annot access gated repo|trying to access a gated repo)",
        "the model is gated, and the hub does not know who asks",
        "accept its terms on its page, then set HF_TOKEN",
    ),
    _end(
        r".{0,60}Repo id must be in the form .{1,60}: '(?P<name>[^']{1,200})'",
        "there is no model in {name}",
        "check the path; a model of the hub is named `owner/name`",
    ),
    _end(
        r".{0,200}(?:RepositoryNotFoundError|is not a local folder and is not a valid model ident|"
        r"40[14] Client Error)",
        "there is no such model, neither as a folder nor on the hub (or it is private)",
        "check the name; set HF_TOKEN where it is private",
    ),
    _end(
        r".{0,200}(?:outgoing traffic has been disabled|OfflineModeIsEnabled|"
        r"offline mode is enabled)",
        "the model is not in the local cache, and downloads are switched off (HF_HUB_OFFLINE)",
        "download it first (`hf download`), or unset HF_HUB_OFFLINE",
    ),
    _end(
        r".{0,200}(?:We couldn't connect to|Temporary failure in name resolution|Name or service "
        r"not known|Max retries exceeded with url)",
        "the model is not in the local cache, and the hub cannot be reached",
        "check the network, or download the model first",
    ),
    _end(
        r".{0,300}(?:`trust_remote_code=True`|the `--trust-remote-code` flag)",
        "the model brings code of its own, which vLLM does not run unasked",
        "read that code; then add `--trust-remote-code`",
    ),
    _end(
        r".{0,60}(?:OSError: )?\[Errno (?:98|48)\] .{0,60}[Aa]ddress already in use",
        "another program listens on the port",
        "end it, or choose another `--port`",
    ),
    _end(
        r".{0,90}(?:[Tt]he supplied chat template string \((?P<file>[^)]{1,120})\)"
        r" appears path-like|the supplied chat template path doesn't exist)",
        "there is no such file for `--chat-template`",
        "check the path; it starts from the folder in which you are",
    ),
    _end(
        r"(?:ModuleNotFoundError|ImportError): No module named '(?P<name>[\w.]{1,80})'",
        "the Python package `{name}` is missing in vLLM's environment",
        "install it there, or leave out the flag that needs it",
    ),
    _end(
        r"OSError: \[Errno 28\] ",
        "a disk is full",
        "make room where models and caches are kept",
    ),
)
