"""`sluicegate recipe diff`: the switches in which two recipes differ, and what follows from it."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from proxy.ledger.columns import table
from proxy.recipes.compare.base_model import checkpoint_of
from proxy.recipes.compare.comparability import Chosen, Comparison, Difference, Verdict, compare
from proxy.recipes.compare.conclusions import conclusions
from proxy.recipes.compare.diff_results import choices_of, record_of, result_lines, results_document
from proxy.recipes.compare.item import item_lines
from proxy.recipes.compare.switch_groups import Effect, Group
from proxy.recipes.compare.switch_values import SPECULATION_METHOD
from proxy.recipes.compare.switches import MODEL, Switch
from proxy.recipes.evidence.evidence import Evidence, Record
from proxy.recipes.recipe import Recipe
from proxy.recipes.show.printable import printable
from proxy.recipes.show.secrets import MASK, Secrets, is_secret

NOT_SET: Final = "not set"
NOT_KNOWN: Final = "not known"
NOTHING: Final = "nothing: the same path"
EVERYTHING: Final = "everything"
_OFF: Final = "off"
_NONE: Final = "-"
_HEADINGS: Final = ("switch", "A", "B", "may move")
_YIELDING: Final = ("A", "B")


def diff_lines(
    a: Recipe, b: Recipe, *, as_json: bool = False, evidence: Evidence | None = None
) -> Iterator[str]:
    """Lines for people, or one JSON document; secrets are masked in both.

    With `evidence`, the results that are on record for either come last.
    """
    records = [record_of(evidence, recipe) if evidence else None for recipe in (a, b)]
    chosen = Chosen(*(choices_of(record) for record in records))
    report = _Report(a, b, compare(a, b, chosen), records)
    if as_json:
        yield json.dumps(report.document(), indent=2)
    else:
        yield from report.lines()


class _Report:
    def __init__(
        self, a: Recipe, b: Recipe, comparison: Comparison, records: Sequence[Record | None]
    ) -> None:
        self._a = a
        self._b = b
        self._comparison = comparison
        self._records = records
        self._secrets = Secrets(Secrets.of(a).values | Secrets.of(b).values)
        self._conclusions = tuple(conclusions(a, b, comparison))

    def lines(self) -> Iterator[str]:
        for letter, recipe in (("A", self._a), ("B", self._b)):
            yield f"{letter}  {printable(recipe.name)}  ({printable(str(recipe.file))})"
        yield ""
        if self._comparison.differences:
            rows = [self._row(each) for each in self._comparison.differences]
            yield from table(_HEADINGS, rows, yielding=_YIELDING)
            yield ""
        yield self._verdict()
        for sentence in (*self._conclusions, *self._notes()):
            yield from item_lines(printable(sentence))
        if results := list(result_lines(*self._records)):
            yield ""
            yield from map(printable, results)

    def document(self) -> dict[str, Any]:
        return {
            "a": _identity(self._a),
            "b": _identity(self._b),
            "verdict": self._comparison.verdict,
            "switches": list(self._comparison.units),
            "differences": [self._entry(each) for each in self._comparison.differences],
            "not_counted": [self._entry(each) for each in self._comparison.uncounted],
            "because": list(self._conclusions),
            "on_record": [results_document(record) for record in self._records],
        }

    def _verdict(self) -> str:
        verdict = self._comparison.verdict
        if verdict is not Verdict.ONE_SWITCH:
            return str(verdict)
        return f"{verdict}: {printable(self._comparison.units[0])}"

    def _notes(self) -> Iterator[str]:
        rows, units = len(self._comparison.differences), len(self._comparison.units)
        if rows != units:
            yield (
                f"The {rows} rows count as {units}: a new method of speculation is one switch with"
                " all its parts, and a pin of the path that runs anyway is none."
            )
        if any(NOT_SET in _shown(each) for each in self._comparison.differences):
            yield f"`{NOT_SET}` leaves a switch to the engine's default, which is not guessed here."
        if uncounted := self._comparison.uncounted:
            named = ", ".join(f"`{each.name}`" for each in uncounted)
            yield f"Differs too, but moves nothing that is measured or promised: {named}."

    def _row(self, each: Difference) -> tuple[str, ...]:
        a, b = (printable(self._masked(each, text)) for text in _shown(each))
        return printable(each.name), a, b, _effects(each)

    def _masked(self, each: Difference, text: str) -> str:
        if is_secret(each.name) and text != NOT_SET:
            return MASK
        return self._secrets.mask(text)

    def _entry(self, each: Difference) -> dict[str, Any]:
        return {
            "switch": each.name,
            "group": each.group,
            "counts_as": each.unit,
            "a": self._value(each, each.a),
            "b": self._value(each, each.b),
            "may_move": list(each.effects),
            "same_path": each.same_path,
        }

    def _value(self, each: Difference, switch: Switch | None) -> str | None:
        return None if switch is None else self._masked(each, switch.value)


def _identity(recipe: Recipe) -> dict[str, str]:
    return {"name": recipe.name, "file": str(recipe.file), "hash": recipe.hash}


def _effects(each: Difference) -> str:
    if each.same_path:
        return NOTHING
    if {*Effect} - {Effect.START} <= {*each.effects}:
        return EVERYTHING
    return ", ".join(each.effects) or NOT_KNOWN


def _shown(each: Difference) -> tuple[str, str]:
    """Both values; of two JSON objects only the members that are not the same."""
    a, b = (_text(switch) if switch else _absent(each) for switch in (each.a, each.b))
    first, second = _object(a), _object(b)
    if first is None or second is None:
        return a, b
    keys = [key for key in {**first, **second} if _member(first, key) != _member(second, key)]
    return _members(first, keys), _members(second, keys)


def _text(switch: Switch) -> str:
    """Its value; of a model in a hub's cache the repository, since paths are long and say less."""
    return checkpoint_of(switch.value).repository if switch.name == MODEL else switch.value


def _absent(each: Difference) -> str:
    """Without its configuration an engine does not speculate; other defaults are not known."""
    if each.group is not Group.SPECULATION:
        return NOT_SET
    return _OFF if each.name == SPECULATION_METHOD else _NONE


def _object(text: str) -> dict[str, Any] | None:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _member(document: dict[str, Any], key: str) -> str | None:
    """In one spelling, so that `1` and `true` differ; None where there is none."""
    return json.dumps(document[key], sort_keys=True) if key in document else None


def _members(document: dict[str, Any], keys: list[str]) -> str:
    return json.dumps({key: document[key] for key in keys if key in document}, ensure_ascii=False)
