from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import pytest
from pydantic import BaseModel, Field, ValidationError, model_validator

from proxy.contract.model_problems import (
    Origin,
    fields_at,
    has_member,
    is_free_mapping,
    problems_of,
)
from proxy.contract.section import CheckFailed, Section
from proxy.errors import Place
from proxy.yaml_places import Places, parse_yaml


class Word(StrEnum):
    ONE = "one"
    TWO = "two"


class Leaf(Section):
    low: int = 0
    high: Annotated[int, Field(ge=0, le=9)] = 9
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.low > self.high:
            raise CheckFailed("is over `high`", "lower it", ("low",))
        return self


class Tree(Section):
    name: Annotated[str, Field(min_length=2, max_length=4)]
    open: bool = False
    leaf: Leaf | None = None
    leaves: list[Leaf] = Field(default_factory=list)
    named: dict[str, Annotated[Leaf, Field(title="a leaf")]] = Field(default_factory=dict)
    word: Annotated[Word, Field(strict=False)] = Word.ONE
    kind: Literal["auto", "hold"] = "auto"
    file: Annotated[Path | None, Field(strict=False)] = None
    few: Annotated[list[str], Field(max_length=1)] = Field(default_factory=list)


class Lax(BaseModel):
    count: int = 0
    share: float = 0
    open: bool = False

    @model_validator(mode="after")
    def _is_small(self) -> Self:
        if self.count > 9:
            message = "count and share do not fit"
            raise ValueError(message)
        return self


def found(source: str, model: type[BaseModel]) -> list[str]:
    document = parse_yaml(source.encode(), "t.yaml")
    with pytest.raises(ValidationError) as caught:
        model.model_validate(document.data)
    problems = problems_of(caught.value, model, Origin(document.places))
    assert all(problem.remedy for problem in problems)
    return [str(problem) for problem in problems]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            "nmae: abc\nname: abc",
            "1:1: unknown key `nmae` (did you mean `name`?)",
            id="unknown key",
        ),
        pytest.param(
            "name: abc\nleaf: {hihg: 1}",
            "2:8: unknown key `leaf.hihg` (did you mean `high`?)",
            id="unknown key behind an optional part",
        ),
        pytest.param(
            "name: abc\nnamed: {a: {lwo: 1}}",
            "2:13: unknown key `named.a.lwo` (did you mean `low`?)",
            id="unknown key in a mapping",
        ),
        pytest.param(
            "name: abc\nleaves:\n  - low: 1\n  - hi: 1",
            "4:5: unknown key `leaves[1].hi` (did you mean `high`?)",
            id="unknown key in a list",
        ),
        pytest.param(
            "open: true", "1:1: the key `name` is missing (add `name: ...`)", id="missing key"
        ),
        pytest.param(
            "name: 12", "1:7: `name` must be text, not 12 (write it in quotes)", id="number"
        ),
        pytest.param(
            "name: [a]", "1:7: `name` must be text, not a list (write text)", id="list for text"
        ),
        pytest.param(
            "name: a",
            "1:7: `name` must have at least 2 characters, not 1 (write at least 2)",
            id="short text",
        ),
        pytest.param(
            "name: abcde",
            "1:7: `name` must have at most 4 characters, not 5 (write at most 4)",
            id="long text",
        ),
        pytest.param(
            "name: abc\nfew: [a, b]",
            "2:6: `few` must have at most 1 entry, not 2 (write at most 1)",
            id="long list",
        ),
        pytest.param(
            'name: abc\nopen: "yes"',
            "2:7: `open` must be true or false, not text (write true or false)",
            id="text for a truth",
        ),
        pytest.param(
            'name: abc\nleaf: {high: "5"}',
            "2:14: `leaf.high` must be a whole number, not text (write it without quotes)",
            id="quoted number",
        ),
        pytest.param(
            "name: abc\nleaf: {high: 1.5}",
            "2:14: `leaf.high` must be a whole number, not 1.5 (write a whole number)",
            id="broken number",
        ),
        pytest.param(
            "name: abc\nleaf: {share: .nan}",
            "2:15: `leaf.share` must be a finite number, not nan (write a finite number)",
            id="not a number",
        ),
        pytest.param(
            "name: abc\nleaf: {share: few}",
            "2:15: `leaf.share` must be a number, not text (write a number)",
            id="word for a number",
        ),
        pytest.param(
            "name: abc\nleaf: {high: 10}",
            "2:14: `leaf.high` is 10, but must be at most 9 (change the number)",
            id="at most",
        ),
        pytest.param(
            "name: abc\nleaf: {high: -1}",
            "2:14: `leaf.high` is -1, but must be at least 0 (change the number)",
            id="at least",
        ),
        pytest.param(
            "name: abc\nleaf: {share: 0}",
            "2:15: `leaf.share` is 0, but must be above 0.0 (change the number)",
            id="above",
        ),
        pytest.param(
            "name: abc\nleaf: {share: 1}",
            "2:15: `leaf.share` is 1, but must be below 1.0 (change the number)",
            id="below",
        ),
        pytest.param(
            "name: abc\nword: too",
            "2:7: `word` cannot be `too` (did you mean `two`?)",
            id="word of an enumeration",
        ),
        pytest.param(
            "name: abc\nkind: x",
            "2:7: `kind` cannot be `x` (known: auto, hold)",
            id="word of a choice",
        ),
        pytest.param(
            "name: abc\nleaves: low",
            "2:9: `leaves` must be a list, not text (write [low])",
            id="text for a list",
        ),
        pytest.param(
            "name: abc\nnamed: [a]",
            "2:8: `named` must be a mapping of keys and values, not a list"
            " (write a mapping of keys and values)",
            id="list for a mapping",
        ),
        pytest.param(
            "name: abc\nfile: 5",
            "2:7: `file` must be a path, not 5 (write a path)",
            id="number for a path",
        ),
        pytest.param(
            "name: abc\nleaf: {low: 5, high: 3}",
            "2:13: `leaf.low` is over `high` (lower it)",
            id="own check",
        ),
        pytest.param(
            "- a",
            "1:1: the file must be a mapping of keys and values, not a list"
            " (write a mapping of keys and values)",
            id="whole file",
        ),
    ],
)
def test_problem_is_plain_with_place_and_remedy(source: str, expected: str) -> None:
    assert found(source, Tree) == [f"t.yaml:{expected}"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            "count: x",
            "1:8: `count` must be a whole number, not text (write a whole number)",
            id="count",
        ),
        pytest.param(
            "share: x", "1:8: `share` must be a number, not text (write a number)", id="share"
        ),
        pytest.param(
            "open: maybe",
            "1:7: `open` must be true or false, not text (write true or false)",
            id="truth",
        ),
        pytest.param(
            "count: 10",
            "1:1: the file is wrong: count and share do not fit (change the value)",
            id="check of another package",
        ),
    ],
)
def test_models_of_other_packages_are_explained_too(source: str, expected: str) -> None:
    assert found(source, Lax) == [f"t.yaml:{expected}"]


