"""Labels of metrics and their closed sets of values."""

from typing import Final

from proxy.errors import Fault
from proxy.telemetry.engine_start import FirstAnswer, StartSource
from proxy.telemetry.metric import Label
from proxy.telemetry.outcome import (
    AttemptResult,
    AttemptStep,
    Endpoint,
    JudgeResult,
    Outcome,
    ProbeResult,
    ReadyWait,
    Unchecked,
)

ENDPOINT: Final = Label("endpoint", tuple(Endpoint), "the surface of the API")
OUTCOME: Final = Label("outcome", tuple(Outcome), "see the [glossary](glossary.md#outcomes)")
STREAM: Final = Label("stream", ("true", "false"), "what the client asked for")
STEP: Final = Label(
    "step",
    tuple(AttemptStep),
    "`cold` and `upstream_fault` repeat the identical request, `waited` repeats a call that was "
    "not accepted once its engine has been [waited for](operations.md#waiting-for-the-engine)",
)
ATTEMPT_RESULT: Final = Label(
    "result",
    tuple(AttemptResult),
    "`relayed`: no enforced gate judged it; `abandoned`: cut off by the client's leaving, the "
    "deadline or a shutdown",
)
VERDICT_RESULT: Final = Label(
    "result",
    ("pass", "fail", "skip", "error"),
    "`error`: the gate could not decide; its `on_error` says what follows",
)
PROBE_RESULT: Final = Label(
    "result",
    tuple(ProbeResult),
    "`failed`: no answer, or one that says nothing of the engine, such as one cut by the token "
    "limit",
)
JUDGE_RESULT: Final = Label(
    "result",
    tuple(JudgeResult),
    "`unreadable`: not the JSON asked for; `failed`: no answer, or a refusal",
)
WAIT_RESULT: Final = Label(
    "result",
    tuple(ReadyWait),
    "`refused`: no room, or the time was over; `gone`: the client left, or the proxy stopped",
)
FAULT: Final = Label("fault", tuple(Fault), "see [errors](errors.md)")
GATE: Final = Label("gate", (), "gates of the loaded policies")
REPAIR: Final = Label(
    "repair",
    (),
    "`unwrap_fence`, `drop_think_tag`, `json_from_reasoning`, `empty_arguments`, the coercions "
    "`json_string` and `number_string`, and `trim_sentence`",
)
REASON: Final = Label(
    "reason",
    tuple(Unchecked),
    "`no_policy`: no policy covers the request; `surface`: not chat, look-ups such as `/v1/models` "
    "not counted; `pattern`: a schema pattern outside RE2; `claims`: claims that were too many to "
    "compare",
)
LANE: Final = Label("lane", (), "lanes of the settings")
FIRST_ANSWER: Final = Label(
    "first_answer",
    tuple(FirstAnswer),
    "`unknown`: the start was over before an answer was judged. Each start counts once: one whose "
    "first answer an earlier run of the proxy has judged does not count again",
)
STATE: Final = Label(
    "state",
    (),
    "`unreachable`, `loading`, `cold`, `certified`: see [operations](operations.md#engine-state)",
)
SOURCE: Final = Label("source", tuple(StartSource), "see [operations](operations.md#engine-state)")
SWITCH: Final = Label(
    "switch",
    (),
    "`model`, `served_model_name`, `max_model_len`, `speculation`, `speculative_tokens`, "
    "`kv_cache_dtype`, `prefix_caching`, `gpu_memory_utilization`, `vllm_version`",
)
VERSION: Final = Label("version", (), "the release of the proxy")
POLICY: Final = Label("policy", (), "names of the loaded policies")
HASH: Final = Label("hash", (), "the first characters of the file's SHA-256")
RECIPE: Final = tuple(
    Label(name, (), "as the recipe says it; empty where it leaves the switch to the engine")
    for name in (
        "recipe",
        "version",
        "model",
        "max_model_len",
        "max_num_seqs",
        "speculative_method",
        "speculative_tokens",
        "attention_backend",
        "quantization",
        "kv_cache_dtype",
    )
)
