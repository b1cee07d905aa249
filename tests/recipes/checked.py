"""Findings of a test's own recipes, one line each."""

from pathlib import Path
from typing import Final

from proxy.recipes.check.check import check_recipe
from proxy.recipes.check.finding import Finding
from proxy.recipes.vllm.facts import pinned_facts
from tests.recipes.made import written

FACTS: Final = pinned_facts()
FIRST: Final = 'recipe_version: "1"\nname: r\ncontainer: vllm-node\n'
SECOND: Final = 'recipe_version: "2"\n'


def findings_of(folder: Path, text: str, *overrides: str) -> tuple[Finding, ...]:
    return check_recipe(written(folder, text), overrides, FACTS, None)


def found(folder: Path, text: str, code: str, *overrides: str) -> list[str]:
    """What is found of one kind: `line:column severity: message (remedy)`."""
    findings = findings_of(folder, text, *overrides)
    return [shown(finding, folder) for finding in findings if finding.code == code]


def shown(finding: Finding, folder: Path) -> str:
    place = str(finding.place).replace(f"{folder}/", "").removeprefix("r.yaml:")
    return f"{place} {finding.severity}: {finding.message} ({finding.remedy})"


def codes(folder: Path, text: str, *overrides: str) -> set[str]:
    return {finding.code for finding in findings_of(folder, text, *overrides)}
