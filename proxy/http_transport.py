"""A connection that writes the head of a reply together with the first of its body."""

import asyncio
from typing import Any, Final

_HEAD: Final = b"HTTP/1.1 "


class HeadWithBody:
    """A transport for uvicorn, which writes head and body one after the other.

    Each write is a system call, a packet, and the client's waking up: half of what a small reply
    costs. A head that nothing follows leaves in the next turn of the loop.
    """

    __slots__ = ("_head", "_loop", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.writelines((head, data))
        elif data.startswith(_HEAD):
            self._head = data
            self._loop.call_soon(self._flush)
        else:
            self._transport.write(data)

    def write_eof(self) -> None:
        self._flush()
        self._transport.write_eof()

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)
