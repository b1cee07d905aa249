"""What a shell would have made of a recipe's command, and Sluicegate does not.

Recipes are written for launchers that hand their command to a shell. Where a shell would read
other words than were read here, or do more than start the engine, the author meant another start
than this one would be: it is neither made nor shown for running.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Final

from proxy.errors import Place, Problem
from proxy.recipes.check.finding import Severity
from proxy.recipes.check.placeholders import check_placeholders
from proxy.recipes.check.quotes import check_quotes
from proxy.recipes.check.subject import Subject
from proxy.recipes.check.text import check_text
from proxy.recipes.parsing.arguments import COMMAND
from proxy.recipes.parsing.overrides import Overrides
from proxy.recipes.parsing.words import Oddity
from proxy.recipes.reading import Reading
from proxy.recipes.show.secrets import Secrets
from proxy.recipes.vllm.facts import pinned_facts

# A command with more of them is none; the rest is not looked for.
MAX_FAULTS: Final = 200
_CHECKS: Final = (check_text, check_placeholders, check_quotes)
# Only warnings of a check, since other launchers do what they say.
_OF_SHELL: Final = frozenset(
    {
        *("before-engine", "other-command", "shell-variable", "shell-pattern"),
        *("unquoted-value", "value-leaves-quotes"),
    }
)
# No matter of the shell; refused and shown for running on their own terms.
_UNSEEN: Final = "control-character"


def text_faults(reading: Reading) -> Iterator[Problem]:
    """At most 200 of one command, in the words of the checks, each at its place."""
    subject = Subject.of(reading, Overrides({}), pinned_facts(), None)
    if subject is None:
        return
    faults = islice(_faults(subject), MAX_FAULTS)
    secrets = Secrets.of(subject.recipe)
    yield from (replace(each, message=secrets.mask(each.message)) for each in faults)


def _faults(subject: Subject) -> Iterator[Problem]:
    inside = set(_comments_inside(subject))
    for finding in chain.from_iterable(check(subject) for check in _CHECKS):
        is_fault = finding.severity is Severity.ERROR or finding.code in _OF_SHELL
        if (is_fault and finding.code != _UNSEEN) or finding.place in inside:
            yield Problem(finding.place, finding.message, finding.remedy)


def _comments_inside(subject: Subject) -> Iterator[Place]:
    """Those between words of the engine; above and behind them a shell reads the same."""
    read, places = subject.read, subject.document.places
    first, last = read.template[0].offset, read.template[-1].offset
    for note in read.script.notes:
        if note.oddity is Oddity.COMMENT and first < note.offset < last:
            yield places.inside(COMMAND, read.text, note.offset)
