"""What a gate may ask beyond the reply. Gates do no I/O: `contract` gets the answers for them.

Closed unions: a new kind of question has its kind of answer here, and who answers it in
`contract/questions.py`. A gate may ask by a subclass that holds what the answer is for; whoever
answers knows nothing of it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class CountTokens:
    """How many tokens of the model each text is.

    Texts are private: an answer may send them to the upstream that wrote them, and nowhere else.
    """

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """The answer to `CountTokens`: one count for each text, in their order."""

    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """What an answer says: the part that is doubted, and the sentence in which it stands."""

    text: str
    context: str


@dataclass(frozen=True, slots=True)
class JudgeClaims:
    """Whether sentences of sources, numbered from 1, bear claims: for the model of a named lane.

    Texts are private: they go to that lane and nowhere else. `lane` is one of the settings.
    """

    lane: str
    time_limit_seconds: float
    sentences: tuple[str, ...]
    claims: tuple[Claim, ...]


class Opinion(StrEnum):
    """What a model says of one claim."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a model says of one claim, and what it quotes for it: nothing of it is proven yet."""

    opinion: Opinion
    sentence: int = 0
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Judgements:
    """The answer to `JudgeClaims`: one judgement for each claim, in their order."""

    judgements: tuple[Judgement, ...]


@dataclass(frozen=True, slots=True)
class Unanswered:
    """No answer to any kind of question. `reason` is a sentence for the client."""

    reason: str


Question: TypeAlias = CountTokens | JudgeClaims
Answer: TypeAlias = TokenCounts | Judgements | Unanswered
