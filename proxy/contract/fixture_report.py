"""`sluicegate policy test`: whether the fixtures of policy files hold, in lines for people."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from proxy.contract.fixture_file import folder_of, read_fixtures
from proxy.contract.fixture_run import Difference, run_fixtures
from proxy.contract.in_process import full_kinds
from proxy.contract.policy_file import load_policy
from proxy.errors import ConfigError, Problem
from proxy.gates.registry import gate_kinds


class FixtureReport:
    """Tests one policy file after the other; `holds` tells of all that were tested so far."""

    def __init__(self, fixtures: Path | None = None) -> None:
        """`fixtures`: the folder to take instead of the one beside each policy."""
        self._folder = fixtures
        self._kinds = full_kinds(gate_kinds())
        self.holds = True

    def lines(self, files: Sequence[Path]) -> Iterator[str]:
        """What came of each file. Raises `ConfigError` at the end, with all that is wrong."""
        problems: list[Problem] = []
        for file in files:
            try:
                yield from self._test(file)
            except ConfigError as error:
                problems.extend(error.problems)
        if problems:
            raise ConfigError(problems)

    def _test(self, file: Path) -> Iterator[str]:
        policy = load_policy(file, self._kinds)
        gates = [rule.gate.name for rule in policy.rules]
        fixtures = read_fixtures(self._folder or folder_of(file), gates)
        differences = asyncio.run(run_fixtures(policy, fixtures))
        if not differences:
            yield f"{file}: {_count(len(fixtures))}. {policy.label}"
            return
        self.holds = False
        yield f"{file}: {len(differences)} of {len(fixtures)} fixtures do not hold. {policy.label}"
        for difference in differences:
            yield from _told(difference)


def _count(number: int) -> str:
    return f"all {number} fixtures hold" if number > 1 else "its fixture holds"


def _told(difference: Difference) -> Iterator[str]:
    fixture = difference.fixture
    yield f"  {fixture.place}: {fixture.name}"
    for line in difference.lines:
        yield f"    {line}"
