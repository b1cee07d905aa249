"""The `env` of a recipe: names, values, and what vLLM makes of them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from proxy.nearest import nearest
from proxy.recipes.check.finding import Finding, Severity
from proxy.recipes.check.subject import Document
from proxy.recipes.check.values import secret
from proxy.recipes.show.secrets import is_secret
from proxy.recipes.vllm.facts import VllmFacts

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VARIABLE: Final = re.compile(r"\$(?:\{[A-Za-z_][^}]{0,60}\}?|[A-Za-z_][A-Za-z0-9_]{0,60})")
_ONLY_VARIABLE: Final = re.compile(r"\$\{?[A-Za-z_][A-Za-z0-9_]*\}?")
_OF_VLLM: Final = "VLLM_"
_API_KEY: Final = "VLLM_API_KEY"
_INSTEAD: Final = {"VLLM_ATTENTION_BACKEND": "use `--attention-backend` instead"}
_NEAR: Final = 0.85
_SHOWN_CHARACTERS: Final = 60


def check_environment(document: Document, facts: VllmFacts) -> Iterator[Finding]:
    """Every variable of one recipe."""
    for name, value in document.mapping("env").items():
        yield from _Variable(document, name, value).findings(facts)


def _near(name: str, known: Iterable[str]) -> str:
    """All names begin alike, and most share words, so that only very near ones count."""
    found = nearest(name.removeprefix(_OF_VLLM), (each[len(_OF_VLLM) :] for each in known), _NEAR)
    return f"did you mean `{_OF_VLLM}{found}`?" if found else "remove it"


@dataclass(frozen=True, slots=True)
class _Variable:
    document: Document
    name: str
    value: Any

    def findings(self, facts: VllmFacts) -> Iterator[Finding]:
        if not _NAME.fullmatch(self.name):
            message = f"`{self.name[:_SHOWN_CHARACTERS]}` is no name of an environment variable"
            remedy = "use letters, digits and `_`, and no digit first"
            yield self._finding(Severity.ERROR, "environment-name", message, remedy)
            return
        yield from self._value_findings()
        known = frozenset({*facts.environment, _API_KEY})
        if facts.environment and self.name.startswith(_OF_VLLM) and self.name not in known:
            message = f"vLLM {facts.version} does not read `{self.name[:_SHOWN_CHARACTERS]}`"
            remedy = _INSTEAD.get(self.name) or self.document.or_newer(_near(self.name, known))
            yield self._finding(Severity.WARNING, "unknown-variable", message, remedy)

    def _value_findings(self) -> Iterator[Finding]:
        if isinstance(self.value, bool):
            message = f"`env.{self.name}` becomes the text `{self.value}`"
            remedy = f"most switches of vLLM are read as numbers: write `{int(self.value)}`"
            yield self._of_value(Severity.WARNING, "environment-switch", message, remedy)
        if not isinstance(self.value, str):
            return
        if not self.value.isprintable():
            message = f"`env.{self.name}` holds a line break or another character that cannot be "
            message += "seen"
            yield self._of_value(
                Severity.ERROR, "control-character", message, "write the value on one line"
            )
        if is_secret(self.name) and self.value and not _ONLY_VARIABLE.fullmatch(self.value):
            yield secret(self.document.places.value(("env", self.name)), f"`env.{self.name}`")
        elif found := _VARIABLE.search(self.value):
            message = f"`{found[0]}` stays as it stands here; sparkrun puts the variable of the "
            message += "control machine in its place, and run-recipe that of the container"
            yield self._of_value(
                Severity.NOTE, "variable-in-environment", message, "write the value out"
            )

    def _of_value(self, severity: Severity, code: str, message: str, remedy: str) -> Finding:
        place = self.document.places.value(("env", self.name))
        return Finding(severity, code, place, message, remedy)

    def _finding(self, severity: Severity, code: str, message: str, remedy: str) -> Finding:
        place = self.document.places.key(("env", self.name))
        return Finding(severity, code, place, message, remedy)
