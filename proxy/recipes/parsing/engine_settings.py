"""What an argument list tells the engine, typed. A value that cannot be read is a problem."""

import json
from collections.abc import Mapping
from typing import Any, Final

from proxy.errors import Problem
from proxy.recipes.parsing.human_numbers import read_number
from proxy.recipes.recipe import EngineSettings, Flag, Speculation

_DIGITS: Final = 18
_MAX_PORT: Final = 65_535
_TOKENS: Final = "num_speculative_tokens"
_SPECULATIVE_FLAGS: Final = {
    "method": "--spec-method",
    "model": "--spec-model",
    _TOKENS: "--spec-tokens",
}
_ATTENTION_VARIABLE: Final = "VLLM_ATTENTION_BACKEND"
# As vLLM spells a value that is left to itself.
_UNSET: Final = frozenset({"", "None", "auto"})


class SettingsReader:
    """Reads the settings of one command; `problems` grows with what cannot be read."""

    def __init__(self, flags: Mapping[str, Flag], environment: Mapping[str, str]) -> None:
        self.problems: list[Problem] = []
        self._flags = flags
        self._environment = environment

    def settings(self, model: str | None) -> EngineSettings:
        return EngineSettings(
            model=model,
            served_names=self._served_names(model),
            host=self._text("--host"),
            port=self._port(),
            max_model_len=self._length("--max-model-len"),
            max_num_seqs=self._count("--max-num-seqs"),
            max_num_batched_tokens=self._length("--max-num-batched-tokens"),
            gpu_memory_utilization=self._share("--gpu-memory-utilization"),
            tensor_parallel=self._count("--tensor-parallel-size"),
            pipeline_parallel=self._count("--pipeline-parallel-size"),
            quantization=self._text("--quantization"),
            kv_cache_dtype=self._text("--kv-cache-dtype"),
            attention_backend=self._attention_backend(),
            prefix_caching=self._switch("--enable-prefix-caching"),
            tool_parser=self._text("--tool-call-parser"),
            reasoning_parser=self._text("--reasoning-parser"),
            speculation=self._speculation(),
        )

    def _served_names(self, model: str | None) -> tuple[str, ...]:
        flag = self._flags.get("--served-model-name")
        if flag and flag.values:
            return flag.values
        return (model,) if model else ()

    def _text(self, name: str) -> str | None:
        flag = self._flags.get(name)
        value = flag.value if flag else None
        return None if value in _UNSET else value

    def _count(self, name: str) -> int | None:
        """A whole number above 0, without a suffix."""
        value = self._text(name)
        number = _whole(value)
        if value is not None and number is None:
            self._refuse(name, value, "a whole number above 0", "write digits only")
        return number

    def _port(self) -> int | None:
        value = self._text("--port")
        number = _whole(value)
        if value is not None and (number is None or number > _MAX_PORT):
            self._refuse("--port", value, f"a port from 1 to {_MAX_PORT}", "such as 8000")
            return None
        return number

    def _length(self, name: str) -> int | None:
        """Tokens, with a suffix where people like one; `auto` and -1 leave it to the engine."""
        value = self._text(name)
        if value is None or value == "-1":
            return None
        number = read_number(value)
        if number is not None and number > 0:
            return number
        wanted = "a number of tokens, such as 262144, 256K or 32k"
        self._refuse(name, value, wanted, "write digits, or a suffix k or K")
        return None

    def _share(self, name: str) -> float | None:
        value = self._text(name)
        if value is None:
            return None
        try:
            share = float(value)
        except ValueError:
            share = 0.0
        if 0 < share <= 1:
            return share
        self._refuse(name, value, "a share above 0, at most 1", "write 0.9 for 90 %")
        return None

    def _switch(self, name: str) -> bool | None:
        flag = self._flags.get(name)
        return None if flag is None else not flag.negated

    def _attention_backend(self) -> str | None:
        """The flag, its older spelling inside a configuration, or the environment's variable."""
        if backend := self._text("--attention-backend"):
            return backend
        configured = self._document("--attention-config").get("backend")
        if isinstance(configured, str) and configured not in _UNSET:
            return configured
        return self._environment.get(_ATTENTION_VARIABLE) or None

    def _speculation(self) -> Speculation | None:
        """The configuration, with the flags that set single keys of it."""
        options = dict(self._document("--speculative-config"))
        for key, name in _SPECULATIVE_FLAGS.items():
            if (value := self._text(name)) is not None:
                options[key] = self._count(name) if key == _TOKENS else value
        if not options:
            return None
        method, model, tokens = options.get("method"), options.get("model"), options.get(_TOKENS)
        return Speculation(
            method if isinstance(method, str) else None,
            tokens if isinstance(tokens, int) and not isinstance(tokens, bool) else None,
            model if isinstance(model, str) else None,
            options,
        )

    def _document(self, name: str) -> Mapping[str, Any]:
        """The JSON object that a flag holds; empty where there is none."""
        value = self._text(name)
        if value is None:
            return {}
        try:
            document = json.loads(value)
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deep"
            self._refuse(name, value, "JSON", f"{reason}; write it in single quotes")
            return {}
        if isinstance(document, dict):
            return document
        self._refuse(name, value, "a JSON object", "write {...}")
        return {}

    def _refuse(self, name: str, value: str, wanted: str, remedy: str) -> None:
        message = f"`{name}` must be {wanted}; it is `{value[:80]}`"
        problem = Problem(self._flags[name].place, message, remedy)
        if problem not in self.problems:
            self.problems.append(problem)


def _whole(value: str | None) -> int | None:
    """A number above 0 that is written in digits alone."""
    if value is None or not (value.isascii() and value.isdigit()) or len(value) > _DIGITS:
        return None
    return int(value) or None
