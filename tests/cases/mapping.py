"""The neutral policy of a case, mapped to a policy file and settings of ours.

Every key is mapped, noted as held in another way, or the case is skipped with the reason.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

POLICY_NAME: Final = "case"

_JSON_REPAIRS: Final = {
    "strip_outer_fence": "unwrap_fence",
    "drop_think_tag": "drop_think_tag",
}
# `retry.vary` and `retry.feedback` in our steps; a seed and a temperature are both `vary`.
_STEPS: Final = {"feedback": "reask", "seed": "vary", "temperature": "vary", "same": "same"}
_COERCIONS: Final = {"json_string": "json_string", "number_string": "number_string"}
_DETAILS: Final = {"numbers": "number", "units": "unit", "dates": "date", "quotes": "quotation"}
_STREAM_MODES: Final = {"hold": "hold", "passthrough": "pass", "auto": "auto"}
_FIXED_LIMITS: Final = {
    "schema_max_depth": "the gate bounds a schema's depth itself (64)",
    "schema_max_bytes": "the gate bounds a schema's size itself (256 KiB)",
    "pattern_timeout_ms": "patterns run on RE2 in linear time and need no clock",
}


class Skip(Exception):
    """The case asks for what this version does not have; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What the proxy is started with. `settings` have dotted names."""

    policy: str
    settings: Mapping[str, object]
    notes: tuple[str, ...]


def set_up(policy: Mapping[str, Any], kinds: Collection[str]) -> Setup:
    """Map a neutral policy; `kinds` are the gates that exist. Raises `Skip`."""
    draft = _Draft(kinds)
    for key, value in policy.items():
        take = _KEYS.get(key)
        if take is None:
            raise Skip(f"`{key}` has no counterpart in a policy or in the settings")
        take(draft, value)
    return draft.setup()


@dataclass(slots=True)
class _Draft:
    kinds: Collection[str]
    strict_json: bool = True
    json_options: dict[str, Any] = field(default_factory=dict)
    tool_options: dict[str, Any] | None = None
    length_targets: list[dict[str, Any]] = field(default_factory=list)
    abstain: dict[str, Any] | None = None
    evidence: dict[str, Any] | None = None
    ladder: tuple[str, ...] = ("reject",)
    # Without `retry` nothing is repeated, so upstream faults are not either.
    attempts: dict[str, Any] = field(
        default_factory=lambda: {"max_attempts": 1, "cold": "none", "upstream_faults": "none"}
    )
    stream_mode: str = "auto"
    models: list[str] = field(default_factory=lambda: ["*"])
    settings: dict[str, object] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def setup(self) -> Setup:
        """A contract comes with the request: a policy that is silent on JSON still holds it."""
        gates: dict[str, Any] = {}
        if self.strict_json:
            gates["strict_json"] = {**self.json_options, "on_fail": list(self.ladder)}
        if self.tool_options is not None:
            gates["tool_calls"] = {**self.tool_options, "on_fail": list(self.ladder)}
        if self.length_targets:
            gates["length"] = {"targets": self.length_targets, "on_fail": list(self.ladder)}
        if self.evidence is not None:
            typed = {"check": self.evidence["kinds"], "on_fail": list(self.ladder)}
            sources = self.evidence["sources"]
            gates["evidence"] = {"sources": sources, "typed": typed, "soft": {"check": []}}
        if self.abstain is not None:
            gates["abstain"] = self.abstain
        document = {
            "format": 1,
            "name": POLICY_NAME,
            "match": {"models": self.models},
            "attempts": self.attempts,
            "stream": {"mode": self.stream_mode},
            "gates": gates,
        }
        settings = {"policies.order": [POLICY_NAME], "engine.poll_seconds": 3600, **self.settings}
        return Setup(yaml.safe_dump(document, sort_keys=False), settings, tuple(self.notes))


def _json(draft: _Draft, value: Mapping[str, Any]) -> None:
    _only("json", value, ("strict", "max_whitespace_run", "repair", "rescue_from_reasoning"))
    draft.strict_json = value.get("strict", True)
    repairs = [_word("json.repair", _JSON_REPAIRS, word) for word in value.get("repair", ())]
    if value.get("rescue_from_reasoning"):
        repairs.append("json_from_reasoning")
    draft.json_options["repair"] = repairs
    if "max_whitespace_run" in value:
        draft.json_options["max_whitespace_run"] = value["max_whitespace_run"]


def _tools(draft: _Draft, value: Mapping[str, Any]) -> None:
    _only("tools", value, ("validate", "empty_args", "coerce", "history"))
    if not value.get("validate", True):
        return
    if "tool_calls" not in draft.kinds:
        raise Skip("no gate tool_calls in this version")
    coercions = [_word("tools.coerce", _COERCIONS, word) for word in value.get("coerce", ())]
    options: dict[str, Any] = {"coerce": coercions}
    if "empty_args" in value:
        words = {"normalise": ["empty_arguments"], "keep": []}
        options["repair"] = _word("tools.empty_args", words, value["empty_args"])
    if "history" in value:
        options["history"] = value["history"]
    draft.tool_options = options


def _retry(draft: _Draft, value: Mapping[str, Any]) -> None:
    """`cold`: only the identical repetition while cold. `any`: a ladder, and no cold step of it.

    A ladder that is not named is the one of `vary`, with which the production policy begins.
    """
    _only("retry", value, ("max", "when", "vary", "feedback"))
    extra: int = value.get("max", 0)
    draft.attempts = {"max_attempts": extra + 1, "cold": "none", "upstream_faults": "same"}
    when = value.get("when", "any")
    if when == "cold":
        draft.attempts["cold"] = "same"
        return
    if when != "any":
        raise Skip(f"`retry.when: {when}` has no counterpart")
    wanted = list(value.get("vary", ()))
    if value.get("feedback") and "feedback" not in wanted:
        wanted.insert(0, "feedback")
    steps = list(dict.fromkeys(_word("retry.vary", _STEPS, word) for word in wanted or ["seed"]))
    steps += steps[-1:] * (extra - len(steps))
    draft.ladder = (*steps[:extra], "reject")
    # Where a case lists what may differ, thinking is not in its list.
    thinking = "keep" if wanted else "off_if_unset"
    floor = 0.3 if "temperature" in wanted or not wanted else None
    draft.attempts["vary"] = {"thinking": thinking, "min_temperature": floor}


def _stream(draft: _Draft, value: Mapping[str, Any]) -> None:
    _only("stream", value, ("mode",))
    draft.stream_mode = _word("stream.mode", _STREAM_MODES, value.get("mode", "auto"))


def _limits(draft: _Draft, value: Mapping[str, Any]) -> None:
    _only("limits", value, ("body_max_bytes", *_FIXED_LIMITS))
    if "body_max_bytes" in value:
        draft.settings["limits.request_bytes"] = value["body_max_bytes"]
    draft.notes += [
        f"limits.{name}: {_FIXED_LIMITS[name]}" for name in _FIXED_LIMITS.keys() & value
    ]


def _timeouts(draft: _Draft, value: Mapping[str, Any]) -> None:
    _only("timeouts", value, ("read_s",))
    seconds = value["read_s"]
    draft.settings |= {"limits.reply_seconds": seconds, "limits.idle_seconds": seconds}


def _pool(draft: _Draft, value: Mapping[str, Any]) -> None:
    """Connections are not counted but requests at once are, each of which has one."""
    _only("pool", value, ("max",))
    draft.settings["admission.concurrent"] = value["max"]


def _models(draft: _Draft, value: list[str]) -> None:
    draft.models = list(value)


def _workers(_: _Draft, value: int) -> None:
    if value != 1:
        raise Skip("several workers are refused: one process for each replica")


def _ready_wait(draft: _Draft, value: float) -> None:
    draft.settings["lanes.main.ready_wait_seconds"] = value


def _probe(draft: _Draft, value: Mapping[str, Any]) -> None:
    """The calls of a probe are the upstream's first; its metrics are apart from the request's."""
    _only("probe", value, ("valid", "on_fail", "attempts"))
    draft.settings["lanes.main.probe"] = dict(value)


def _metrics(draft: _Draft, value: Mapping[str, Any]) -> None:
    _only("metrics", value, ("inject_usage",))
    draft.settings["usage"] = "inject" if value.get("inject_usage", True) else "leave"


def _on_fail(_: _Draft, value: str) -> None:
    """An error is how our ladders end anyway."""
    _word("on_fail", {"error": "reject"}, value)


def _length(draft: _Draft, value: list[dict[str, Any]]) -> None:
    for limit in value:
        _only("length", limit, ("path", "unit", "min", "max"))
        target = {name: each for name, each in limit.items() if name != "path"}
        of = "text" if limit["path"] == "$content" else limit["path"]
        draft.length_targets.append({"of": of, **target})


def _filters(draft: _Draft, value: Mapping[str, Any]) -> None:
    if "on_thin" in value:
        _thin(draft, value)
        return
    _only("evidence", value, ("source_tag", "locale", "source_locale", "check"))
    draft.evidence = {
        "sources": [{"tag": value["source_tag"]}],
        "kinds": [_word("evidence.check", _DETAILS, word) for word in value["check"]],
    }
    if "source_locale" in value:
        draft.notes.append("numerals are read in every plausible way, whatever the locale")


def _thin(draft: _Draft, value: Mapping[str, Any]) -> None:
    """Sources of fewer words than wanted; such an answer is not asked for again."""
    known = ("source_tag", "locale", "min_source_words", "on_thin", "abstain_text")
    _only("evidence", value, known)
    words: int = value["min_source_words"]
    draft.abstain = {
        "sources": [{"tag": value["source_tag"]}],
        "thin": {"always_below": words, "below": words},
        "fallback_text": value["abstain_text"],
        "on_overconfident": [_word("evidence.on_thin", {"abstain": "fallback"}, value["on_thin"])],
    }


_KEYS: Final[Mapping[str, Callable[[_Draft, Any], None]]] = {
    "json": _json,
    "tools": _tools,
    "retry": _retry,
    "stream": _stream,
    "limits": _limits,
    "timeouts": _timeouts,
    "pool": _pool,
    "models": _models,
    "workers": _workers,
    "ready_wait_s": _ready_wait,
    "probe": _probe,
    "metrics": _metrics,
    "on_fail": _on_fail,
    "length": _length,
    "evidence": _filters,
}


def _only(key: str, value: Mapping[str, Any], known: Collection[str]) -> None:
    for name in value:
        if name not in known:
            raise Skip(f"`{key}.{name}` has no counterpart")


def _word(key: str, words: Mapping[str, Any], word: str) -> Any:
    if word not in words:
        raise Skip(f"`{key}: {word}` has no counterpart")
    return words[word]
