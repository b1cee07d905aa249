"""The bare relay, the benchmark's yardstick: the least that a Python proxy can do.

    python benchmarks/relay.py --port 8800 --upstream http://127.0.0.1:8000

It reads the body, posts it, and forwards status, content type and every chunk as it comes: no
parsing, no metrics, no limits, no watch on clients that leave. What a gate adds is the difference
to this. uvloop sets TCP_NODELAY on the server's sockets, aiohttp on the client's.
"""

import argparse
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import aiohttp
import uvicorn

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_FORWARDED = (b"content-type", b"content-length")


class Relay:
    """One ASGI application over one pooled client."""

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream
        self._session: aiohttp.ClientSession

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["path"] == "/health":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await self._relay(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=None),
            auto_decompress=False,
            skip_auto_headers=("accept-encoding",),
        )
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._session.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _relay(self, scope: Message, receive: Receive, send: Send) -> None:
        body = b""
        while True:
            message = await receive()
            body += message["body"]
            if not message["more_body"]:
                break
        url = self._upstream + scope["path"]
        headers = {"content-type": "application/json"}
        async with self._session.post(url, data=body, headers=headers) as reply:
            forwarded = [
                (name.lower(), value)
                for name, value in reply.raw_headers
                if name.lower() in _FORWARDED
            ]
            await send(
                {"type": "http.response.start", "status": reply.status, "headers": forwarded}
            )
            async for chunk in reply.content.iter_any():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def _main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--upstream", required=True)
    options = parser.parse_args()
    uvicorn.run(
        Relay(options.upstream),
        host="127.0.0.1",
        port=options.port,
        loop="uvloop",
        http="httptools",
        ws="none",
        access_log=False,
        log_level="warning",
    )


if __name__ == "__main__":
    _main()
