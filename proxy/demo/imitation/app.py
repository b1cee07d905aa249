"""The imitation's HTTP surface as an ASGI application: one for each start of the engine."""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import Final

from proxy.demo.imitation.asked import WrongRequest, read_asked
from proxy.demo.imitation.engine_start import EngineStart
from proxy.demo.imitation.replying import (
    CutOff,
    Replier,
    ServerFailed,
    encode,
    replier,
)
from proxy.demo.imitation.spelling import Document, error, models
from proxy.demo.imitation.tokens import pieces_of, token_id
from proxy.demo.imitation.variant import MAX_MODEL_LEN
from proxy.demo.race import first_of
from proxy.errors import BodyTooLarge
from proxy.routes.asgi import ClientGone, Receive, Scope, Send, read_body
from proxy.telemetry.exposition import Form, render

CUT: Final = "sluicegate.cut"
"""The extension of a scope that drops its connection: a function without arguments."""

VERSION: Final = "0.32.0+imitation"
_MOST_BYTES: Final = 4 << 20
_TOO_LARGE: Final = f"This imitation reads {_MOST_BYTES} bytes of a body and no more; send less."
_JSON: Final = "application/json"
_STREAM: Final = "text/event-stream; charset=utf-8"
_CHATS: Final[Mapping[str, bool]] = {"/v1/chat/completions": True, "/v1/completions": False}


class ImitationApp:
    """Serves one engine start until it is over; then every connection is dropped."""

    def __init__(self, start: EngineStart) -> None:
        self._start = start
        self._pages: Mapping[str, Callable[[], tuple[str, bytes]]] = {
            "/health": lambda: ("text/plain", b""),
            "/version": lambda: (_JSON, encode({"version": VERSION})),
            "/v1/models": lambda: (_JSON, encode(self._models())),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = _Client(send, self._start.variant.model)
        try:
            await self._route(scope, receive, client)
        except WrongRequest as wrong:
            await client.refuse(str(wrong), wrong.status, wrong.param)
        except BodyTooLarge:
            await client.refuse(_TOO_LARGE, 413)
        except ServerFailed as failed:
            await client.refuse(str(failed), 500)
        except CutOff:
            await _drop(scope, receive)
        except ClientGone:
            return

    async def _route(self, scope: Scope, receive: Receive, client: "_Client") -> None:
        method, path = scope["method"], scope["path"]
        if method == "GET" and path == "/metrics":
            page = await asyncio.to_thread(render, self._start.metrics.registry, Form.TEXT)
            await client.whole(200, page, Form.TEXT)
        elif method == "GET" and path in self._pages:
            kind, body = self._pages[path]()
            await client.whole(200, body, kind)
        elif method == "POST" and path in _CHATS:
            await self._complete(scope, receive, client, chat=_CHATS[path])
        elif method == "POST" and path == "/tokenize":
            body = await read_body(receive, scope["headers"], limit_bytes=_MOST_BYTES)
            await client.whole(200, encode(_tokenized(body)))
        else:
            await client.whole(404, encode({"detail": "Not Found"}))

    async def _complete(
        self, scope: Scope, receive: Receive, client: "_Client", *, chat: bool
    ) -> None:
        body = await read_body(receive, scope["headers"], limit_bytes=_MOST_BYTES)
        reply = replier(self._start, read_asked(body, chat=chat))
        await first_of(_sent(reply, client), _left(receive), self._ended())

    async def _ended(self) -> None:
        """The engine dies under its requests."""
        await self._start.over.wait()
        raise CutOff

    def _models(self) -> Document:
        start = self._start
        return models(start.variant.model, int(start.started_at), MAX_MODEL_LEN)


async def _sent(reply: Replier, client: "_Client") -> None:
    if not reply.asked.stream:
        await client.whole(200, await reply.whole())
        return
    await client.begin(200, _STREAM)
    async with aclosing(reply.events()) as events:
        async for piece in events:
            await client.piece(piece)
    await client.end()


async def _left(receive: Receive) -> None:
    """Until the client has left; vLLM gives its seat to the next one."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _drop(scope: Scope, receive: Receive) -> None:
    """Drop the connection, and wait until the server knows: it would complain otherwise."""
    scope["extensions"][CUT]()
    await _left(receive)


def _tokenized(body: bytes) -> Document:
    """Of `prompt`, as the proxy asks for it. Raises `WrongRequest`."""
    try:
        prompt = json.loads(body)["prompt"]
        ids = [token_id(piece) for piece in pieces_of(prompt)]
    except (ValueError, RecursionError, KeyError, TypeError) as wrong:
        raise WrongRequest("1 validation error: `prompt` is missing", "prompt") from wrong
    return {"count": len(ids), "max_model_len": MAX_MODEL_LEN, "tokens": ids}


class _Client:
    """Writes one HTTP reply."""

    def __init__(self, send: Send, server: str) -> None:
        self._send = send
        self._server = server.encode()

    async def begin(self, status: int, kind: str, length: int | None = None) -> None:
        headers = [(b"server", self._server), (b"content-type", kind.encode())]
        if length is not None:
            headers.append((b"content-length", str(length).encode()))
        message = {"type": "http.response.start", "status": status, "headers": headers}
        await self._send(message)

    async def piece(self, data: bytes) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self) -> None:
        await self._send({"type": "http.response.body", "body": b""})

    async def whole(self, status: int, body: bytes, kind: str = _JSON) -> None:
        await self.begin(status, kind, len(body))
        await self._send({"type": "http.response.body", "body": body})

    async def refuse(self, message: str, status: int, param: str | None = None) -> None:
        await self.whole(status, encode(error(message, status, param)))
