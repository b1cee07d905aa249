"""What `recipe up` will say to a recipe that is right for other launchers."""

from collections.abc import Iterator
from typing import Final

from proxy.recipes.check.finding import Finding, Severity
from proxy.recipes.check.subject import Subject
from proxy.recipes.launchable.outside_code import outside_code
from proxy.recipes.launchable.refusals import Allowance, Reason, refusals

_SHOWN_CHARACTERS: Final = 300
# Other checks have these as errors, or name the other engine.
_TOLD: Final = frozenset(
    {Reason.OTHER_ENGINE, Reason.NO_MODEL, Reason.UNSEEN, Reason.VARIABLE_NAME}
)


def check_launchable(subject: Subject) -> Iterator[Finding]:
    """Notes, but for variables that steer more than the engine, which are a warning."""
    places = subject.document.places
    for refusal in refusals(subject.recipe, places, Allowance()):
        problem = refusal.problem
        message = f"`recipe up` refuses this: {problem.message}"
        if refusal.reason is Reason.STEERING:
            code, severity = "steering-variable", Severity.WARNING
        else:
            code, severity = "not-launched", Severity.NOTE
        if refusal.reason not in _TOLD or _is_module(subject, refusal.reason):
            yield Finding(severity, code, problem.place, message, problem.remedy)
    if outside := ", ".join(outside_code(subject.recipe)):
        yield Finding(
            Severity.NOTE,
            "outside-code",
            places.value(("command",)),
            f"code from outside vLLM is run or loaded: {outside[:_SHOWN_CHARACTERS]}",
            "see that you trust where it comes from",
        )


def _is_module(subject: Subject, reason: Reason) -> bool:
    """Whether it is vLLM all the same, started as a module of Python."""
    return reason is Reason.OTHER_ENGINE and subject.recipe.command.is_vllm
