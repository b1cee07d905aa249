"""Traffic of every kind before a scripted upstream: what passes, is mended, retried, refused."""

from typing import Any, Final

import aiohttp

from tests.fakes.upstream import End, FakeUpstream, Scripted, chunk, completion, stream
from tests.fakes.vllm_page import VllmPage

_PAGE: Final = "text/plain; version=0.0.4; charset=utf-8"
_CITY: Final = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "title": {"type": "string"}},
    "required": ["city"],
}
_GOOD: Final = '{"city":"Ulm"}'
_PLAIN: Final[dict[str, Any]] = {"model": "tiny", "messages": [{"role": "user", "content": "Ulm?"}]}
_STRICT: Final = _PLAIN | {
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "city", "strict": True, "schema": _CITY},
    }
}
_TOOLS: Final = _PLAIN | {
    "tools": [{"type": "function", "function": {"name": "weather", "parameters": _CITY}}],
    "tool_choice": "required",
}
_STREAMED: Final = {"stream": True}
_CALL: Final = {
    "tool_calls": [
        {
            "id": "call-1",
            "type": "function",
            "function": {"name": "weather", "arguments": _GOOD},
        }
    ]
}
_CUT: Final = Scripted((chunk({"content": "a"}),), content_type="text/event-stream", end=End.CUT)
# The first is answered by an engine that is still cold; each step of a ladder takes one reply.
_COLD: Final = (_STRICT, (completion("{" + _GOOD), completion(_GOOD)))
_ROUND: Final[tuple[tuple[object, tuple[Scripted, ...]], ...]] = (
    (_PLAIN, (completion(),)),
    (_PLAIN | _STREAMED, (stream(["a", "b", "c"], usage=(9, 18), pause_seconds=0.01),)),
    (_STRICT, (completion(_GOOD),)),
    (_STRICT | _STREAMED, (stream([_GOOD], usage=(9, 18), pause_seconds=0.01),)),
    (_STRICT, (completion(f"```json\n{_GOOD}\n```"),)),
    (_STRICT, (completion("no"), completion(_GOOD))),
    (_STRICT, (completion("no"),) * 3),
    (_STRICT, (completion('{"city":"Ulm","title":"short"}'),) * 3),
    (_TOOLS, (completion(None, finish_reason="tool_calls", message=_CALL),)),
    (_TOOLS, (completion("It rains."),) * 3),
    (_PLAIN | _STREAMED, (_CUT,)),
    (b"{", ()),
)


class Traffic:
    """Sends requests one by one; the upstream's page counts what it has answered."""

    def __init__(self, upstream: FakeUpstream, url: str, http: aiohttp.ClientSession) -> None:
        self._upstream = upstream
        self._url = f"{url}/v1/chat/completions"
        self._http = http
        self.page = VllmPage(0)

    def show(self, page: VllmPage) -> None:
        """Let the upstream's page say so from now on."""
        self.page = page
        self._upstream.pages["/metrics"] = Scripted((bytes(page),), content_type=_PAGE)

    async def cold(self) -> None:
        """The first strict answer of an engine start: wrong, and the same again is right."""
        await self._send(*_COLD)

    async def round(self) -> None:
        """One request of every other kind, and one of a surface that nobody judges."""
        for body, replies in _ROUND:
            await self._send(body, replies)
        self._upstream.script.append(completion())
        url = self._url.replace("/chat/completions", "/completions")
        async with self._http.post(url, json={"model": "tiny", "prompt": "Ulm"}) as response:
            await response.read()

    async def _send(self, body: object, replies: tuple[Scripted, ...]) -> None:
        self._upstream.script[:] = replies
        kind = {"data": body} if isinstance(body, bytes) else {"json": body}
        headers = {"content-type": "application/json"}
        try:
            async with self._http.post(self._url, headers=headers, **kind) as response:
                await response.read()
        except aiohttp.ClientPayloadError:
            pass
        page = self.page
        self.show(VllmPage(page.requests + len(replies), page.started_at, page.speculates))
