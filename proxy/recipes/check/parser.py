"""What the parser of an installed vLLM says to a recipe's arguments, as a finding."""

from collections.abc import Iterator
from typing import Final

from proxy.errors import Place
from proxy.recipes.check.finding import Finding, Severity
from proxy.recipes.check.subject import Subject
from proxy.recipes.vllm.installed import InstalledVllm, InstalledVllmError, ParserAnswer

_SHOWN_CHARACTERS: Final = 400
# It looks for the file, which a recipe with a container has in there.
_TEMPLATE: Final = "chat template"
_UNKNOWN: Final = "unrecognized arguments"


def check_with_parser(subject: Subject, installed: InstalledVllm) -> Iterator[Finding]:
    """At most one error, since vLLM stops at its first. Starts a process: seconds."""
    try:
        answer = installed.check(subject.recipe.command.arguments)
    except InstalledVllmError as error:
        place = subject.document.places.value(("command",))
        message = f"vLLM's own parser could not be asked: {error.message}"
        yield Finding(Severity.WARNING, "parser-not-asked", place, message, error.remedy)
        return
    if answer.error is not None:
        yield _refused(subject, answer, answer.error)
    for reason in answer.skipped:
        place = subject.document.places.value(("command",))
        message = f"vLLM's own parser was not asked everything: {reason[:_SHOWN_CHARACTERS]}"
        yield Finding(Severity.NOTE, "parser-not-asked", place, message, "nothing to do")


def _refused(subject: Subject, answer: ParserAnswer, error: str) -> Finding:
    if _TEMPLATE in error.lower() and subject.recipe.container:
        return _missed_template(subject)
    message = f"vLLM {answer.version} refuses the arguments: {' '.join(error.split())}"
    is_unknown = _UNKNOWN in error
    remedy = "mend the flag that it names"
    return Finding(
        subject.document.unknown_is if is_unknown else Severity.ERROR,
        "refused-by-vllm",
        _place(subject, error),
        message[:_SHOWN_CHARACTERS],
        subject.document.or_newer(remedy) if is_unknown else remedy,
    )


def _missed_template(subject: Subject) -> Finding:
    flag = subject.flag("--chat-template")
    place = subject.value_place(flag) if flag else subject.document.places.value(("command",))
    return Finding(
        Severity.NOTE,
        "template-not-seen",
        place,
        "the chat template is no file of this machine, and vLLM's parser stops there",
        "see that the container has it; a mod of the recipe may bring it",
    )


def _place(subject: Subject, error: str) -> Place:
    """That of the flag whose name is in the text, the longest name first; else the command."""
    written = sorted(subject.recipe.command.written, key=lambda flag: -len(flag.name))
    for flag in written:
        if flag.name in error or flag.spelling in error:
            return flag.place
    return subject.document.places.value(("command",))
