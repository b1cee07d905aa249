"""A real engine, a real proxy before it, and the official client: what the tests here play on."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Final, Self

import aiohttp
import openai

from tests.engines.gate_process import GateProcess
from tests.engines.server import VllmServer

CITY: Final = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 40},
        "country": {"type": "string", "maxLength": 40},
    },
    "required": ["city", "country"],
    "additionalProperties": False,
}
ASKS_FOR_A_CITY: Final = "Give me the capital of France as JSON with city and country."


def says(text: str) -> Any:
    return [{"role": "user", "content": text}]


def strict(schema: Mapping[str, object], name: str = "answer") -> Any:
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": True, "schema": schema},
    }


async def until(condition: Callable[[], Coroutine[Any, Any, bool]], seconds: float = 30) -> None:
    """Wait for what another process brings about; fails after `seconds`."""
    async with asyncio.timeout(seconds):
        while not await condition():  # noqa: ASYNC110 - another process sets no event
            await asyncio.sleep(0.1)


@dataclass(frozen=True, slots=True)
class Told:
    """What a client got, and what the proxy recorded of it."""

    content: str
    finish_reason: str | None
    chunks: int
    record: Any
    headers: Mapping[str, str]

    @property
    def attempts(self) -> Any:
        return self.record["attempts"]


@dataclass(slots=True)
class Stage:
    """`model` is the name that is asked for; the server may be replaced by another start."""

    server: VllmServer
    gate: GateProcess
    client: openai.AsyncOpenAI
    model: str

    async def ask(self, text: str, **more: Any) -> Told:
        """One chat request, answered whole. Raises the client's own errors."""
        raw = await self.client.chat.completions.with_raw_response.create(
            **self.request(text, **more)
        )
        choice = raw.parse().choices[0]
        record = await self.gate.record(raw.headers["x-request-id"])
        return Told(choice.message.content or "", choice.finish_reason, 1, record, raw.headers)

    async def stream(self, text: str, **more: Any) -> Told:
        """One chat request, answered as a stream; `chunks` are those with text."""
        raw = await self.client.chat.completions.with_raw_response.create(
            **self.request(text, **more), stream=True
        )
        pieces: list[str] = []
        finish_reason = None
        async for chunk in raw.parse():
            for choice in chunk.choices:
                pieces.extend(filter(None, [choice.delta.content]))
                finish_reason = choice.finish_reason or finish_reason
        record = await self.gate.record(raw.headers["x-request-id"])
        return Told("".join(pieces), finish_reason, len(pieces), record, raw.headers)

    async def city(self, **more: Any) -> Any:
        """One strict-JSON request; the document."""
        told = await self.ask(ASKS_FOR_A_CITY, response_format=strict(CITY), **more)
        return json.loads(told.content)

    def request(self, text: str, **more: Any) -> dict[str, Any]:
        """The members of a chat request."""
        usual = {"model": self.model, "messages": says(text), "temperature": 0, "max_tokens": 100}
        return {**usual, **more}


@dataclass(frozen=True, slots=True)
class Events:
    """A stream as it came over the wire. `error` is that of its error event."""

    payloads: tuple[str, ...]
    request_id: str

    @property
    def error(self) -> Any:
        errors = [json.loads(each) for each in self.payloads if each.startswith('{"error"')]
        return errors[-1]["error"] if errors else None

    @property
    def is_done(self) -> bool:
        return "[DONE]" in self.payloads


class RawStream:
    """A streamed chat request without the client's help, to see how exactly a stream ends.

    `async with RawStream(url, body) as raw`; leaving it closes the connection, read or not.
    """

    def __init__(self, url: str, body: Mapping[str, Any]) -> None:
        self._url = f"{url}/v1/chat/completions"
        self._body = {**body, "stream": True}
        self._payloads: list[str] = []
        self._http = aiohttp.ClientSession()
        self._response: aiohttp.ClientResponse | None = None

    async def __aenter__(self) -> Self:
        self._response = await self._http.post(self._url, json=self._body)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._response:
            self._response.close()
        await self._http.close()

    async def begin(self) -> None:
        """Read until the role and two more events have come: the engine is in the middle of it."""
        while len(self._payloads) < 3:
            assert await self._read_one(), "the stream ended before it had begun"

    async def end(self) -> Events:
        """Read the rest, or all of it. A refusal that is no stream counts as an error event."""
        while await self._read_one():
            pass
        return Events(tuple(self._payloads), self.request_id)

    @property
    def request_id(self) -> str:
        assert self._response
        return self._response.headers["x-request-id"]

    async def _read_one(self) -> bool:
        assert self._response
        line = (await self._response.content.readline()).decode()
        if line.startswith(("data: ", '{"error"')):
            self._payloads.append(line.removeprefix("data: ").strip())
        return bool(line)


class Load:
    """A few clients that keep asking, each in its own way, until they are told to stop."""

    def __init__(self, stage: Stage) -> None:
        self._ways = (stage.city, partial(stage.ask, "Hi"), partial(stage.stream, "Who are you?"))
        self._stopped = asyncio.Event()
        self._tasks: list[asyncio.Task[list[str]]] = []
        self.served = 0

    def begin(self) -> None:
        self._tasks = [asyncio.create_task(self._ask(way)) for way in self._ways]

    async def end(self, seconds: float = 120) -> list[str]:
        """Let every client finish what it is asking; the codes of the errors that they got."""
        self._stopped.set()
        async with asyncio.timeout(seconds):
            return [code for codes in await asyncio.gather(*self._tasks) for code in codes]

    async def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _ask(self, way: Callable[[], Coroutine[Any, Any, Any]]) -> list[str]:
        codes: list[str] = []
        while not self._stopped.is_set():
            try:
                await way()
                self.served += 1
            except openai.APIError as error:
                codes.append(f"{error.type}/{error.code}")
                await asyncio.sleep(0.1)
        return codes
