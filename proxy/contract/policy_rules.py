"""The `gates` of a policy file: each block becomes a rule, its ladder checked step by step.

`on_fail`, `on_error`, `fallback_text`, `mode` and `stream` belong to the rule, all else are the
gate's options.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, Field, ValidationError

from proxy.contract.known_words import NOT_AVAILABLE, did_you_mean
from proxy.contract.model_problems import Origin, problems_of
from proxy.contract.policy import GateSpec, Mode, Rule, Step, StepKind, StreamMode
from proxy.contract.section import Section, not_yet
from proxy.contract.yaml_places import KeyPath, Places
from proxy.errors import Place, Problem
from proxy.gates.base import JudgesCalls
from proxy.gates.registry import GateKind

M = TypeVar("M", bound=BaseModel)

# Gates of the design that this version does not have.
_GATES_TO_COME: Final = ("length", "evidence", "abstain", "pattern")
_AGAIN: Final = frozenset({"same", "vary", "reask", "escalate"})
_ENDS: Final = frozenset({"deliver", "flag", "park", "fallback", "reject"})

_StepWord: TypeAlias = Annotated[
    Literal["same", "vary", "reask", "deliver", "flag", "fallback", "reject"],
    not_yet({"escalate": "reask", "park": "reject", "judge": "flag"}),
]
_OnErrorWord: TypeAlias = Annotated[
    Literal["deliver", "flag", "reject"],
    not_yet({"park": "reject"}),
]


class RuleBlock(Section):
    """The keys of a gate's block that are the same for every gate."""

    on_fail: Annotated[
        tuple[_StepWord, ...],
        Field(
            strict=False,
            min_length=1,
            description="The ladder: each failed attempt takes the next step. Only the last step "
            "may end the request (deliver, flag, fallback, reject), and it must.",
        ),
    ] = ("vary", "reask", "reject")
    on_error: Annotated[
        _OnErrorWord, Field(description="What to do when the gate itself fails.")
    ] = "reject"
    fallback_text: Annotated[
        str, Field(description="What the client gets where the ladder ends in `fallback`.")
    ] = ""
    mode: Annotated[
        Literal["enforce", "observe"] | None,
        Field(description="observe: judge and count, change nothing. Default: the policy's mode."),
    ] = None
    stream: Annotated[
        Literal["hold", "window"] | None,
        Field(
            description="How this gate treats a stream. hold: nothing leaves before the verdict; "
            "window: text flows, each call waits for its verdict. Default: hold."
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class RuleReader:
    """Reads gate blocks against the gates that exist and the lanes of the settings.

    Notes every problem it meets; the rules are of use only if there is none.
    """

    kinds: Mapping[str, GateKind]
    lanes: Collection[str]
    places: Places
    problems: list[Problem] = field(default_factory=list)

    def read(self, gates: Mapping[str, Any], mode: Mode) -> list[Rule]:
        """The rules, in the order in which gates judge. `mode` is the policy's own."""
        for name in gates.keys() - self.kinds.keys():
            self._refuse_gate(name)
        blocks = {name: gates[name] for name in self.kinds if name in gates}
        rules = [self._rule(self.kinds[name], block, mode) for name, block in blocks.items()]
        return [rule for rule in rules if rule is not None]

    def _rule(self, kind: GateKind, block: Any, mode: Mode) -> Rule | None:
        path: KeyPath = ("gates", kind.name)
        members = {} if block is None else block
        if not isinstance(members, dict):
            message = f"`gates.{kind.name}` must hold the gate's options"
            self._add(self.places.value(path), message, "write keys and values, or nothing")
            return None
        own = {name: value for name, value in members.items() if name in RuleBlock.model_fields}
        rest = {name: value for name, value in members.items() if name not in own}
        self.problems.extend(self._ladder_problems(own.get("on_fail"), (*path, "on_fail")))
        self.problems.extend(self._fallback_problems(own, path))
        head = self._validated(RuleBlock, own, Origin(self.places, path))
        siblings = Origin(self.places, path, siblings=RuleBlock.model_fields)
        options = self._validated(kind.options, rest, siblings)
        if head is None or options is None:
            return None
        try:
            gate = (kind.build_light or kind.build)(options)
        except ValueError as error:
            message = f"the gate `{kind.name}` cannot be built: {error}"
            self._add(self.places.key(path), message, "change its options")
            return None
        if head.stream == "window" and not isinstance(gate, JudgesCalls):
            message = f"the gate `{kind.name}` judges whole replies and cannot let text flow"
            self._add(self.places.value((*path, "stream")), message, "write `stream: hold`")
        ladder = tuple(Step(StepKind(word)) for word in head.on_fail)
        spec = GateSpec(kind.name, options.model_dump_json())
        return Rule(
            gate,
            ladder,
            Step(StepKind(head.on_error)),
            Mode(head.mode or mode),
            spec,
            head.fallback_text,
            StreamMode(head.stream or StreamMode.HOLD),
        )

    def _validated(self, model: type[M], members: Mapping[str, Any], origin: Origin) -> M | None:
        try:
            return model.model_validate(members)
        except ValidationError as error:
            self.problems.extend(problems_of(error, model, origin))
            return None

    def _ladder_problems(self, words: Any, path: KeyPath) -> Iterator[Problem]:
        """The shape of a ladder, so far as its words are known; each word is checked elsewhere."""
        if not isinstance(words, list):
            return
        for index, word in enumerate(words):
            place = self.places.value((*path, index))
            step, _, lane = word.partition(":") if isinstance(word, str) else ("", "", "")
            is_last = index == len(words) - 1
            if step in _ENDS and not is_last:
                message = f"`{word}` ends the request, but a step follows it"
                yield Problem(place, message, "move it to the end or remove what follows")
            if step in _AGAIN and is_last:
                message = f"the ladder stops at `{word}`, which is no end"
                remedy = "add `deliver`, `flag`, `fallback` or `reject` as the last step"
                yield Problem(place, message, remedy)
            if step == StepKind.ESCALATE and lane not in self.lanes:
                message = f"there is no lane `{lane}` in the settings"
                yield Problem(place, message, did_you_mean(lane, self.lanes))

    def _fallback_problems(self, own: Mapping[str, Any], path: KeyPath) -> Iterator[Problem]:
        """A ladder that ends in `fallback` needs the text that the client is to get."""
        words, text = own.get("on_fail"), own.get("fallback_text", "")
        if not isinstance(words, list) or StepKind.FALLBACK not in words:
            return
        if isinstance(text, str) and not text.strip():
            place = self.places.value((*path, "on_fail", words.index(StepKind.FALLBACK)))
            message = f"`fallback` needs a text, but `{'.'.join(map(str, path))}` has none"
            yield Problem(place, message, 'add `fallback_text: "..."` beside `on_fail`')

    def _refuse_gate(self, name: str) -> None:
        place = self.places.key(("gates", name))
        if name in _GATES_TO_COME:
            self._add(place, f"the gate `{name}` is {NOT_AVAILABLE}", "remove it")
        else:
            self._add(place, f"unknown gate `{name}`", did_you_mean(name, self.kinds))

    def _add(self, place: Place, message: str, remedy: str) -> None:
        self.problems.append(Problem(place, message, remedy))
