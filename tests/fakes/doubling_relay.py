"""A relay before a sound vLLM that makes answers begin twice, as vLLM 0.24 does with MTP.

It stands in where that version cannot be had: what it does to the bytes is what the defect does to
them, and nothing else of the defect is in it.
"""

import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp
from aiohttp import web

_CHAT: Final = "/v1/chat/completions"
# One token of Qwen's tokenizer, and the one that the defect writes twice.
_BEGINNING: Final = '{"'
_DATA: Final = b"data: "


@dataclass
class DoublingRelay:
    """`doubled`: for the next requests with thinking, in order, whether the answer begins twice.

    Requests with thinking off are let alone: the defect needs an end of thought.
    """

    upstream: str
    url: str = ""
    doubled: list[bool] = field(default_factory=list)

    def double(self, answers: Iterable[bool]) -> None:
        """Of the next requests with thinking; later ones are let alone."""
        self.doubled = list(answers)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Relay one request: chat replies as they come or damaged, all else as it is."""
        body = await request.read()
        damaging = request.path == _CHAT and _thinks(body) and self._next()
        async with (
            aiohttp.ClientSession(auto_decompress=False) as http,
            http.request(
                request.method,
                f"{self.upstream}{request.path_qs}",
                data=body,
                headers={"content-type": request.content_type},
            ) as reply,
        ):
            relayed = web.StreamResponse(
                status=reply.status, headers={"content-type": reply.headers["content-type"]}
            )
            await relayed.prepare(request)
            pieces: AsyncIterable[bytes] = reply.content
            async for piece in _damaged(pieces) if damaging else pieces:
                await relayed.write(piece)
            await relayed.write_eof()
            return relayed

    def _next(self) -> bool:
        return bool(self.doubled) and self.doubled.pop(0)


def _thinks(body: bytes) -> bool:
    template = json.loads(body).get("chat_template_kwargs") or {}
    return template.get("enable_thinking") is not False


async def _damaged(lines: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The lines of a reply; the first text that begins a JSON document begins it twice."""
    done = False
    async for line in lines:
        head = _DATA if line.startswith(_DATA) else b""
        document = line.removeprefix(head).strip()
        if not done and document.startswith(b"{"):
            parsed = json.loads(document)
            done = _double(parsed)
            yield head + json.dumps(parsed).encode() + (b"\n" if head else b"")
        else:
            yield line


def _double(document: Any) -> bool:
    for choice in document.get("choices", ()):
        part = choice.get("message") or choice.get("delta") or {}
        content = part.get("content") or ""
        if _BEGINNING in content:
            part["content"] = content.replace(_BEGINNING, _BEGINNING * 2, 1)
            return True
    return False


@asynccontextmanager
async def doubling_relay(upstream: str, port: int = 0) -> AsyncIterator[DoublingRelay]:
    """A running relay, damaging nothing until it is told to."""
    relay = DoublingRelay(upstream)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", relay.answer)
    runner = web.AppRunner(app, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    relay.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield relay
    finally:
        await runner.cleanup()
