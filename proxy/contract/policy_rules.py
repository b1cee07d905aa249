"""The `gates` of a policy file: each block becomes a rule, its ladder checked step by step.

Ladders, `on_error`, `fallback_text`, `mode` and `stream` belong to the rule, all else is an option
of the gate.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, Field, ValidationError

from proxy.contract.known_words import did_you_mean
from proxy.contract.model_problems import Origin, problems_of
from proxy.contract.policy import GateSpec, Mode, Rule, Step, StepKind, StreamMode
from proxy.contract.policy_judges import judge_lane, judge_problems
from proxy.contract.policy_ladders import (
    WrittenLadder,
    fallback_problems,
    ladder_block,
    shape_problems,
    take_ladders,
)
from proxy.contract.section import Section
from proxy.errors import Place, Problem
from proxy.gates.base import JudgesCalls
from proxy.gates.registry import GateKind
from proxy.yaml_places import KeyPath, Places

M = TypeVar("M", bound=BaseModel)

_OnErrorWord: TypeAlias = Literal["deliver", "flag", "park", "reject"]


class RuleBlock(Section):
    """The keys of a gate's block that are the same for every gate."""

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
    """Reads gate blocks against the gates that exist and the lanes of the settings, if known.

    Notes every problem it meets; the rules are of use only if there is none.
    """

    kinds: Mapping[str, GateKind]
    lanes: Collection[str] | None
    places: Places
    problems: list[Problem] = field(default_factory=list)

    def read(self, gates: Mapping[str, Any], mode: Mode) -> list[Rule]:
        """The rules, in the order in which gates judge. `mode` is the policy's own."""
        for name in gates.keys() - self.kinds.keys():
            self._refuse_gate(name)
        blocks = {
            name: _with_borrowed(kind, gates[name], gates)
            for name, kind in self.kinds.items()
            if name in gates
        }
        rules = [self._rule(self.kinds[name], block, mode) for name, block in blocks.items()]
        return [rule for rule in rules if rule is not None]

    def _rule(self, kind: GateKind, block: Any, mode: Mode) -> Rule | None:
        path: KeyPath = ("gates", kind.name)
        members = {} if block is None else block
        if not isinstance(members, dict):
            message = f"`gates.{kind.name}` must hold the gate's options"
            self._add(self.places.value(path), message, "write keys and values, or nothing")
            return None
        members, ladders = take_ladders(members, kind.ladders)
        own = {name: value for name, value in members.items() if name in RuleBlock.model_fields}
        rest = {name: value for name, value in members.items() if name not in own}
        steps = self._steps(ladders, path)
        self._check_ladders(members, ladders, path)
        head = self._validated(RuleBlock, own, Origin(self.places, path))
        siblings = [
            *((name,) for name in RuleBlock.model_fields),
            *(one.key for one in kind.ladders),
        ]
        options = self._validated(kind.options, rest, Origin(self.places, path, siblings))
        if head is None or options is None or not steps:
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
        spec = GateSpec(kind.name, options.model_dump_json())
        return Rule(
            gate,
            next(iter(steps.values())),
            Step(StepKind(head.on_error)),
            Mode(head.mode or mode),
            spec,
            head.fallback_text,
            StreamMode(head.stream or StreamMode.HOLD),
            steps if len(steps) > 1 else {},
            judge_lane(members, ladders),
            kind.reads_promise,
        )

    def _check_ladders(
        self, members: Mapping[str, Any], ladders: Sequence[WrittenLadder], path: KeyPath
    ) -> None:
        """What some steps need beside them: a text, a lane."""
        text = members.get("fallback_text", "")
        self.problems.extend(fallback_problems(ladders, text, path, self.places))
        self.problems.extend(judge_problems(members, ladders, path, self.places, self.lanes))

    def _steps(
        self, ladders: Sequence[WrittenLadder], path: KeyPath
    ) -> dict[str, tuple[Step, ...]] | None:
        """The steps of each ladder by its name, or None where one is wrong."""
        steps: dict[str, tuple[Step, ...]] | None = {}
        for ladder in ladders:
            key = (*path, *ladder.kind.key)
            self.problems.extend(shape_problems(ladder.words, key, self.places, self.lanes))
            origin = Origin(self.places, key[:-1])
            block = self._validated(ladder_block(ladder.kind), ladder.members, origin)
            if block is None or steps is None:
                steps = None
            else:
                steps[ladder.kind.name] = ladder.steps(block)
        return steps

    def _validated(self, model: type[M], members: Mapping[str, Any], origin: Origin) -> M | None:
        try:
            return model.model_validate(members)
        except ValidationError as error:
            self.problems.extend(problems_of(error, model, origin))
            return None

    def _refuse_gate(self, name: str) -> None:
        place = self.places.key(("gates", name))
        self._add(place, f"unknown gate `{name}`", did_you_mean(name, self.kinds))

    def _add(self, place: Place, message: str, remedy: str) -> None:
        self.problems.append(Problem(place, message, remedy))


def _with_borrowed(kind: GateKind, block: Any, gates: Mapping[str, Any]) -> Any:
    """A gate's block with the options that it leaves to another gate's."""
    if not kind.borrows or not isinstance(block, dict | None):
        return block
    lenders = {option: gates.get(lender) for option, lender in kind.borrows.items()}
    borrowed = {
        option: lender[option]
        for option, lender in lenders.items()
        if isinstance(lender, dict) and option in lender
    }
    return {**borrowed, **(block or {})}
