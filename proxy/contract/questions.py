"""Answers what gates ask beyond the reply: the I/O that gates do not do themselves."""

import asyncio
import json
from typing import Final, Protocol

import msgspec
from typing_extensions import override

from proxy.contract.claim_judges import ClaimJudges
from proxy.errors import UpstreamError
from proxy.gates.questions import Answer, CountTokens, Question, TokenCounts, Unanswered
from proxy.upstream.lane import Call, Lane
from proxy.wire.request import Request

_OK: Final = 200
_SECONDS: Final = 5.0
_MOST_BYTES: Final = 16 << 20


class Answers(Protocol):
    """Who answers the questions of gates."""

    async def answer(self, question: Question, request: Request) -> Answer:
        """The answer, or `Unanswered` with the reason; raises nothing but a cancellation."""
        ...


class NoAnswers(Answers):
    """Where nobody can be asked."""

    @override
    async def answer(self, question: Question, request: Request) -> Answer:
        return Unanswered("There is nobody here to ask.")


class _Counted(msgspec.Struct):
    count: int


class UpstreamAnswers(Answers):
    """Counts tokens by the `/tokenize` of the lane that wrote the reply; `judges` tell of claims.

    `seconds`: for all texts of a question about tokens together.
    """

    def __init__(
        self, lane: Lane, judges: ClaimJudges | None = None, seconds: float = _SECONDS
    ) -> None:
        self._lane = lane
        self._judges = judges
        self._seconds = seconds

    @override
    async def answer(self, question: Question, request: Request) -> Answer:
        if isinstance(question, CountTokens):
            return await self._token_counts(question, request)
        if self._judges is None:
            return Unanswered("There is no judge here to ask.")
        return await self._judges.answer(question)

    async def _token_counts(self, question: CountTokens, request: Request) -> Answer:
        if not self._lane.speaks_vllm:
            return Unanswered(f"The lane `{self._lane.name}` cannot count tokens.")
        try:
            async with asyncio.timeout(self._seconds):
                counts = [await self._count(text, request.model) for text in question.texts]
        except TimeoutError:
            return Unanswered(f"The upstream did not count the tokens within {self._seconds:g} s.")
        except (UpstreamError, _Refused) as error:
            return Unanswered(f"The upstream did not count the tokens: {error}")
        return TokenCounts(tuple(counts))

    async def _count(self, text: str, model: str) -> int:
        """Raises `UpstreamError` or `_Refused`."""
        document = {"model": model, "prompt": text, "add_special_tokens": False}
        body = json.dumps(document).encode()
        call = Call("POST", "/tokenize", [("content-type", "application/json")], body)
        with await self._lane.open(call) as reply:
            if reply.status != _OK:
                raise _Refused(f"`/tokenize` answered {reply.status}.")
            pieces = bytearray()
            while chunk := await reply.chunk():
                pieces += chunk
                if len(pieces) > _MOST_BYTES:
                    raise _Refused("`/tokenize` answered with too much.")
        try:
            return msgspec.json.decode(pieces, type=_Counted).count
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise _Refused("`/tokenize` answered with no count.") from error


class _Refused(Exception):
    """The upstream answered, but with no count."""
