"""Fixtures of a policy: requests, upstream replies, and what must come of them, read from YAML."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, ValidationError, model_validator

from proxy.contract.known_words import did_you_mean
from proxy.contract.model_problems import Origin, problems_of
from proxy.contract.section import CheckFailed, Section
from proxy.errors import ConfigError, Fault, Place, Problem
from proxy.gates.base import Result
from proxy.yaml_places import Places, read_yaml

FOLDER: Final = "fixtures"
_Ending: TypeAlias = Literal["passed", "repaired", "flagged", "parked", "rejected", "refused"]
_WORDS: Final = frozenset({*map(str, Result), *map(str, Fault)})


class FixtureError(ConfigError):
    """A file of fixtures is wrong, or there is none."""


@dataclass(frozen=True, slots=True)
class FixtureReply:
    """One reply of the upstream, and the words that each gate must find for it.

    A word is a fault, or `pass`, `skip`, `error`; `fail` stands for any fault. Gates that are not
    named must find no fault.
    """

    body: bytes
    verdicts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Fixture:
    """One request with all replies that the policy is to ask for, in their order.

    `delivers`: the content that the client gets; None where that is the last reply's, or nothing.
    `cold`: the engine has not been certified.
    """

    name: str
    place: Place
    request: bytes
    replies: tuple[FixtureReply, ...]
    outcome: str
    delivers: str | None = None
    cold: bool = False


def folder_of(policy: Path) -> Path:
    """Where the fixtures of a policy file stand: `fixtures/NAME/` beside it."""
    return policy.parent / FOLDER / policy.stem


def read_fixtures(folder: Path, gates: Collection[str]) -> list[Fixture]:
    """All fixtures of a folder's files. `gates`: those of the policy.

    Raises `FixtureError` with the problems of all files, also where there is no fixture.
    """
    fixtures: list[Fixture] = []
    problems: list[Problem] = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            fixtures.extend(_read(path, gates))
        except FixtureError as error:
            problems.extend(error.problems)
    if not fixtures and not problems:
        remedy = "write NAME.yaml there, or name another folder by `--fixtures`"
        problems.append(Problem(Place(str(folder)), "there are no fixtures", remedy))
    if problems:
        raise FixtureError(problems)
    return fixtures


def _check_verdicts(verdicts: dict[str, str]) -> dict[str, str]:
    for gate, word in verdicts.items():
        if word not in _WORDS:
            raise CheckFailed(f"cannot be `{word}`", did_you_mean(word, _WORDS), (gate,))
    return verdicts


class _Reply(Section):
    content: str | None = None
    json_value: Annotated[Any, Field(alias="json")] = None
    reasoning: str = ""
    tool_calls: Annotated[list[dict[str, Any]], Field(default_factory=list)]
    finish_reason: str = ""
    verdicts: Annotated[
        dict[str, str], Field(default_factory=dict), AfterValidator(_check_verdicts)
    ]

    @model_validator(mode="after")
    def _has_one_content(self) -> "_Reply":
        if self.content is not None and self.json_value is not None:
            raise CheckFailed("has `content` and `json`", "write one of the two")
        return self

    def value(self) -> FixtureReply:
        content = self.content
        if self.json_value is not None:
            content = json.dumps(self.json_value, ensure_ascii=False)
        message = {"role": "assistant", "content": content, "tool_calls": self.tool_calls}
        if self.reasoning:
            message["reasoning"] = self.reasoning
        ending = self.finish_reason or ("tool_calls" if self.tool_calls else "stop")
        choice = {"index": 0, "message": message, "finish_reason": ending}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        head = {"id": "chatcmpl-fixture", "object": "chat.completion", "created": 0, "model": "any"}
        body = {**head, "choices": [choice], "usage": usage}
        return FixtureReply(json.dumps(body).encode(), dict(self.verdicts))


class _Fixture(Section):
    name: Annotated[str, Field(min_length=1)]
    request: Annotated[dict[str, Any], Field(default_factory=dict)]
    replies: Annotated[list[_Reply], Field(default_factory=list)]
    outcome: _Ending
    delivers: str | None = None
    cold: bool = False

    @model_validator(mode="after")
    def _fits_together(self) -> "_Fixture":
        if not self.replies and self.outcome != "refused":
            raise CheckFailed("must have a reply", "write what the upstream answers", ("replies",))
        if self.request.get("stream"):
            raise CheckFailed("cannot stream", "leave it out", ("request", "stream"))
        return self


class _FixtureDocument(Section):
    format: Literal[1]
    request: Annotated[dict[str, Any], Field(default_factory=dict)]
    fixtures: Annotated[list[_Fixture], Field(min_length=1)]


def _read(path: Path, gates: Collection[str]) -> list[Fixture]:
    document = read_yaml(path)
    problems = list(document.problems)
    if document.data is None and problems:
        raise FixtureError(problems)
    try:
        read = _FixtureDocument.model_validate(document.data)
    except ValidationError as error:
        problems += problems_of(error, _FixtureDocument, Origin(document.places))
        raise FixtureError(problems) from error
    problems += _unknown_gates(read, gates, document.places)
    if problems:
        raise FixtureError(problems)
    return [
        _value(fixture, read.request, document.places.value(("fixtures", number)))
        for number, fixture in enumerate(read.fixtures)
    ]


def _value(fixture: _Fixture, common: Mapping[str, Any], place: Place) -> Fixture:
    request = {"model": "any", **common, **fixture.request}
    return Fixture(
        name=fixture.name,
        place=place,
        request=json.dumps(request, ensure_ascii=False).encode(),
        replies=tuple(reply.value() for reply in fixture.replies),
        outcome=fixture.outcome,
        delivers=fixture.delivers,
        cold=fixture.cold,
    )


def _unknown_gates(read: _FixtureDocument, gates: Collection[str], places: Places) -> list[Problem]:
    return [
        Problem(
            places.key(("fixtures", number, "replies", reply, "verdicts", gate)),
            f"the policy has no gate `{gate}`",
            did_you_mean(gate, gates),
        )
        for number, fixture in enumerate(read.fixtures)
        for reply, written in enumerate(fixture.replies)
        for gate in written.verdicts
        if gate not in gates
    ]
