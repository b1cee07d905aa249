"""The flags of a recipe's command, held against what a vLLM knows of its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from proxy.errors import Place
from proxy.nearest import did_you_mean, nearest
from proxy.recipes.check.finding import Finding, Severity
from proxy.recipes.check.flag_value import Refused, refusal
from proxy.recipes.check.subject import Subject
from proxy.recipes.check.values import secret
from proxy.recipes.recipe import SERVE, Flag
from proxy.recipes.show.secrets import is_secret
from proxy.recipes.vllm.facts import Arity, VllmFlag

# A flag this near to a known one is misspelt, whatever build the recipe runs.
_TYPO: Final = 0.9
_COLLECTING: Final = "--middleware"
_SHOWN_CHARACTERS: Final = 60
_WITHOUT_VALUE: Final = frozenset({Arity.SWITCH, Arity.FLAG})
_NEEDS_VALUE: Final = frozenset({Arity.ONE, Arity.MANY})
_PLUGIN_OF: Final = {
    "--tool-call-parser": "--tool-parser-plugin",
    "--reasoning-parser": "--reasoning-parser-plugin",
}


def check_flags(subject: Subject) -> Iterator[Finding]:
    """Every flag as it is written, and how they stand together."""
    for flag in subject.recipe.command.written:
        yield from _Written(subject, flag).findings()
    yield from _repeated(subject)
    yield from _dotted_and_whole(subject)
    yield from _words(subject)


@dataclass(frozen=True, slots=True)
class _Written:
    subject: Subject
    flag: Flag

    def findings(self) -> Iterator[Finding]:
        known = self.subject.facts.flag(self.flag.name) if self.flag.known else None
        if known is None:
            yield self._unknown()
            return
        yield from self._spelling(known)
        yield from self._arity(known)
        if self.flag.values and not self._is_dotted:
            yield from self._value(known)
            if self._holds_secret:
                yield secret(self._value_place, f"`{self.flag.name}`")

    def _unknown(self) -> Finding:
        name = self.flag.name
        spellings = [
            spelling
            for flag in self.subject.facts.flags
            for spelling in (flag.name, *flag.aliases)
            if spelling.startswith("--")
        ]
        near = nearest(name, spellings)
        is_typo = nearest(name, [near] if near else [], _TYPO) and not name.startswith(near or name)
        message = f"vLLM {self.subject.facts.version} does not know `{name[:_SHOWN_CHARACTERS]}`"
        remedy = f"did you mean `{near}`?" if near else "remove it"
        severity = Severity.ERROR if is_typo else self.subject.document.unknown_is
        remedy = remedy if is_typo else self.subject.document.or_newer(remedy)
        return Finding(severity, "unknown-flag", self.flag.place, message, remedy)

    def _spelling(self, known: VllmFlag) -> Iterator[Finding]:
        written = self.flag.spelling.partition("=")[0].partition(".")[0].replace("_", "-")
        names = {known.name, *known.aliases}
        if not written.startswith("--") or written in names or self.flag.negated:
            return
        message = f"`{written}` is short for `{known.name}`"
        remedy = "write the whole name: another version may have a second flag that begins so"
        yield self._warning("shortened-flag", message, remedy)

    def _arity(self, known: VllmFlag) -> Iterator[Finding]:
        name = self.flag.spelling.partition("=")[0][:_SHOWN_CHARACTERS]
        if known.arity in _NEEDS_VALUE and not self.flag.values and not self.flag.negated:
            yield self._error(
                "missing-value", f"`{name}` needs a value", "write it behind the flag"
            )
        elif known.arity in _WITHOUT_VALUE and self.flag.values:
            remedy = f"write `{known.name}`"
            if known.arity is Arity.SWITCH:
                remedy += f" or `--no-{known.name.removeprefix('--')}`"
            yield self._error("unexpected-value", f"`{name}` takes no value", remedy)

    def _value(self, known: VllmFlag) -> Iterator[Finding]:
        if refused := refusal(known, self.flag):
            yield self._refused(refused)
        elif registered := self._registry():
            yield from self._unregistered(*registered)

    def _refused(self, refused: Refused) -> Finding:
        origin = self.subject.origins.of_value(self.flag)
        place = origin.at(self.subject.document.places, refused.offset)
        severity = self.subject.document.unknown_is if refused.is_choice else Severity.ERROR
        remedy = refused.remedy
        if refused.is_choice:
            remedy = self.subject.document.or_newer(remedy)
        shown = "" if is_secret(self.flag.name) else f"; it is `{self._shown}`"
        message = f"`{self.flag.name}` must be {refused.wanted}{shown}"
        return Finding(severity, refused.code, place, message, remedy)

    def _registry(self) -> tuple[str, tuple[str, ...]] | None:
        """What the value names, and the names that there are."""
        facts = self.subject.facts
        return {
            "--tool-call-parser": ("tool parser", facts.tool_parsers),
            "--reasoning-parser": ("reasoning parser", facts.reasoning_parsers),
            "--attention-backend": ("attention backend", (*facts.attention_backends, "AUTO")),
            "--quantization": ("quantization", (*facts.quantizations, "None", "")),
        }.get(self.flag.name)

    def _unregistered(self, noun: str, names: tuple[str, ...]) -> Iterator[Finding]:
        value = self.flag.values[-1]
        # vLLM turns this one into upper case before it looks.
        looked_for = value.upper() if self.flag.name == "--attention-backend" else value
        plugin = _PLUGIN_OF.get(self.flag.name, "")
        if looked_for in names or len(names) <= 1 or self.subject.flag(plugin):
            return
        document = self.subject.document
        version = self.subject.facts.version
        message = f"vLLM {version} has no {noun} `{self._shown}`"
        remedy = document.or_newer(did_you_mean(value, names, "see `vllm serve --help`"))
        yield Finding(document.unknown_is, "unknown-name", self._value_place, message, remedy)

    @property
    def _holds_secret(self) -> bool:
        """Whether the file does: an override has no line in it, and a variable no value."""
        is_value = is_secret(self.flag.name) and not self.flag.values[-1].startswith("$")
        return is_value and self._value_place.line > 0

    @property
    def _is_dotted(self) -> bool:
        return "." in self.flag.spelling.partition("=")[0]

    @property
    def _shown(self) -> str:
        return (self.flag.value or "")[:_SHOWN_CHARACTERS]

    @property
    def _value_place(self) -> Place:
        return self.subject.value_place(self.flag)

    def _error(self, code: str, message: str, remedy: str) -> Finding:
        return Finding(Severity.ERROR, code, self.flag.place, message, remedy)

    def _warning(self, code: str, message: str, remedy: str) -> Finding:
        return Finding(Severity.WARNING, code, self.flag.place, message, remedy)


def _repeated(subject: Subject) -> Iterator[Finding]:
    first: dict[str, Flag] = {}
    for flag in subject.recipe.command.written:
        if "." in flag.spelling.partition("=")[0] or flag.name == _COLLECTING:
            continue
        # An override stands behind all others on purpose.
        if flag.name in first and flag.place.line:
            earlier = first[flag.name].place
            message = f"`{flag.name}` stands twice, first in line {earlier.line}; the last counts"
            yield Finding(
                Severity.WARNING, "repeated-flag", flag.place, message, "remove one of the two"
            )
        first.setdefault(flag.name, flag)


def _dotted_and_whole(subject: Subject) -> Iterator[Finding]:
    written = subject.recipe.command.written
    whole = {flag.name for flag in written if "." not in flag.spelling.partition("=")[0]}
    for flag in written:
        if flag.name in whole and "." in flag.spelling.partition("=")[0]:
            name = flag.name[:_SHOWN_CHARACTERS]
            message = f"`{name}` is given as a whole too; vLLM takes only what has dots"
            yield Finding(
                Severity.ERROR,
                "dotted-and-whole",
                flag.place,
                message,
                f"write everything into the JSON of `{name}`, or everything with dots",
            )


def _words(subject: Subject) -> Iterator[Finding]:
    command = subject.recipe.command
    for word in command.stray:
        message = f"`{word.text[:_SHOWN_CHARACTERS]}` belongs to no flag, and vLLM takes one model"
        yield Finding(
            Severity.ERROR, "stray-word", word.place, message, "remove it, or put it in quotes"
        )
    begin = next((word.place for word in chain(command.words)), subject.document.places.root)
    if command.model is None:
        yield Finding(
            Severity.ERROR,
            "no-model",
            begin,
            "the command names no model: vLLM would load a default of its own",
            "write the model behind `vllm serve`"
            if command.program[-1:] == (SERVE,)
            else "write `--model MODEL`; this module makes nothing of a word without a flag",
        )
    elif _is_model_missed(subject):
        yield Finding(
            Severity.ERROR,
            "model-not-first",
            begin,
            "with `--served-model-name`, vLLM wants the model as the first word",
            "write the model directly behind `vllm serve`",
        )


def _is_model_missed(subject: Subject) -> bool:
    """Whether vLLM misses its first word: with names to serve, and no `--model` spelled out.

    A module of Python is not asked for it, nor is a file behind `--config` looked into.
    """
    command = subject.recipe.command
    spellings = {flag.spelling.partition("=")[0] for flag in command.written}
    is_asked = command.program[-1:] == (SERVE,) and not spellings & {"--model", "--config"}
    names = subject.flag("--served-model-name")
    return is_asked and names is not None and command.words[0].text.startswith("-")
