"""What a re-ask shows to the model: the choice that failed, and all that is wrong with it."""

from collections.abc import Sequence

from proxy.contract.attempt import Attempt
from proxy.contract.judging import Judged
from proxy.contract.steps import Draft


def draft_of(attempt: Attempt) -> Draft:
    """The choice that the first failed gate speaks of, and the corrections that gates ask for.

    A gate that would only have the reply flagged or delivered asks for none.
    """
    failures = attempt.failures
    index = _choice_of(failures[0], attempt)
    asking = [one for one in failures if _asks_again(one) and _choice_of(one, attempt) == index]
    texts = [one.verdict.feedback or one.verdict.reason for one in asking or failures[:1]]
    choices = attempt.reply.choices if attempt.reply else ()
    choice = next((choice for choice in choices if choice.index == index), None)
    return Draft(choice, "\n\n".join(_each_once(texts)))


def _choice_of(judged: Judged, attempt: Attempt) -> int:
    """The index of the choice that a verdict's place names; 0 where it names none."""
    choices = attempt.reply.choices if attempt.reply else ()
    place = judged.verdict.place
    return next((one.index for one in choices if f"choices[{one.index}]" in place), 0)


def _asks_again(judged: Judged) -> bool:
    return any(not step.kind.is_end for step in judged.rule.ladder_of(judged.verdict))


def _each_once(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(texts))