def test_place_and_name_carry_the_prefix_and_siblings_are_suggested() -> None:
    document = parse_yaml(b"gates:\n  g: {on_fial: [x]}\n", "p.yaml")
    origin = Origin(document.places, ("gates", "g"), siblings=[("on_fail",)])
    with pytest.raises(ValidationError) as caught:
        Leaf.model_validate({"on_fial": ["x"]})

    (problem,) = problems_of(caught.value, Leaf, origin)

    assert str(problem) == "p.yaml:2:7: unknown key `gates.g.on_fial` (did you mean `on_fail`?)"


def test_value_that_the_document_does_not_hold_is_placed_at_its_parent() -> None:
    with pytest.raises(ValidationError) as caught:
        Tree.model_validate({})

    (problem,) = problems_of(caught.value, Tree, Origin(Places(Place("settings"))))

    assert str(problem.place) == "settings"


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        pytest.param(("leaf",), {"low", "high", "share"}, id="optional part"),
        pytest.param(("leaves", 3), {"low", "high", "share"}, id="item"),
        pytest.param(("named", "any"), {"low", "high", "share"}, id="member"),
        pytest.param(("named",), set(), id="mapping"),
        pytest.param(("name",), set(), id="plain value"),
        pytest.param(("absent", "deeper"), set(), id="nothing"),
    ],
)
def test_fields_are_those_of_the_model_at_the_path(
    path: tuple[str | int, ...], fields: set[str]
) -> None:
    assert fields_at(Tree, path) == fields


@pytest.mark.parametrize(
    ("path", "there"),
    [
        pytest.param(("leaf", "low"), True, id="field"),
        pytest.param(("named", "any", "low"), True, id="any key of a mapping"),
        pytest.param(("leaf", "absent"), False, id="no field"),
        pytest.param(("name", "deeper"), False, id="below a plain value"),
        pytest.param(("leaves", "0"), False, id="items have no names"),
    ],
)
def test_member_is_there_if_the_model_has_it(path: tuple[str | int, ...], there: bool) -> None:
    assert has_member(Tree, path) is there


def test_mapping_of_anything_is_free_and_one_of_models_is_not() -> None:
    class Holder(Section):
        free: dict[str, Any] = Field(default_factory=dict)
        named: dict[str, Leaf] = Field(default_factory=dict)

    assert is_free_mapping(Holder, ("free",))
    assert not is_free_mapping(Holder, ("named",))
    assert not is_free_mapping(Holder, ("named", "a"))
    assert not is_free_mapping(Holder, ())


def test_key_that_a_field_cannot_be_named_by_is_its_alias() -> None:
    class Aliased(Section):
        json_schema: int = Field(alias="schema", default=0)

    assert fields_at(Aliased, ()) == {"schema"}
    assert has_member(Aliased, ("schema",))
    assert not has_member(Aliased, ("json_schema",))
