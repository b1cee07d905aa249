"""Reads what a model answers about claims: one strict JSON document, or nothing."""

from typing import Final

import msgspec

from proxy.gates.json_prefix import Limits
from proxy.gates.questions import Judgement, Judgements, Opinion
from proxy.gates.strict_reading import Document, read_document

_LIMITS: Final = Limits(max_depth=4, max_bytes=262_144)


class Unreadable(ValueError):
    """The model answered, but not in the form that it was asked for. Quotes nothing of it."""


class _Judged(msgspec.Struct, forbid_unknown_fields=True):
    claim: int
    verdict: Opinion
    sentence: int
    quote: str


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    claims: list[_Judged]


def read_judgements(text: str, count: int) -> Judgements:
    """The judgements of `count` claims, in their order; each must be there exactly once.

    Raises `Unreadable`.
    """
    document = read_document(text.strip(), _LIMITS)
    if not isinstance(document, Document):
        raise Unreadable("its answer is no JSON document")
    try:
        answer = msgspec.convert(document.value, _Answer)
    except msgspec.ValidationError as error:
        raise Unreadable("its answer has not the form that was asked for") from error
    judged = {one.claim: one for one in answer.claims}
    if len(answer.claims) != count or judged.keys() != set(range(1, count + 1)):
        raise Unreadable("its answer does not have each claim once")
    return Judgements(
        tuple(
            Judgement(one.verdict, one.sentence, one.quote)
            for one in (judged[number] for number in range(1, count + 1))
        )
    )
