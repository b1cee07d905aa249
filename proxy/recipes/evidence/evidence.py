"""What is on record: results with the recipes they were measured with, machines, origins."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from proxy.recipes.compare.comparability import Comparison, Verdict, compare
from proxy.recipes.compare.switch_groups import Group
from proxy.recipes.compare.switches import MODEL
from proxy.recipes.evidence import hardware, provenance
from proxy.recipes.evidence.hardware import Hardware, read_hardware
from proxy.recipes.evidence.provenance import Knowledge, Provenance, RecipeOrigin, read_provenance
from proxy.recipes.evidence.results import Source, Variant, read_results
from proxy.recipes.reading import read_recipe
from proxy.recipes.recipe import Recipe

RESULTS: Final = "results"


@dataclass(frozen=True, slots=True)
class Record:
    """One recipe with its numbers, who measured them, and how its switches are known.

    `name` is what the results call it, such as `mtp1-auto`.
    """

    name: str
    recipe: Recipe
    variant: Variant
    source: Source
    origin: RecipeOrigin | None

    @property
    def is_known(self) -> bool:
        """Whether the source tells the recipe, and not only some of its switches."""
        return self.origin is not None and self.origin.kept.status is Knowledge.STATED


@dataclass(frozen=True, slots=True)
class Match:
    """A record, and how another recipe compares with the one it is of."""

    record: Record
    comparison: Comparison

    @property
    def is_exact(self) -> bool:
        """Whether the results are those of the recipe itself."""
        return self.comparison.verdict is Verdict.IDENTICAL


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is on record in a folder of recipes."""

    records: tuple[Record, ...]
    hardware: Hardware

    def nearest(self, recipe: Recipe) -> Match | None:
        """The record of the same model with the fewest switches that differ.

        By content: names of files and recipes play no part.
        """
        matches = (Match(record, compare(recipe, record.recipe)) for record in self.records)
        related = (
            match for match in matches if match.comparison.verdict is not Verdict.DIFFERENT_MODEL
        )
        return min(related, key=_distance, default=None)


def read_evidence(folder: Path) -> Evidence:
    """Read results, their recipes, origins and machines from a folder of recipes.

    Raises `RecipeError` with the problems of the first file that has any.
    """
    origins = read_provenance(folder / provenance.FILE)
    files = sorted((folder / RESULTS).glob("*.yaml"))
    records = tuple(record for file in files for record in _records(file, folder, origins))
    machines = _machines(records)
    return Evidence(records, read_hardware(folder / hardware.FILE, machines))


def _records(file: Path, folder: Path, origins: Provenance) -> Collection[Record]:
    results = read_results(file)
    return [
        Record(
            name,
            read_recipe(folder / variant.recipe),
            variant,
            results.source,
            origins.recipes.get(variant.recipe),
        )
        for name, variant in results.variants.items()
        if variant.recipe is not None
    ]


def _machines(records: Collection[Record]) -> frozenset[str]:
    return frozenset(record.source.machine for record in records)


def _distance(match: Match) -> tuple[bool, int, bool]:
    """The same checkpoint first, then few switches; of two as near, the one that drafts alike."""
    differences = match.comparison.differences
    is_other_checkpoint = any(difference.name == MODEL for difference in differences)
    drafts_otherwise = any(difference.group is Group.SPECULATION for difference in differences)
    return is_other_checkpoint, len(match.comparison.units), drafts_otherwise
