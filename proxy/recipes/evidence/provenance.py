"""What of a shipped recipe its source states, and what had to be assumed.

The source prints one recipe whole and describes the others; recipes/provenance.yaml says of every
switch in which way it is known.
"""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

from pydantic import model_validator

from proxy.recipes.evidence.table import Row, read_table

FILE: Final = "provenance.yaml"


class Knowledge(StrEnum):
    """How a switch's value is known."""

    STATED = "stated"
    INFERRED = "inferred"
    """It follows from what the source states of something else."""
    ASSUMED = "assumed"


class _Explained(Row):
    """How something is known: by the source's words, or for a reason."""

    status: Knowledge
    quote: str = ""
    reason: str = ""

    @model_validator(mode="after")
    def _is_explained(self) -> Self:
        is_stated = self.status is Knowledge.STATED
        if (self.quote != "") != is_stated or (self.reason != "") == is_stated:
            other = f"`{Knowledge.ASSUMED if is_stated else self.status}`"
            raise ValueError(f"`stated` has a quote, {other} a reason, and neither has both")
        return self


class Origin(_Explained):
    """Where a value comes from: the source's words, or the reason for which it was assumed."""

    @model_validator(mode="after")
    def _is_stated_or_assumed(self) -> Self:
        if self.status is Knowledge.INFERRED:
            raise ValueError("a switch's value is `stated` or `assumed`")
        return self


class Change(Origin):
    """The origin of one switch. Without a `value` the recipe leaves the switch out."""

    value: str | None = None


class Choice(_Explained):
    """What an engine chose for a switch that its recipe leaves open.

    `stated`: the source saw it of this recipe; `inferred`: it follows from what it says elsewhere.
    """

    value: str

    @model_validator(mode="after")
    def _is_stated_or_inferred(self) -> Self:
        if self.status is Knowledge.ASSUMED:
            raise ValueError("what an engine chose is `stated` or `inferred`")
        return self


class RecipeOrigin(Row):
    """The origin of one recipe: what is as in the recipe `like`, and what is not.

    `chosen` are switches that it leaves open, with what the engine chose and how that is known.
    """

    like: str | None
    kept: Origin
    changes: Mapping[str, Change]
    chosen: Mapping[str, Choice] = {}

    @property
    def assumed(self) -> Mapping[str, Change]:
        """The changes that are assumed."""
        return {
            name: change
            for name, change in self.changes.items()
            if change.status is Knowledge.ASSUMED
        }


class Provenance(Row):
    """The origins of the shipped recipes, by file name."""

    source: str
    recipes: Mapping[str, RecipeOrigin]


def read_provenance(path: Path) -> Provenance:
    """Read the table. Raises `RecipeError` with every problem in it."""
    return read_table(path, Provenance)[0]
