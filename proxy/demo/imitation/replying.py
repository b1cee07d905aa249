"""From a request to the bytes of its reply: whole, or event by event."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from proxy.demo.imitation.answer import Answer, Token
from proxy.demo.imitation.asked import Asked
from proxy.demo.imitation.author import Author
from proxy.demo.imitation.damage import damaged
from proxy.demo.imitation.engine_start import EngineStart
from proxy.demo.imitation.faults import MadeFault
from proxy.demo.imitation.spelling import Document, Envelope, delta_of, error, usage
from proxy.demo.imitation.tokens import token_id

_DONE: Final = b"data: [DONE]\n\n"
_BROKEN: Final = "EngineCore encountered an issue (made up by this imitation)."


class CutOff(Exception):
    """The connection is to be dropped now: a fault that was asked for."""


class ServerFailed(Exception):
    """The request is to be answered with 500: a fault that was asked for."""


@dataclass(frozen=True, slots=True)
class Replier:
    """Makes the reply to one request. `chat`: the chat surface, else completions."""

    start: EngineStart
    asked: Asked
    answer: Answer
    fault: MadeFault | None
    envelope: Envelope
    chance: random.Random

    async def events(self) -> AsyncGenerator[bytes, None]:
        """The events of a stream. Raises `CutOff`."""
        told: set[int] = set()
        sent = 0
        total = sum(1 for _ in self.answer.tokens())
        async with aclosing(self.start.generate(self.asked, self.answer, self.chance)) as steps:
            async for tokens in steps:
                if not sent and self.envelope.chat:
                    yield event(self.envelope.chunk({"role": "assistant", "content": ""}))
                if sent >= total // 2 and await self._breaks():
                    yield event(error(_BROKEN, 500)) + _DONE
                    return
                yield self._step(tokens, told)
                sent += len(tokens)
        yield event(self.envelope.chunk({}, finish=self.answer.finish_reason))
        if self.asked.wants_usage:
            yield event(self.envelope.usage_chunk(usage(self.asked.prompt_tokens, sent)))
        yield _DONE

    async def _breaks(self) -> bool:
        """Whether an error ends the stream in its midst. Raises `CutOff`; a stall never returns."""
        if self.fault is MadeFault.STREAM_CUT:
            raise CutOff
        if self.fault is MadeFault.STALL:
            await asyncio.Event().wait()
        return self.fault is MadeFault.ERROR_IN_STREAM

    async def whole(self) -> bytes:
        """The body of a reply that is not streamed."""
        tokens: list[Token] = []
        async with aclosing(self.start.generate(self.asked, self.answer, self.chance)) as steps:
            async for more in steps:
                tokens += more
        used = usage(self.asked.prompt_tokens, len(tokens))
        ids = [token_id(token.text) for token in tokens] if self.asked.return_token_ids else None
        return encode(self.envelope.whole(self.answer, used, ids))

    def _step(self, tokens: list[Token], told: set[int]) -> bytes:
        listed = tokens if self.asked.return_token_ids else None
        return event(self.envelope.chunk(delta_of(tokens, self.answer, told), listed))


def replier(start: EngineStart, asked: Asked) -> Replier:
    """Decide on the answer and its fault. Raises `WrongRequest`, `ServerFailed`."""
    start.check(asked)
    chance = start.next_chance()
    answer = Author(chance).answer(asked)
    fault = start.fate.fault(asked)
    if fault is MadeFault.SERVER_ERROR:
        raise ServerFailed(_BROKEN)
    chat = asked.prompt is None
    envelope = Envelope(
        id=f"{'chatcmpl' if chat else 'cmpl'}-{chance.getrandbits(64):016x}",
        model=start.variant.model,
        created=int(start.pace.clock.unix()),
        chat=chat,
    )
    made = damaged(answer, fault).limited(asked.limit)
    return Replier(start, asked, made, fault, envelope, chance)


def event(document: Document) -> bytes:
    return b"data: " + encode(document) + b"\n\n"


def encode(document: Document) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )
