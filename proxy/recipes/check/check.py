"""Checks recipes: everything that is wrong with a file, and what is known of what it starts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Final

from proxy.errors import Problem
from proxy.recipes.check.contradictions import check_contradictions
from proxy.recipes.check.environment import check_environment
from proxy.recipes.check.finding import Finding, Severity, in_order, of_problem
from proxy.recipes.check.flag_value import is_unfilled
from proxy.recipes.check.flags import check_flags
from proxy.recipes.check.keys import check_keys
from proxy.recipes.check.launchable import check_launchable
from proxy.recipes.check.parser import check_with_parser
from proxy.recipes.check.placeholders import check_placeholders
from proxy.recipes.check.quotes import check_quotes
from proxy.recipes.check.speculation import check_speculation
from proxy.recipes.check.subject import Document, Subject
from proxy.recipes.check.text import check_text
from proxy.recipes.check.values import check_values
from proxy.recipes.check.versions import check_knowledge
from proxy.recipes.parsing.overrides import Overrides
from proxy.recipes.reading import Reading, open_recipe
from proxy.recipes.show.secrets import Secrets
from proxy.recipes.vllm.facts import VllmFacts
from proxy.recipes.vllm.installed import InstalledVllm

UNREADABLE: Final = "unreadable"
# A file with more of them is no recipe; the rest is not looked for.
MAX_FINDINGS: Final = 200
_MALFORMED: Final = "malformed"
# Of the engine's part of a command, whatever the engine.
_OF_COMMAND: Final = (check_text, check_placeholders, check_quotes)
_OF_VLLM: Final = (check_flags, check_speculation, check_contradictions, check_knowledge)


def check_recipe(
    path: Path, overrides: Sequence[str], facts: VllmFacts, installed: InstalledVllm | None
) -> tuple[Finding, ...]:
    """All findings of one file, sorted by place. Nothing in a recipe is run, whatever it says.

    At most 200 come from the checks, and as many from the reader.
    `facts` are those of `installed` where there is one, whose parser is then asked as well.
    """
    reading = open_recipe(path, overrides, facts)
    document = Document.of(reading)
    given = Overrides.of(overrides, [])
    subject = Subject.of(reading, given, facts, facts.version if installed else None)
    checks = chain(
        check_keys(document),
        check_values(document),
        check_environment(document, facts),
        _of_subject(subject, installed) if subject else (),
    )
    findings = list(islice(checks, MAX_FINDINGS))
    findings += islice(_of_problems(reading, findings), MAX_FINDINGS)
    return in_order(_masked(reading, findings))


def _of_subject(subject: Subject, installed: InstalledVllm | None) -> Iterator[Finding]:
    for check in _OF_COMMAND:
        yield from check(subject)
    yield from check_launchable(subject)
    if not subject.recipe.command.is_vllm:
        yield _other_engine(subject)
        return
    for check in _OF_VLLM:
        yield from check(subject)
    if installed is not None:
        yield from check_with_parser(subject, installed)


def _other_engine(subject: Subject) -> Finding:
    program = " ".join(subject.recipe.command.program)[:60]
    return Finding(
        Severity.NOTE,
        "other-engine",
        subject.document.places.value(("command",)),
        f"the command starts `{program}`, so that its flags are not checked",
        "Sluicegate knows the flags of `vllm serve`",
    )


def _of_problems(reading: Reading, found: Sequence[Finding]) -> Iterator[Finding]:
    """What the reader could not read, but for what a check has named better."""
    code = _MALFORMED if isinstance(reading.document.data, dict) else UNREADABLE
    errors = [finding.message for finding in found if finding.severity is Severity.ERROR]
    for problem in reading.problems or _no_mapping(reading):
        if not any(_says_the_same(problem, message) for message in errors):
            yield of_problem(problem, code)


def _no_mapping(reading: Reading) -> Iterator[Problem]:
    """A file that holds `null` is read without a problem, and is no recipe."""
    if reading.document.data is None:
        message = "the file must be a mapping of keys and values"
        yield Problem(reading.document.places.root, message, "write `key: value` lines")


def _says_the_same(problem: Problem, message: str) -> bool:
    """A flag's value that is refused is told as "`--flag` must be ..." in both."""
    subject, must_be, wanted = problem.message.partition(" must be ")
    if not must_be or not subject.startswith("`--"):
        return problem.message == message
    value = wanted.partition("; it is `")[2].removesuffix("`")
    return is_unfilled(value) or message.startswith(subject + must_be)


def _masked(reading: Reading, findings: Sequence[Finding]) -> Iterator[Finding]:
    """No finding shows a secret of the recipe."""
    if reading.recipe is None:
        yield from findings
        return
    secrets = Secrets.of(reading.recipe)
    for finding in findings:
        message, remedy = secrets.mask(finding.message), secrets.mask(finding.remedy)
        yield replace(finding, message=message, remedy=remedy)
