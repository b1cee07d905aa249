"""The ladders of a gate's block: taken out of it, checked step by step, made into steps.

A gate has one, `on_fail`, or several of its own at other keys.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, create_model

from proxy.contract.known_words import did_you_mean
from proxy.contract.policy import Step, StepKind
from proxy.contract.section import Section, not_yet
from proxy.errors import Problem
from proxy.gates.registry import LadderKind
from proxy.yaml_places import KeyPath, Places

_AGAIN: Final = frozenset({"same", "vary", "reask", "escalate"})
_ENDS: Final = frozenset({"deliver", "flag", "park", "fallback", "reject"})
JUDGE: Final = "judge"

_StepWord: TypeAlias = Annotated[
    Literal["same", "vary", "reask", "deliver", "flag", "park", "fallback", "reject"],
    not_yet({"escalate": "reask"}),
]
_HintWord: TypeAlias = Literal["deliver", "flag"]
_JudgedWord: TypeAlias = Literal["judge", "deliver", "flag"]

_Steps: TypeAlias = Annotated[
    tuple[_StepWord, ...],
    Field(
        strict=False,
        min_length=1,
        description="The ladder: each failed attempt takes the next step. Only the last step "
        "may end the request (deliver, flag, park, fallback, reject), and it must.",
    ),
]
_HintSteps: TypeAlias = Annotated[
    tuple[_HintWord, ...],
    Field(
        strict=False,
        min_length=1,
        max_length=1,
        description="What follows a hint: deliver (it is only counted) or flag.",
    ),
]
_JudgedSteps: TypeAlias = Annotated[
    tuple[_JudgedWord, ...],
    Field(
        strict=False,
        min_length=1,
        max_length=2,
        description="What follows a hint: deliver (it is only counted) or flag; before it judge, "
        "to ask a model first.",
        json_schema_extra={
            "oneOf": [
                {"maxItems": 1, "items": {"enum": ["deliver", "flag"]}},
                {
                    "minItems": 2,
                    "prefixItems": [{"const": JUDGE}, {"enum": ["deliver", "flag"]}],
                },
            ]
        },
    ),
]


@cache
def ladder_block(kind: LadderKind) -> type[Section]:
    """A model whose only key is the ladder's own, so that problems name it."""
    hint_steps = _JudgedSteps if kind.judge else _HintSteps
    steps: Any = hint_steps if kind.hints_only else _Steps
    fields: dict[str, Any] = {kind.key[-1]: (steps, kind.default)}
    return create_model("LadderBlock", __base__=Section, **fields)


@dataclass(frozen=True, slots=True)
class WrittenLadder:
    """A ladder as it stands in a policy; `words` is None where the block does not have it."""

    kind: LadderKind
    words: Any = None
    is_written: bool = False

    @property
    def members(self) -> dict[str, Any]:
        return {self.kind.key[-1]: self.words} if self.is_written else {}

    def steps(self, block: Section) -> tuple[Step, ...]:
        """The steps, from the validated block of `members`.

        `judge` is none of them: its gate asks before it fails, and the ladder begins after that.
        """
        words: tuple[str, ...] = getattr(block, self.kind.key[-1])
        return tuple(Step(StepKind(word)) for word in words if word != JUDGE)

    @property
    def judges_at(self) -> int | None:
        """Where the step `judge` stands; None: nowhere."""
        words = self.words if isinstance(self.words, list) else []
        return words.index(JUDGE) if JUDGE in words else None


def take_ladders(
    members: Mapping[str, Any], kinds: Collection[LadderKind]
) -> tuple[dict[str, Any], list[WrittenLadder]]:
    """A gate's block without its ladders, and these."""
    rest = dict(members)
    ladders = []
    for kind in kinds:
        *parents, key = kind.key
        holder = rest
        for parent in parents:
            inner = holder.get(parent)
            holder[parent] = dict(inner) if isinstance(inner, dict) else inner
            holder = holder[parent] if isinstance(inner, dict) else {}
        is_written = key in holder
        ladders.append(WrittenLadder(kind, holder.pop(key, None), is_written))
        if parents and rest.get(parents[0]) is None:
            rest.pop(parents[0], None)
    return rest, ladders


def shape_problems(
    words: Any, path: KeyPath, places: Places, lanes: Collection[str] | None
) -> Iterator[Problem]:
    """The shape of a ladder, so far as its words are known; each word is checked elsewhere.

    `lanes` None: those of the settings are not known.
    """
    if not isinstance(words, list):
        return
    for index, word in enumerate(words):
        place = places.value((*path, index))
        step, _, lane = word.partition(":") if isinstance(word, str) else ("", "", "")
        is_last = index == len(words) - 1
        if word == JUDGE and is_last:
            message = f"the ladder stops at `{JUDGE}`, which is no end"
            yield Problem(place, message, "add `flag` or `deliver` as the last step")
        if step in _ENDS and not is_last:
            message = f"`{word}` ends the request, but a step follows it"
            yield Problem(place, message, "move it to the end or remove what follows")
        if step in _AGAIN and is_last:
            message = f"the ladder stops at `{word}`, which is no end"
            remedy = "add `deliver`, `flag`, `park`, `fallback` or `reject` as the last step"
            yield Problem(place, message, remedy)
        if step == StepKind.ESCALATE and lanes is not None and lane not in lanes:
            message = f"there is no lane `{lane}` in the settings"
            yield Problem(place, message, did_you_mean(lane, lanes))


def fallback_problems(
    ladders: Collection[WrittenLadder], text: Any, path: KeyPath, places: Places
) -> Iterator[Problem]:
    """A ladder that ends in `fallback` needs the text that the client is to get."""
    if not isinstance(text, str) or text.strip():
        return
    for ladder in ladders:
        if isinstance(ladder.words, list) and StepKind.FALLBACK in ladder.words:
            key = ladder.kind.key
            place = places.value((*path, *key, ladder.words.index(StepKind.FALLBACK)))
            message = f"`fallback` needs a text, but `{'.'.join(map(str, path))}` has none"
            yield Problem(place, message, f'add `fallback_text: "..."` beside `{key[0]}`')
