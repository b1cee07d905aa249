"""The cases of a contract set: what is ordered, from which source, and what is usable."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, ValidationError, model_validator

from proxy.contract.model_problems import Origin, problems_of
from proxy.contract.section import CheckFailed, Section
from proxy.errors import ConfigError, Place, Problem
from proxy.gates.text_units import Unit
from proxy.yaml_places import read_yaml

TAG: Final = "quelle"
NOTE: Final = "hinweis"
_MAX_TOKENS: Final = 4096


class CaseError(ConfigError):
    """A file of cases is wrong, or there is none."""


class CaseKind(StrEnum):
    """What is ordered."""

    SHORT_TEXT = "short_text"
    TEASER = "teaser"


@dataclass(frozen=True, slots=True)
class ContractCase:
    """One order to an editor's desk.

    The answer is JSON: the text at `field`, or null there and what is missing at `hinweis`. Of each
    entry of `must_hold` one spelling must stand in a usable text. `is_thin`: the source bears no
    text, and a usable answer says so. `example` is a usable answer.
    """

    name: str
    kind: CaseKind
    field: str
    unit: Unit
    least: int
    most: int
    must_hold: tuple[tuple[str, ...], ...]
    is_thin: bool
    system: str
    order: str
    source: str
    example: str

    @property
    def asked(self) -> str:
        """All of the request that is no source."""
        return f"{self.system}\n{self.order}"

    def body(self, model: str, seed: int) -> bytes:
        """The request. Its last message is the bare order, as `abstain` reads questions."""
        text = {"type": ["string", "null"]}
        schema = {
            "type": "object",
            "properties": {self.field: text, NOTE: text},
            "required": [self.field, NOTE],
            "additionalProperties": False,
        }
        document = {
            "model": model,
            "messages": [
                {"role": "system", "content": self.system},
                {"role": "user", "content": f"{self.order}\n<{TAG}>{self.source}</{TAG}>"},
            ],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": self.field, "strict": True, "schema": schema},
            },
            "seed": seed,
            "max_tokens": _MAX_TOKENS,
        }
        return json.dumps(document, ensure_ascii=False).encode()

    def answer(self, text: str | None, note: str | None = None) -> str:
        """The content of an answer with this text."""
        return json.dumps({self.field: text, NOTE: note}, ensure_ascii=False)


def read_cases(folder: Path) -> list[ContractCase]:
    """All cases of a folder's files, of each file in turn: a part of them has all kinds.

    Raises `CaseError` with the problems of all files.
    """
    files: list[list[ContractCase]] = []
    problems: list[Problem] = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            files.append(list(_read(path)))
        except CaseError as error:
            problems.extend(error.problems)
    if not files and not problems:
        problems.append(Problem(Place(str(folder)), "there are no cases", "name their folder"))
    if problems:
        raise CaseError(problems)
    return [case for turn in zip_longest(*files) for case in turn if case is not None]


_Count: TypeAlias = Annotated[int, Field(ge=1)]
_Text: TypeAlias = Annotated[str, Field(min_length=1)]
_Ways: TypeAlias = Annotated[list[_Text], Field(min_length=1)]


class _Limits(Section):
    min: _Count
    max: _Count

    @model_validator(mode="after")
    def _are_in_order(self) -> "_Limits":
        if self.max < self.min:
            raise CheckFailed(f"is {self.max}, below `min`", "swap them", ("max",))
        return self


class _Case(Section):
    name: _Text
    limits: _Limits
    must_hold: Annotated[list[_Ways], Field(default_factory=list)]
    thin: bool = False
    source: _Text
    example: _Text


class _CaseDocument(Section):
    format: Literal[1]
    kind: Literal["short_text", "teaser"]
    field: _Text
    unit: Literal["graphemes", "characters", "words", "sentences"]
    system: _Text
    order: _Text
    cases: Annotated[list[_Case], Field(min_length=1)]


def _read(path: Path) -> Iterator[ContractCase]:
    document = read_yaml(path)
    problems = list(document.problems)
    data: Any = document.data
    try:
        read = _CaseDocument.model_validate(data)
    except ValidationError as error:
        if data is not None or not problems:
            problems += problems_of(error, _CaseDocument, Origin(document.places))
        raise CaseError(problems) from error
    if problems:
        raise CaseError(problems)
    for case in read.cases:
        limits = case.limits
        yield ContractCase(
            name=case.name,
            kind=CaseKind(read.kind),
            field=read.field,
            unit=Unit(read.unit),
            least=limits.min,
            most=limits.max,
            must_hold=tuple(map(tuple, case.must_hold)),
            is_thin=case.thin,
            system=read.system.replace("{min}", str(limits.min)).replace("{max}", str(limits.max)),
            order=read.order,
            source=case.source,
            example=case.example,
        )
