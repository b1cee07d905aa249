"""What a query selects, by the grammar of PromQL."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import promql_parser
from promql_parser import MatchOp


@dataclass(frozen=True, slots=True)
class Matcher:
    """A condition on one label."""

    label: str
    operator: MatchOp
    value: str

    def holds(self, labels: Mapping[str, str]) -> bool:
        there = labels.get(self.label, "")
        if self.operator in (MatchOp.Equal, MatchOp.NotEqual):
            found = there == self.value
        else:
            found = re.fullmatch(self.value, there) is not None
        return found == (self.operator in (MatchOp.Equal, MatchOp.Re))

    def alternatives(self) -> "list[Matcher]":
        """One for each value that is named."""
        return [replace(self, value=value) for value in self.value.split("|")]


@dataclass(frozen=True, slots=True)
class Selector:
    """One metric in a query. `function` is the one whose argument a range of it is, else empty."""

    metric: str
    matchers: tuple[Matcher, ...]
    function: str = ""

    @property
    def labels(self) -> set[str]:
        return {one.label for one in self.matchers}


def selectors(expression: str) -> list[Selector]:
    """All of a query. Raises `ValueError` where it is no PromQL."""
    return list(_of(promql_parser.parse(expression), ""))


def _of(node: object, function: str) -> Iterator[Selector]:
    match node:
        case promql_parser.VectorSelector():
            yield _selector(node, "")
        case promql_parser.MatrixSelector():
            yield _selector(node.vector_selector, function)
        case promql_parser.Call():
            for argument in node.args:
                yield from _of(argument, node.func.name)
        case promql_parser.BinaryExpr():
            yield from _of(node.lhs, "")
            yield from _of(node.rhs, "")
        case promql_parser.AggregateExpr() | promql_parser.ParenExpr() | promql_parser.UnaryExpr():
            yield from _of(node.expr, "")
        case promql_parser.NumberLiteral() | promql_parser.StringLiteral() | None:
            return
        case _:
            raise TypeError(f"{type(node).__name__} is no expression")


def _selector(node: promql_parser.VectorSelector, function: str) -> Selector:
    matchers = tuple(Matcher(one.name, one.op, one.value) for one in node.matchers.matchers)
    return Selector(node.name or "", matchers, function)
